# SPDX-License-Identifier: MIT
"""A user-mode kernel is a program of another release than this system, run here with that release's C library.

To be run by that library's dynamic linker will not do: the kernel takes the memory behind its own image for the machine's, and that would
be the linker's. So it is a copy, whose ELF names another interpreter.
"""

import os
import shutil
import tempfile

from .error import Unavailable

INTERPRETER = b'/lib64/ld-linux-x86-64.so.2'


class UserMode:
    """`words` start it, as long as the object is open."""

    def __init__(self, image, libraries):
        # A short name, for it must not be longer than the one whose place it takes.
        with open(image, 'rb') as file:
            program = file.read()
        if program.count(INTERPRETER + b'\0') != 1:
            raise Unavailable(f'{image} does not name {INTERPRETER.decode()} as its interpreter.')
        self.folder = tempfile.mkdtemp(prefix='uml', dir='/tmp')
        linker, copy = os.path.join(self.folder, 'ld'), os.path.join(self.folder, 'linux')
        with open(copy, 'wb') as file:
            file.write(program.replace(INTERPRETER + b'\0', linker.encode().ljust(len(INTERPRETER) + 1, b'\0')))
        os.chmod(copy, 0o755)
        os.symlink(os.path.join(libraries, 'ld-linux-x86-64.so.2'), linker)
        self.words = ['env', f'LD_LIBRARY_PATH={libraries}', copy]

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
