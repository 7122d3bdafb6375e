# SPDX-License-Identifier: MIT
"""Reads what perf_event_open(2) writes, with libperfabi: perf.data files, images of ring buffers, bare records, live rings.

    import perfabi

    with perfabi.open("perf.data", types=["sample", "comm"]) as recording:
        for record in recording:
            print(record.type, record.get("pid"), record.get("ip"))

A `source` is a path, bytes that are the recording, or a file or its descriptor. Options are the members of struct
perfabi_options as keywords: `types` and `fields` are lists of names; `attr` is JSON, or what json.loads() makes of it; `format`
is "perf_data", "ring" or "records"; `order` is "little" or "big". `cases` is a folder of layouts in place of those built in.
"""
import collections
import collections.abc
import ctypes as C
import functools
import json
import os
import queue
import struct
import threading

__all__ = ["Diagnostic", "Error", "Record", "Recording", "Result", "attrs", "lines", "open", "open_ring"]

_FORMATS = ("auto", "perf_data", "ring", "records")
_ORDERS = ("host", "little", "big")
_GRADES = ("error", "warning", "note")
_KINDS = (_UNSIGNED, _HEX, _SIGNED, _DOUBLE, _BITS, _STRING, _BYTES, _OPAQUE, _ATTR, _ARRAY, _LIST, _INDEX) = range(1, 13)
_NO_OPTIONS = ("type_count", "field_count", "pieces", "output", "symbol", "symbol_context", "reserved")  # of keywords
_SINK = C.CFUNCTYPE(C.c_int, C.c_void_p, C.c_void_p, C.c_size_t)


class _Options(C.Structure):
    _fields_ = [("format", C.c_int), ("order", C.c_int), ("machine", C.c_char_p), ("attr", C.c_char_p),
                ("attr_name", C.c_char_p), ("types", C.POINTER(C.c_char_p)), ("type_count", C.c_size_t),
                ("fields", C.POINTER(C.c_char_p)), ("field_count", C.c_size_t), ("header_only", C.c_bool),
                ("no_summary", C.c_bool), ("check", C.c_bool), ("bytes", C.c_bool), ("pieces", C.c_bool), ("sort", C.c_bool),
                ("flat", C.c_bool), ("join", C.c_bool), ("jobs", C.c_uint), ("shard", C.c_uint), ("shards", C.c_uint), ("tracefs", C.c_char_p), ("aux", C.c_char_p),
                ("output", C.c_int), ("value_names", C.c_bool), ("event", C.c_char_p), ("symbol", C.c_void_p), ("symbol_context", C.c_void_p),
                ("reserved", C.c_uint64 * 8)]


class _Result(C.Structure):
    _fields_ = [("errors", C.c_uint64), ("warnings", C.c_uint64), ("notes", C.c_uint64), ("records", C.c_uint64),
                ("lost", C.c_uint64), ("option", C.c_char_p), ("reserved", C.c_uint64 * 8), ("message", C.c_char * 1024)]


class _Field(C.Structure):
    _fields_ = [("number", C.c_uint32), ("offset", C.c_uint32), ("size", C.c_uint32), ("kind", C.c_uint8),
                ("width", C.c_uint8), ("element", C.c_uint8), ("reserved", C.c_uint8), ("own", C.c_uint32 * 2),
                ("value", C.c_uint64)]


_FIELD = struct.Struct("IIIBBBxIIQ")  # the same, to take all fields of a record at once


class _Record(C.Structure):
    _fields_ = [("what", C.c_uint32), ("order", C.c_uint32), ("type", C.c_uint32), ("misc", C.c_uint16),
                ("size", C.c_uint16), ("bytes", C.c_void_p), ("name", C.c_char_p), ("event", C.c_int32),
                ("grade", C.c_uint32), ("offset", C.c_uint64), ("within", C.c_int64), ("fields", C.POINTER(_Field)),
                ("field_count", C.c_size_t), ("message", C.c_char_p), ("skipped", C.c_uint64), ("own", C.c_void_p),
                ("part", C.c_uint32)]


