# SPDX-License-Identifier: MIT
"""Prints a C file that compiles only if perfabi.py's structs, numbers and functions are those of perfabi.h."""
import ctypes as C

import perfabi

print("#include <perfabi.h>")
for struct in perfabi._Options, perfabi._Result, perfabi._Field, perfabi._Record:
    name = "struct perfabi" + struct.__name__.lower()
    print(f'_Static_assert(sizeof({name}) == {C.sizeof(struct)}, "{name}");')
    for member, _ in struct._fields_:
        at = getattr(struct, member)
        print(f'_Static_assert(offsetof({name}, {member}) == {at.offset}, "{member}");')
        print(f'_Static_assert(sizeof((({name} *)0)->{member}) == {at.size}, "{member}");')
names = [*enumerate(perfabi._FORMATS), *enumerate(perfabi._ORDERS), *enumerate(perfabi._GRADES)]
names += [(value, name[1:]) for name, value in vars(perfabi).items() if name[1:].isupper() and isinstance(value, int)]
for value, name in names:
    print(f'_Static_assert(PERFABI_{name.upper()} == {value}, "{name}");')
# The compiler looks at how many arguments there are, and whether numbers fit.
NUMBERS = {C.c_int: "int", C.c_uint: "unsigned", C.c_uint32: "uint32_t", C.c_uint64: "uint64_t", C.c_size_t: "size_t"}
for name, (returns, *takes) in perfabi._FUNCTIONS.items():
    words = ", ".join(f"({NUMBERS.get(t, 'void *')})0" for t in takes)
    got = f"{NUMBERS.get(returns, 'const void *')} got = " if returns else ""
    print(f"void use_{name}(void);\nvoid use_{name}(void) {{ {got}perfabi_{name}({words}); {'(void)got; ' if got else ''}}}")
