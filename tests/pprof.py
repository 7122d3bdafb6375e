# SPDX-License-Identifier: MIT
"""Reads the protobuf of pprof (https://github.com/google/pprof, proto/profile.proto), and is strict with it."""


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        shift += 7
        assert shift <= 70, "a number of more than ten bytes"
        if byte < 0x80:
            return value, at


def message(data):
    """A dict from numbers of fields to lists of their values."""
    fields, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        assert key & 7 in (0, 2), f"a field of wire type {key & 7}"
        value, at = varint(data, at)
        if key & 7:
            assert at + value <= len(data), "a field that ends past its message"
            value, at = data[at:at + value], at + value
        fields.setdefault(key >> 3, []).append(value)
    return fields


def numbers(fields, number):
    """A repeated number, packed or not."""
    found = []
    for value in fields.get(number, []):
        at = 0
        while isinstance(value, bytes) and at < len(value):
            one, at = varint(value, at)
            found.append(one)
        found += [value] if isinstance(value, int) else []
    return found


def by_id(found):
    """Messages by their ids, which are unique and not zero."""
    ids = {one[1][0]: one for one in map(message, found)}
    assert len(ids) == len(found) and 0 not in ids, "an id that is 0 or not the only one"
    return ids


def profile(data):
    """The names of the values; for each sample the names of its frames, its labels and values; and of each mapping file and build ID."""
    top = message(data)
    assert set(top) <= set(range(1, 15)), f"unknown fields: {set(top)}"
    strings = [value.decode() for value in top[6]]
    assert strings[0] == "", "the first string is not empty"

    def string(fields, number):
        return strings[fields.get(number, [0])[0]]

    mappings, locations, functions = (by_id(top.get(number, [])) for number in (3, 4, 5))

    def name(number):
        location = locations[number]
        lines = [message(line) for line in location[4]]
        assert len(lines) == 1, "a location of more than one line"
        function = string(functions[lines[0][1][0]], 2)
        mapping, address = location.get(2, [0])[0], location.get(3, [0])[0]
        if mapping:
            assert mappings[mapping].get(2, [0])[0] <= address, "an address outside of its mapping"
            assert function.endswith(f"+{address:#x}"), f"{function} at {address:#x}"
        return function

    types = [string(message(value), 1) for value in top[1]]
    samples = []
    for sample in map(message, top.get(2, [])):
        values = numbers(sample, 2)
        assert len(values) == len(types), "as many values as there are types"
        labels = {string(one, 1): string(one, 2) for one in map(message, sample.get(3, []))}
        samples.append(([name(number) for number in numbers(sample, 1)], labels, values))
    return types, samples, {(string(one, 5), string(one, 6)) for one in mappings.values()}
