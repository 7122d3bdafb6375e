# SPDX-License-Identifier: MIT
"""Records made by hand, as --join has them: joined.py PERFABI-DECODE FOLDER CC

Samples whose call chain ends in a CALLCHAIN_DEFERRED come out behind it, in their order, and those for which none comes at the end. One that
waits while the recording's HEADER_FEATURE comes is decoded as all others. A sample with more than its fields keeps its line. The files of a
directory that has more than may wait are read in turn, so that none comes late. With --symbols a function of a file of this machine has its
name, unless the recording says that the file was another. A process that perf found running has no maps of its parent's, and a guest none of
the host's. A profile is of the first event that has samples. A file that changes while it is read is an error."""

import gzip
import json
import lzma
import os
import shutil
import struct
import subprocess
import sys
import zlib

program, folder, compiler = sys.argv[1:]
order = "<" if sys.byteorder == "little" else ">"
IP, TID, TIME, CALLCHAIN, IDENTIFIER = 1, 2, 4, 0x20, 1 << 16
SAMPLE_ID_ALL = 1 << 18 if sys.byteorder == "little" else 1 << 45
CONTEXT_USER, CONTEXT_DEFERRED = -512, -640
USER, MMAP_BUILD_ID = 2, 1 << 14


def record(kind, misc, form, *values):
    body = struct.pack(order + form, *values)
    return struct.pack(order + "IHH", kind, misc, 8 + len(body)) + body


def recording(name, sample_type, *records, flags=SAMPLE_ID_ALL):
    attr = struct.pack(order + "IIQQQQQ80x", 1, 128, 0, 1, sample_type, 0, flags)
    path = os.path.join(folder, name)
    with open(path, "wb") as file:
        file.write(b"PERFILE2"[:: 1 if order == "<" else -1] + struct.pack(order + "Q", 16) + record(64, 0, "128sQ", attr, 1) + b"".join(records))
    return path


def lines(path, *options):
    run = subprocess.run([program, "--no-summary", *options, path], capture_output=True, check=False, timeout=120)
    assert run.returncode in (0, 1) and not run.stderr, (options, run)
    return [json.loads(line) for line in run.stdout.splitlines()[1:]]  # behind the header's


def same(what, got, wanted):
    if got != wanted:
        sys.exit(f"{what}: {got!r}, expected {wanted!r}")


def sample(time, *ips):
    return record(9, USER, f"QIIQQ{len(ips)}q", 0x1000, 7, 7, time, len(ips), *ips)


def deferred(time, cookie, *ips):
    return record(22, USER, f"QQ{len(ips)}QIIQ", cookie, len(ips), *ips, 7, 7, time)


def waits(time, cookie):
    return sample(time, CONTEXT_USER, 0x1000 + time, CONTEXT_DEFERRED, cookie)


def frames(path):
    return [(line["time"], [frame["ip"] for frame in line["frames"]]) for line in lines(path, "--join", "--flat", "--type", "sample")]


wanted = [(6, [0x9000]), (2, [0x1002, 0x2000]), (1, [0x1001, 0x3000, 0x3100]), (4, [0x1004, 0x3000, 0x3100]), (9, [0x9000]),
          (3, [0x1003]), (5, [0x1005]), (10, [0x100A])]
sequence = [waits(1, 11), waits(2, 12), waits(3, 13), waits(4, 11), waits(5, 15), sample(6, CONTEXT_USER, 0x9000), deferred(7, 12, 0x2000),
            deferred(8, 11, 0x3000, 0x3100), sample(9, CONTEXT_USER, 0x9000), waits(10, 11)]
same("samples that wait", frames(recording("waits.data", IP | TID | TIME | CALLCHAIN, *sequence)), wanted)

path = recording("many.data", IP | TID | TIME | CALLCHAIN, *[waits(time, 11) for time in range(1, 259)], deferred(259, 11, 0x2000))
got = [line.get("code", line["time"] if "time" in line and "frames" in line else None) for line in lines(path, "--join")]
same("one sample more than may wait", [what for what in got if what], ["deferred", 257, "deferred", 258, *range(1, 257)])