_OPENING = [C.POINTER(_Options), C.POINTER(C.c_void_p), C.POINTER(_Result)]
_DECODING = [C.POINTER(_Options), _SINK, C.c_void_p, C.POINTER(_Result)]
_FUNCTIONS = {  # what each returns, and takes
    "version": [C.c_uint],
    "new": [C.c_void_p, C.c_char_p, C.c_char_p, C.c_size_t],
    "free": [None, C.c_void_p],
    "decode": [C.c_int, C.c_void_p, C.c_int, *_DECODING],
    "decode_memory": [C.c_int, C.c_void_p, C.c_char_p, C.c_size_t, *_DECODING],
    "attrs": [C.c_int, C.c_void_p, C.c_int, *_OPENING],
    "attrs_memory": [C.c_int, C.c_void_p, C.c_char_p, C.c_size_t, *_OPENING],
    "open": [C.c_int, C.c_void_p, C.c_int, *_OPENING],
    "open_memory": [C.c_int, C.c_void_p, C.c_char_p, C.c_size_t, *_OPENING],
    "open_ring": [C.c_int, C.c_void_p, C.c_void_p, C.c_size_t, *_OPENING],
    "next": [C.c_int, C.c_void_p, C.POINTER(C.POINTER(_Record))],
    "reader_result": [None, C.c_void_p, C.POINTER(_Result)],
    "event_name": [C.c_char_p, C.c_void_p, C.c_int32],
    "close": [None, C.c_void_p],
    "field": [C.POINTER(_Field), C.POINTER(_Record), C.c_uint32],
    "field_number": [C.c_uint32, C.c_void_p, C.c_char_p],
    "field_name": [C.c_char_p, C.c_void_p, C.c_uint32],
    "element": [C.c_uint64, C.POINTER(_Record), C.POINTER(_Field), C.c_uint64],
    "value_name": [C.c_char_p, C.POINTER(_Record), C.POINTER(_Field), C.c_uint64],
}


def _load():
    lib = C.CDLL("libperfabi.so.0")
    for name, (returns, *takes) in _FUNCTIONS.items():
        function = getattr(lib, "perfabi_" + name)
        function.restype, function.argtypes = returns, takes
    return lib


_lib = _load()
_free = C.CDLL(None).free
_free.argtypes = [C.c_void_p]


class Error(Exception):
    """What the library refused or failed at, in words. `errno` is positive; `option` names the option that is wrong, or is None."""

    def __init__(self, errno, message, option=None):
        super().__init__(message)
        self.errno, self.option = errno, option


def _check(err, result):
    if err < 0:
        raise Error(-err, result.message.decode(errors="replace"), result.option and result.option.decode())


@functools.lru_cache(None)
def _tables(cases=None):
    """The layouts. They are never freed: any number of threads and readers use them."""
    message = C.create_string_buffer(1024)
    tables = _lib.perfabi_new(cases and os.fsencode(cases), message, len(message))
    if not tables:
        raise Error(22, message.value.decode(errors="replace"))
    return tables


@functools.lru_cache(None)
def _name(tables, number):
    return _lib.perfabi_field_name(tables, number).decode()


def _options(given):
    options = _Options()
    for name, value in given.items():
        if name in _NO_OPTIONS or not hasattr(_Options, name):
            raise TypeError(f"perfabi has no option {name}")
        if value is None:
            continue
        if name in ("types", "fields"):
            texts = [text.encode() for text in ([value] if isinstance(value, str) else value)]
            setattr(options, name[:-1] + "_count", len(texts))
            value = (C.c_char_p * len(texts))(*texts)
        elif name == "attr" and not isinstance(value, (str, bytes)):
            value = json.dumps(value).encode()
        elif name in ("format", "order"):
            choices = _FORMATS if name == "format" else _ORDERS
            if value not in choices:
                raise Error(22, f"expected one of {', '.join(choices)}, got {value!r}", name)
            value = choices.index(value)
        elif isinstance(value, str):
            value = value.encode()
        setattr(options, name, value)
    return options


