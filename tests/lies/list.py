#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The lies that a kernel could tell, as JSON: made of cases/abi, so that what is new there has its own."""
import json
import os
import sys

ABI = os.path.join(os.path.dirname(__file__), "../../cases/abi")

ERRNOS = """E2BIG EACCES EAGAIN EBADF EBUSY EEXIST EFAULT EINTR EINVAL EIO EMFILE ENODEV ENOENT ENOMEM ENOSPC
	ENOSYS ENOTTY ENXIO EOPNOTSUPP EOVERFLOW EPERM ESPIPE ESRCH""".split()
CALLS = "open read pread lseek write mmap munmap mremap mprotect poll fcntl prctl ioctl".split()
# Those without an argument of their own: what else an ioctl could do by mistake.
SIDE_EFFECTS = ["enable", "disable", "reset"]
TAKES_GROUP = ["enable", "disable", "reset"]
POLL_BITS = {"in": 1, "out": 4, "err": 8, "hup": 16, "nval": 32}
SIGNALS = "lost first-lost doubled code fd band addr perf_data perf_type perf_flags".split()
# The types of attr that have numbers of their own, and 6 for PMUs that are numbered as they come.
ATTR_TYPES = {"hardware": 0, "software": 1, "tracepoint": 2, "hw_cache": 3, "raw": 4, "breakpoint": 5, "other": 6}


def load():
    files = {}
    for name in os.listdir(ABI):
        with open(os.path.join(ABI, name), encoding="utf-8") as f:
            files[name] = json.load(f)
    return files


class Abi:
    def __init__(self):
        files = load().values()
        self.constants = {k: v for f in files for k, v in f.get("constants", {}).items()}
        self.layouts = {k: v for f in files for k, v in f.get("layouts", {}).items()}
        self.fields = next(f["attr"]["fields"] for f in files if "attr" in f)

    def values(self, family):
        return self.constants[family]["values"] if family in self.constants else []


def number(value):
    return 1 << value["bit"] if "bit" in value else int(str(value["value"]), 0)


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def attr_lie(name, how, value=0, **more):
    return {"name": f"attr.{name}.{how}", "kind": "attr", "how": how, "value": signed(value),
            "field": name.split(".")[0], **more}


def attr_of_field(abi, field):
    name, width = field["name"], field["bits"][1] if "bits" in field else 64
    if field.get("reserved") or name in ("size", "aux_action"):
        return
    by_type = name in ("config", "config1", "config2")
    types = list(ATTR_TYPES.items()) if by_type else [("", ATTR_TYPES["breakpoint"] if name == "bp_type" else -1)]
    for kind, number_of_type in types:
        for how in ("ignored", "plus") if width > 1 else ("ignored", "set"):
            if (name, how) == ("type", "ignored"):
                continue  # a kernel that takes every event for cpu cycles gives none here
            lie = attr_lie(name, how, (1 << width) - 1, attr_type=number_of_type)
            if kind:
                lie["name"] = f"attr.{name}.{kind}.{how}"
            yield lie
    family = abi.constants.get(field.get("set"), {})
    for value in family.get("values", []) if family.get("kind") == "mask" else []:
        if number(value):
            yield attr_lie(f"{name}.{value['name']}", "ignored", number(value), attr_type=types[-1][1]) | since(value)


def since(thing):
    """The Linux that has it: of one that has not, no lie about it is noticed."""
    return {"since": thing["since"]} if "since" in thing else {}


def attr_lies(abi):
    for field in abi.fields:
        aliases = [a for a in field.get("aliases", []) if "when" in a]
        for lie in attr_of_field(abi, field):
            yield since(field) | lie | ({"unless": aliases[0]["when"]} if aliases else {})
        for alias in aliases:
            yield from (lie | {"when": alias["when"]} for lie in attr_of_field(abi, field | alias))


def open_lies(abi):
    for flag in abi.values("open_flags"):
        for how in ("ignored", "set"):
            yield {"name": f"open.flags.{flag['name']}.{how}", "kind": "flag", "how": how, "value": number(flag)}
    for how in ("pid", "cpu", "group_fd"):
        yield {"name": f"open.{how}.ignored", "kind": "target", "how": how}
    yield {"name": "open.size.not-written", "kind": "size"}


def errno_lies(abi):
    calls = [(call, {"call": call}) for call in CALLS]
    calls += [(f"ioctl.{v['name']}", {"call": "", "ioctl": v["name"]}) for v in abi.values("ioctl")]
    for call, how in calls:
        for errno in ERRNOS:
            yield {"name": f"errno.{call}.{errno}.success", "kind": "errno", "errno": errno} | how
            other = "EINVAL" if errno != "EINVAL" else "ENOENT"
            yield {"name": f"errno.{call}.{errno}.{other}", "kind": "errno", "errno": errno, "to": other} | how