arch = record(80, 0, "QI64sI", 6, 64, b"aarch64", 0)
path = recording("anew.data", IP | TID | TIME | CALLCHAIN, waits(1, 11), arch, deferred(2, 11, 0x2000))
same("a sample that waits while its plan changes", frames(path), [(1, [0x1001, 0x2000])])

id_of_none = record(9, USER, "QQIIQQ4q", 99, 0x1000, 7, 7, 1, 4, CONTEXT_USER, 0x1001, CONTEXT_DEFERRED, 11)
fields = IP | TID | TIME | CALLCHAIN | IDENTIFIER
another = record(64, 0, "IIQQQQQ80xQ", 1, 128, 0, 1, fields, 0, SAMPLE_ID_ALL, 2)
path = recording("unknown.data", fields, another, id_of_none)
same("a sample of no event, which waits", [line["code"] for line in lines(path, "--join") if "code" in line], ["unknown-id"])
another = record(64, 0, "IIQQQQQ80xQ", 1, 128, 0, 1, IP | IDENTIFIER, 0, SAMPLE_ID_ALL, 2)
path = recording("unread.data", fields, another, id_of_none)
same("a sample that nothing describes and nobody asks for", [line["type"] for line in lines(path, "--join", "--type", "comm")], ["diagnostic"])

mapped = record(1, USER, "IIQQQ8sIIQ", 1, 1, 0x400000, 0x1000, 0, b"/parent", 1, 1, 1)
forks = [record(7, misc, "IIIIQIIQ", pid, 1, pid, 1, 2, pid, pid, 2) for pid, misc in ((2, 0), (3, 1 << 13))]
found = [record(9, misc, "QIIQ", 0x400100, pid, pid, 3) for pid, misc in ((1, USER), (2, USER), (3, USER), (1, 4), (1, 5))]
path = recording("forks.data", IP | TID | TIME, mapped, *forks, *found)
same("maps of a parent, of processes and of guests", [line["frames"][0].get("object") for line in lines(path, "--join", "--type", "sample")],
     ["/parent", "/parent", None, None, None])

path = recording("more.data", IP | TID, record(9, USER, "QIIQ", 0x1000, 7, 7, 5))
plain = lines(path)
same("a sample with 8 bytes more", [line["type"] for line in plain if "ip" in line], ["SAMPLE"])
same("that sample with --join", [{k: v for k, v in line.items() if k not in ("comm", "frames")} for line in lines(path, "--join")], plain)

# A profile is of the first event in the list that has samples, not of the first sample's.
later = record(64, 0, "IIQQQQQ80xQ", 1, 128, 1, 1, IP | TID | TIME | IDENTIFIER, 0, SAMPLE_ID_ALL | (1 << 6 if order == "<" else 1 << 57), 2)
path = recording("two.data", IP | TID | TIME | IDENTIFIER, later,
                 *[record(9, USER, "QQIIQ", event, 0x1000, 7, 7, time) for time, event in ((1, 2), (2, 1), (3, 2))])


def folded(*options):
    run = subprocess.run([program, "--format", "folded", *options, path], capture_output=True, check=True, timeout=120)
    return run.stdout.decode()


same("a profile of the first event", folded(), ":7;[unknown] 1\n")
same("a profile of another", folded("--event", "task-clock:uk"), ":7;[unknown] 2\n")

# Times go backward where buffers are written from their end on.
CPU, WRITE_BACKWARD = 0x80, 1 << 27 if order == "<" else 1 << 36
for flags, wanted in ((SAMPLE_ID_ALL, True), (SAMPLE_ID_ALL | WRITE_BACKWARD, False)):
    path = recording("backward.data", TIME | CPU, record(9, USER, "QII", 2, 0, 0), record(9, USER, "QII", 1, 0, 0), flags=flags)
    said = subprocess.run([program, "--check", path], capture_output=True, check=True, timeout=120).stdout
    same("whether --check speaks of times", b'"time-order"' in said, wanted)