class _Source:
    """What a recording is read from: `words` go into the call of that `suffix`."""

    def __init__(self, source):
        self.suffix, self.own, self.source = "", None, source  # which stays open
        if isinstance(source, (bytes, bytearray, memoryview)):
            source = bytes(source)
            self.suffix, self.words = "_memory", (source, len(source))
        elif isinstance(source, (str, os.PathLike)):
            self.own = os.open(source, os.O_RDONLY | os.O_CLOEXEC)
            self.words = (self.own,)
        else:
            self.words = (source if isinstance(source, int) else source.fileno(),)

    def function(self, name):
        return getattr(_lib, f"perfabi_{name}{self.suffix}")

    def close(self):
        if self.own is not None:
            os.close(self.own)
        self.own = None


def _place(r):
    """Where a record is: its offset, the file of a directory, the place in what was compressed."""
    return r.offset, f"data.{r.part - 1}" if r.part else None, None if r.within < 0 else r.within


Result = collections.namedtuple("Result", "errors warnings notes records lost")
Result.__doc__ = "Diagnostics of each grade, records, and how many records LOST says are missing."
Diagnostic = collections.namedtuple("Diagnostic", "type code grade message offset file within skipped")
Diagnostic.__doc__ = 'Something is wrong at this place of the recording. `type` is "diagnostic", as in lines.'


class Record(collections.abc.Mapping):
    """A record: its fields by their names, as lines have them, with a dot between an object and its member.

    A number is an int or a float, a text a str (what is no UTF-8 in it as surrogates), bytes are bytes, an array is a list. A name with "[]" is in each
    element of a list: it gives a list with the value of each, and the name before the "[]" gives the number of elements.
    """
    __slots__ = ("type", "type_id", "misc", "event", "event_index", "offset", "file", "within", "order", "bytes", "_found", "_recording")

    def __init__(self, recording, r):
        self.type, self.type_id, self.misc = r.name.decode(), r.type, r.misc
        self.event_index, event = None if r.event < 0 else r.event, _lib.perfabi_event_name(recording.reader, r.event)
        self.event = event and event.decode(errors="replace")
        self.offset, self.file, self.within = _place(r)
        self.order = _ORDERS[r.order]
        self.bytes = C.string_at(r.bytes, r.size)
        self._found = C.string_at(r.fields, r.field_count * _FIELD.size) if r.field_count else b""
        self._recording = recording

    def _by_name(self):
        """The places of its fields, by name; each name's in the order of the bytes."""
        if isinstance(self._found, bytes):
            found = {}
            for place, field in enumerate(_FIELD.iter_unpack(self._found)):
                found.setdefault(_name(self._recording.tables, field[0]), []).append((place, field))
            self._found = found
        return self._found

    def __getitem__(self, name):
        found = self._by_name()[name]
        return [self._value(field) for _, field in found] if "[]" in name else self._value(found[0][1])

    def __iter__(self):
        return iter(self._by_name())

    def __len__(self):
        return len(self._by_name())

    def __repr__(self):
        return f"<{self.type} at {self.offset}: {dict(self)}>"

    def _value(self, field):
        _, offset, size, kind, width, element, _, _, value = field
        if kind == _SIGNED:
            return value - (value >> 63 << 64)
        if kind == _DOUBLE:
            return struct.unpack("d", struct.pack("Q", value))[0]
        if kind not in (_STRING, _BYTES, _OPAQUE, _ATTR, _ARRAY):
            return value
        taken = self.bytes[offset:offset + size]
        if kind == _ARRAY:  # behind its count
            letter = "d" if element == _DOUBLE else "BHIQ"[width.bit_length() - 1]
            letter = letter.lower() if element == _SIGNED else letter
            return list(struct.unpack(f"{'<>'[self.order == 'big']}{value}{letter}", taken[size - value * width:]))
        for length in 4, 8:  # which stands before the bytes, or does not
            if size >= length + value and int.from_bytes(taken[:length], self.order) == size - length:
                taken = taken[length:]
                break
        return taken[:value].decode("utf-8", "surrogateescape") if kind == _STRING else taken[:value]

    def value_name(self, name, value=None):
        """The name of the field's value, or of `value`: of a mask, that of one bit. None if it has none.

        Only of the record that the recording gave last.
        """
        recording = self._recording
        if recording.current is not self:
            raise ValueError("a record has names of values until the recording gives the next one")
        place, field = self._by_name()[name][0]
        text = _lib.perfabi_value_name(recording.place, C.byref(recording.place.contents.fields[place]),
                                       field[-1] if value is None else value)
        return text and text.decode()


