#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Recordings whose ids and attrs do not tell whose a record is: what is said of them, and what is not.

usage: whose.py PERFABI-DECODE SCRATCH-FILE
"""
import struct
import sys

from build_fixtures import CPU, ID, IDENTIFIER, IP, TID, TIME, Attr, Recording
from decoded import decode


def attr(sample_type, order="<", **fields):
    return Attr(order, type=1, config=9, sample_type=sample_type, sample_id_all=1, **fields)


def file_of(order, attrs, records):
    rec = Recording(order, attrs)
    for kind, body in records:
        rec.record(kind, "", body)
    return rec.file()


def pipe_of(order, attrs, records):
    """The same as perf record -o - writes it."""
    magic = b"PERFILE2" if order == "<" else b"2ELIFREP"
    out = magic + struct.pack(order + "Q", 16)
    for one, ids in attrs:
        body = one.bytes() + struct.pack(order + "%dQ" % len(ids), *ids)
        out += struct.pack(order + "IHH", 64, 0, 8 + len(body)) + body
    return out + b"".join(struct.pack(order + "IHH", kind, 0, 8 + len(body)) + body for kind, body in records)


def expect(program, path, what, attrs, records, said):
    """said: code, grade, and words of the message, of each diagnostic."""
    for order in "<>":
        built = [(attr(order=order, **one), ids) for one, ids in attrs]
        packed = [(kind, struct.pack(order + code, *values)) for kind, code, *values in records]
        for make in file_of, pipe_of:
            status, lines = decode(program, path, make(order, built, packed))
            found = [(line["code"], line["grade"], line["message"]) for line in lines if line["type"] == "diagnostic"]
            lines = [line for line in lines if line["type"] in ("SAMPLE", "COMM", "READ")]
            assert [(code, grade) for code, grade, _ in found] == [(code, grade) for code, grade, _ in said], (what, make.__name__, order, found)
            assert all(words in message for (_, _, message), (_, _, words) in zip(found, said)), (what, found)
            assert status == any(grade == "error" for _, grade, _ in said), (what, status)
            assert len(lines) == len(records), (what, lines)
    print(f"{what}: {[code for code, *_ in said] or 'nothing'}")
    return lines


def comm(code, *sample_id):
    return 3, "II8s" + code, 5, 5, b"hello", *sample_id


def main():
    program, path = sys.argv[1:]

    def check(*of):
        return expect(program, path, *of)

    # One id of two attrs.
    plain, other = {"sample_type": IDENTIFIER | IP}, {"sample_type": IDENTIFIER | TIME}
    sample = 9, "QQ", 77, 5
    check("ids of their own", [(plain, [77]), (other, [78])], [sample], [])
    check("an id twice in one attr", [(plain, [77, 77])], [sample], [])
    alike = "id-shared", "warning", "attrs 0 and 1 both have the id 77"
    check("an id of two attrs alike", [(plain, [77]), (plain, [77])], [sample], [alike])
    lines = check("an id of two that differ", [(plain, [5, 77]), (other, [77])], [sample],
                  [("id-twice", "error", "attrs 0 and 1 both have the id 77")])
    assert lines[0]["time"] == 5, lines
    check("many ids of many attrs", [(plain, [78, 77]), (plain, [77, 78]), (other, [78, 77]), (plain, [77])], [sample] * 3,
          [alike, ("id-twice", "error", "attrs 1 and 2 both have the id 78")])

    # Records without an id, where the attrs want different members.
    two = [({"sample_type": TID | TIME}, []), ({"sample_type": TIME | CPU}, [])]
    nothing = "no-id", "error", "attrs without ids"
    check("no ids, and members that differ", two, [comm("QII", 5, 3, 0)] * 3, [nothing])
    check("no ids, and the same members", [(one | {"sample_type": TID | more}, []) for (one, _), more in zip(two, (0, IP))],
          [comm("II", 5, 3)], [])
    two = [({"sample_type": IDENTIFIER | TIME}, [77]), ({"sample_type": IDENTIFIER | TID}, [78])]
    guess = "no-id", "error", "COMM: it names no event"
    check("an id of 0", two, [comm("QQ", 5, 77), comm("QQ", 5, 0), comm("IIQ", 3, 4, 78), comm("QQ", 6, 0)], [guess] * 2)
    check("zeros, as perf writes them", two, [comm("QQ", 0, 0)] * 2, [])
    # What is a 0 by the first attr is an id by the other.
    lines = check("an id in another place", [({"sample_type": TID | ID}, [77]), ({"sample_type": ID | CPU}, [78])],
                  [comm("QII", 78, 0, 0), comm("IIQ", 5, 6, 77)], [])
    assert [line["sample_id"] for line in lines] == [{"id": 78, "cpu": 0}, {"pid": 5, "tid": 6, "id": 77}], lines
    # READ has what read_format says, whatever is behind it.
    two = [({"sample_type": TID, "read_format": 0}, []), ({"sample_type": TID, "read_format": 1}, [])]
    read = 8, "IIQII", 1, 2, 9, 5, 6
    check("values that differ", two, [read, comm("II", 5, 6)], [("no-id", "error", "READ: it names no event")])
    check("values that do not differ", [two[0], two[0]], [read], [])


if __name__ == "__main__":
    main()