def decoded_while(change, *arguments):
    """What is said, with status 3, of a file that changes while it is read: its lines are far more than a pipe holds."""
    with subprocess.Popen([program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        next(line for line in run.stdout if b'"SAMPLE"' in line)
        change()
        said = run.communicate(timeout=120)[1]
    same(f"the status where {arguments} changes", run.returncode, 3)
    return said.decode()


# A file that gets shorter while it is read has not ended, whatever is behind the place: records, packed data, AUX data.
samples = [record(9, USER, "Q", time) for time in range(1, 200_001)]
shorter = ": reading: it got shorter while it was read\n"
path = recording("shrinks.data", TIME, *samples)
same("a file that gets shorter", decoded_while(lambda: os.truncate(path, 160 + 16 * 100_000), path), f"perfabi-decode: {path}{shorter}")

path = recording("shrinks.data", TIME, *samples)
plain = lines(path)
with open(path, "rb") as file:
    packed = gzip.compress(file.read())  # two members: it could end behind the first
with open(path + ".gz", "wb") as file:
    file.write(packed * 2)
said = decoded_while(lambda: os.truncate(file.name, len(packed)), file.name)
same("a packed file that gets shorter", said, f"perfabi-decode: {file.name}{shorter}")
with open(file.name, "wb") as file:
    file.write(packed + bytes(512))
same("zeros behind gzip's data", lines(file.name) == plain, True)

# An xz file whose block header asks for a dictionary of 1 GiB is not damaged.
packed = bytearray(lzma.compress(b"PERFILE2" + bytes(96)))
header = packed[12 : 12 + 4 * packed[12]]
at = header.index(b"\x21\x01") + 2
packed[12 + at] = header[at] = 36
packed[12 + len(header) : 16 + len(header)] = struct.pack("<I", zlib.crc32(header))
with open(file.name, "wb") as file:
    file.write(packed)
run = subprocess.run([program, file.name], capture_output=True, check=False, timeout=120)
same("too large a dictionary", (run.returncode, run.stderr.decode()),
     (2, f"perfabi-decode: {file.name}: the xz data takes too much memory: decompress it by itself first\n"))

auxtrace = record(71, 0, "QQQIIII", 8 << 20, 0, 0, 0, 0, 0, 0)
path = recording("shrinks.data", TIME, *samples, auxtrace)
size = os.path.getsize(path)
os.truncate(path, size + (8 << 20))
same("AUX data that gets shorter", decoded_while(lambda: os.truncate(path, size + (4 << 20)), path), f"perfabi-decode: {path}{shorter}")

os.mkdir(os.path.join(folder, "turns"))
path = os.path.dirname(recording("turns/data", TIME))
for number in range(5):
    with open(os.path.join(path, f"data.{number}"), "wb") as file:
        header = record(9, USER, "Q", 0)[:8]
        file.write(b"".join(header + struct.pack(order + "Q", time) for time in range(1 + number, 2_500_001, 5)))
time = 0
run = subprocess.run([program, "--no-summary", "--flat", "--type", "sample", "--fields", "time", path], capture_output=True, check=True, timeout=300)
for time, line in enumerate(run.stdout.splitlines()):
    if time and b'"time":%d}' % time not in line:
        sys.exit(f"files that take turns, at {time}: {line!r}")
same("samples of files that take turns", time, 2_500_000)

# A file is opened for each turn: another must not be in its place, be it the same, and a FIFO is none.
shutil.copy(os.path.join(path, "data.3"), os.path.join(path, "same"))
same("another file in the place of one", decoded_while(lambda: os.rename(os.path.join(path, "same"), os.path.join(path, "data.3")), path),
     f"perfabi-decode: {path}: data.3: another file has taken its place\n")
os.remove(os.path.join(path, "data.3"))
os.mkfifo(os.path.join(path, "data.3"))
run = subprocess.run([program, path], capture_output=True, check=False, timeout=120)
same("a FIFO among the files", (run.returncode, run.stderr.decode()), (2, f"perfabi-decode: {path}: data.3: it is no regular file\n"))

# AUX data of a folder: where its records are says which file, too.
path = recording("traced.data", TIME)
os.mkdir(os.path.join(folder, "traced"))
os.rename(path, os.path.join(folder, "traced", "data"))
for number in range(2):
    with open(os.path.join(folder, "traced", f"data.{number}"), "wb") as file:
        file.write(record(9, USER, "Q", number) + record(71, 0, "QQQIIII", 8, 0, 0, 5, 7, 1, 0) + bytes([number]) * 8)
out = os.path.join(folder, "aux")
subprocess.run([program, "--aux", out, os.path.join(folder, "traced")], stdout=subprocess.DEVNULL, check=True, timeout=120)
with open(os.path.join(out, "aux-idx5.bin"), "rb") as file:
    same("AUX data", file.read(), bytes(8) + b"\1" * 8)
with open(os.path.join(out, "index.jsonl"), encoding="utf-8") as file:
    index = [json.loads(line) for line in file]
same("its index", [(line["at"], line["size"], line["tid"], line["cpu"], line["record"], line["part"]) for line in index],
     [(0, 8, 7, 1, 16, "data.0"), (8, 8, 7, 1, 16, "data.1")])

# The page of a folder must not take the place of one of its files.
for name in ("data", "data.1"):
    run = subprocess.run([program, "--html", "-o", os.path.join(folder, "traced", name), os.path.join(folder, "traced")], capture_output=True,
                         check=False, timeout=120)
    same("a page in the place of a folder's file", (run.returncode, b"is the recording" in run.stderr), (2, True))

# More files than may be open at once.
os.mkdir(os.path.join(folder, "many"))
path = os.path.dirname(recording("many/data", TIME))
for number in range(40):
    with open(os.path.join(path, f"data.{number}"), "wb") as file:
        file.write(b"".join(record(9, USER, "Q", time) for time in range(1 + number, 401, 40)))
run = subprocess.run(["sh", "-c", 'ulimit -n 20; exec "$0" --type sample --fields time "$1"', program, path], capture_output=True, check=True, timeout=120)
same("many files", [json.loads(line).get("time") for line in run.stdout.splitlines()[1:-1]], list(range(1, 401)))


library = os.path.join(folder, "named.so")
with open(os.path.join(folder, "named.c"), "w", encoding="utf-8") as file:
    file.write("int a_name_of_its_own(int n)\n{\n\treturn n * 3 + 1;\n}\n")
subprocess.run([*compiler.split(), "-shared", "-fPIC", "-Wl,--build-id=0x0123456789abcdef0123456789abcdef01234567", "-o", library, file.name], check=True)
address = next(int(line.split()[0], 16) for line in subprocess.run(["nm", library], capture_output=True, check=True, text=True).stdout.splitlines()
               if line.endswith(" a_name_of_its_own"))
headers = subprocess.run(["readelf", "-lW", library], capture_output=True, check=True, text=True).stdout
loads = [[int(number, 16) for number in line.split()[1:5]] for line in headers.splitlines() if line.split()[:1] == ["LOAD"]]
offset = next(address - start + at for at, start, _, size in loads if start <= address < start + size)
name = library.encode() + bytes(8 - len(library) % 8)


def symbols(misc, build_id):
    mapped = record(10, USER | misc, f"IIQQQ24sII{len(name)}sIIQ", 7, 7, 0x10000000, 0x100000, 0, build_id, 5, 2, name, 7, 7, 1)
    at = sample(2, CONTEXT_USER, 0x10000000 + offset, 0x10000000 + offset + 1)
    joined = lines(recording("symbols.data", IP | TID | TIME | CALLCHAIN, mapped, at), "--join", "--symbols", "--type", "sample")
    same("the file", [frame["object"] for frame in joined[0]["frames"]], [library] * 2)
    return [frame.get("symbol") for frame in joined[0]["frames"]]


own = bytes.fromhex("0123456789abcdef0123456789abcdef01234567")
same("symbols of a file", symbols(0, bytes(24)), ["a_name_of_its_own"] * 2)
same("symbols of the file with that build ID", symbols(MMAP_BUILD_ID, b"\x14\0\0\0" + own), ["a_name_of_its_own"] * 2)
same("symbols of a file that was another", symbols(MMAP_BUILD_ID, b"\x14\0\0\0" + own[::-1]), [None] * 2)