class Recording:
    """Gives each Record and Diagnostic, in order. Close it, or use it in a `with`."""

    def __init__(self, function, words, options, cases, close):
        self.reader, self.place, self.current = C.c_void_p(), C.POINTER(_Record)(), None
        self.keep = words, close  # what the reader reads stays there
        result = _Result()
        try:
            self.tables = _tables(cases)
            _check(function(self.tables, *words, options, self.reader, result), result)
        except BaseException:
            close()
            raise

    def __iter__(self):
        return self

    def __next__(self):
        self.current = None
        if not self.reader:
            raise ValueError("the recording is closed")
        got = _lib.perfabi_next(self.reader, self.place)
        if got < 0:
            result = _Result()
            _lib.perfabi_reader_result(self.reader, result)
            _check(got, result)
        if not got:
            raise StopIteration
        r = self.place.contents
        if r.what:
            return Diagnostic("diagnostic", r.name.decode(), _GRADES[r.grade], r.message.decode(errors="replace"), *_place(r),
                              r.skipped)
        self.current = Record(self, r)
        return self.current

    @property
    def result(self):
        """The counts so far."""
        if not self.reader:
            raise ValueError("the recording is closed")
        result = _Result()
        _lib.perfabi_reader_result(self.reader, result)
        return Result(*(getattr(result, name) for name in Result._fields))

    def close(self):
        self.current = None
        if self.reader:
            _lib.perfabi_close(self.reader)
            self.reader = C.c_void_p()
            self.keep[1]()

    __del__ = close

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def open(source, *, cases=None, **options):
    """Opens a recording, to be read record by record."""
    options, source = _options(options), _Source(source)
    return Recording(source.function("open"), source.words, options, cases, source.close)


def open_ring(area, *, cases=None, **options):
    """The same of a ring that the kernel is writing: `area` is its mmap.mmap(), for reading and writing.

    A loop over it ends where nothing more has been written; wait with select.poll(), and loop again.
    """
    memory = (C.c_char * len(area)).from_buffer(area)
    return Recording(_lib.perfabi_open_ring, (memory, len(memory)), _options(options), cases, lambda: None)


def lines(source, *, cases=None, **options):
    """Yields each line as a str of JSON, as perfabi-decode prints it: a header, records and diagnostics, a summary."""
    tables, options, source = _tables(cases), _options(options), _Source(source)
    result, chunks, is_over = _Result(), queue.Queue(16), threading.Event()

    def take(_, text, size):
        chunks.put(C.string_at(text, size))
        return is_over.is_set()

    def decode():
        chunks.put(source.function("decode")(tables, *source.words, options, sink, None, result))

    sink = _SINK(take)
    # The library calls with lines, and this is called for lines: each needs a stack of its own.
    thread = threading.Thread(target=decode, daemon=True)
    thread.start()
    chunk = b""
    try:
        while isinstance(chunk, bytes):
            yield from chunk.decode().split("\n")[:-1]
            chunk = chunks.get()
        _check(chunk, result)
    finally:
        is_over.set()
        while isinstance(chunk, bytes):
            chunk = chunks.get()
        thread.join()
        source.close()


def attrs(source, *, cases=None, **options):
    """The attrs of a recording, or of the bytes of one struct perf_event_attr, in the form that the option `attr` takes."""
    tables, options, source = _tables(cases), _options(options), _Source(source)
    text, result = C.c_void_p(), _Result()
    try:
        _check(source.function("attrs")(tables, *source.words, options, text, result), result)
        return json.loads(C.string_at(text))
    finally:
        _free(text)
        source.close()