def ioctl_lies(abi):
    names = [v["name"] for v in abi.values("ioctl")]
    for name in names:
        yield {"name": f"ioctl.{name}.nothing", "kind": "nothing", "ioctl": name, "call": "", "effect": True}
        for other in SIDE_EFFECTS + ["refresh"]:
            if other != name and name in SIDE_EFFECTS + ["refresh"]:
                yield {"name": f"ioctl.{name}.as-{other}", "kind": "as", "ioctl": name, "other": other, "effect": True}
        for other in SIDE_EFFECTS:
            if other != name:
                yield {"name": f"ioctl.{name}.also-{other}", "kind": "also", "ioctl": name, "other": other}
    for name in TAKES_GROUP:
        for how in ("grouped", "ungrouped"):
            yield {"name": f"ioctl.{name}.{how}", "kind": "arg", "ioctl": name, "how": how, "effect": True}
    for name, how in (("refresh", "plus"), ("period", "word"), ("pause_output", "not")):
        yield {"name": f"ioctl.{name}.argument-{how}", "kind": "arg", "ioctl": name, "how": how, "effect": True}
    for field in abi.fields:
        if not field.get("reserved") and field["name"] not in ("type", "size", "aux_action"):
            yield {"name": f"ioctl.modify_attributes.{field['name']}", "kind": "keep", "ioctl": "modify_attributes",
                   "field": field["name"]}
    yield {"name": "ioctl.id.result", "kind": "result", "ioctl": "id", "value": 0}
    for index, word in enumerate(("ids_len", "prog_cnt", "ids")):
        yield {"name": f"ioctl.query_bpf.{word}", "kind": "result", "ioctl": "query_bpf", "value": index}


def call_lies(_):
    for call in ("write", "munmap", "mprotect", "close", "fcntl", "prctl", "prctl.swapped"):
        yield {"name": f"call.{call}.nothing", "kind": "nothing", "call": call, "effect": True}
    yield {"name": "read.short", "kind": "short"}
    for bit, value in POLL_BITS.items():
        for how in ("drop", "add"):
            yield {"name": f"poll.{bit}.{how}", "kind": "poll", "how": how, "value": value}
    for how in SIGNALS:
        yield {"name": f"signal.{how}", "kind": "signal", "how": how}


def paths_of_list(abi, field, name):
    for place in ("0", "-1"):
        at = f"{name}[{place}]"
        if "markers" in field.get("each", {}) and place == "0":
            yield f"{at}.context"
        elif "each" in field:
            yield at
        else:
            yield from paths(abi, field["fields"], f"{at}.")


def paths_of_field(abi, field, prefix):
    name = prefix + field.get("name", "")
    inner = f"{name}." if "name" in field else prefix
    if "use" in field:
        yield from paths(abi, abi.layouts[field["use"]], inner)
    elif "bitfield" in field:
        for value in abi.values(field["bitfield"]):
            yield inner + value["name"]
    elif "regs" in field:  # a SIMD register is a list: its lies would be those of its first word
        for reg in [] if "of" in field else ["ip", "sp"]:
            yield f"{name}.{reg}"
    elif "count" in field:
        yield name
        yield from paths_of_list(abi, field, name)
    elif "fields" in field:
        yield from paths(abi, field["fields"], inner)
    elif "name" in field:
        yield name


def paths(abi, fields, prefix=""):
    """The members that a layout can have, by their paths in the decoder's lines."""
    for field in fields:
        if "when" in field:
            yield from paths(abi, field.get("then", []), prefix)
            yield from paths(abi, field.get("else", []), prefix)
        elif "pad" not in field and "align" not in field:
            yield from paths_of_field(abi, field, prefix)


def member_lies(abi, kind, fields):
    for path in dict.fromkeys(paths(abi, fields)):
        is_time = path.split(".")[-1] in ("time", "time_enabled", "time_running")
        for how in ("plus", "zero", "second") if is_time else ("plus", "zero"):
            yield {"name": f"{kind}.{path}.{how}", "kind": "member", "type": kind, "path": path, "how": how}


def misc_lies(abi, record, kind):
    modes = [v["name"] for v in abi.values("cpumode")[1:3]]
    bits = [v["name"] for v in abi.values("misc") if record in v.get("records", [])]
    for name in modes + bits:
        for how in ("drop", "add"):
            yield {"name": f"{kind}.misc.{name}.{how}", "kind": "misc", "type": kind, "path": name,
                   "how": how, "value": int(name in modes)}


def record_lies(abi):
    for record in abi.values("record"):
        name, kind = record["name"], record["name"].upper()
        of_record = [{"name": f"{kind}.{how}", "kind": "records", "type": kind, "how": how}
                     for how in ("lost", "first-lost", "last-lost", "doubled", "swapped")]
        of_record += [*misc_lies(abi, name, kind), *member_lies(abi, kind, record["fields"])]
        yield from (lie | since(record) for lie in of_record)
    yield from member_lies(abi, "page", abi.layouts["mmap_page"])
    for lie in member_lies(abi, "read(2)", [{"name": "read", "use": "read_format"}]):
        yield lie | {"name": lie["name"].replace("read(2).read.", "read(2).")}


def lies():
    abi = Abi()
    return [lie for make in (attr_lies, open_lies, errno_lies, ioctl_lies, call_lies, record_lies)
            for lie in make(abi)]


if __name__ == "__main__":
    json.dump(lies(), sys.stdout, indent=0)
