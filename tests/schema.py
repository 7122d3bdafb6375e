#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Validates JSON files against cases/schema with python3-jsonschema.

usage: schema.py SCHEMA FILE...      each must be valid; says which are not, and why
       schema.py --each-line SCHEMA FILE
       schema.py --named FILE...     each by the schema that is called as it is: checks.json by checks.schema.json
"""
import json
import pathlib
import sys

import jsonschema

try:
    import referencing  # what jsonschema has used since 4.18, in place of its own RefResolver
except ImportError:
    referencing = None

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "cases" / "schema"


def validator(name):
    store = {}
    for path in FOLDER.glob("*.schema.json"):
        schema = json.loads(path.read_text())
        store[schema["$id"]] = schema
    schema = store[name]
    jsonschema.Draft202012Validator.check_schema(schema)
    if referencing:
        registry = referencing.Registry().with_resources((uri, referencing.Resource.from_contents(one)) for uri, one in store.items())
        return jsonschema.Draft202012Validator(schema, registry=registry)
    resolver = jsonschema.RefResolver(base_uri=name, referrer=schema, store=store)
    return jsonschema.Draft202012Validator(schema, resolver=resolver)


def problem(check, document):
    """The first error as text, or None."""
    error = jsonschema.exceptions.best_match(check.iter_errors(document))
    if not error:
        return None
    return "/" + "/".join(map(str, error.absolute_path)) + ": " + error.message[:200]


def parse(text):
    """Strict: no key twice in an object."""
    return json.loads(text, object_pairs_hook=unique)


def unique(pairs):
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a key twice in " + json.dumps(pairs)[:200])
    return members


def main(arguments):
    how = arguments.pop(0) if arguments[0].startswith("--") else ""
    given = None if how == "--named" else validator(arguments.pop(0))
    bad = 0
    for path in map(pathlib.Path, arguments):
        check = given or validator(path.stem + ".schema.json")
        text = path.read_text()
        documents = map(parse, text.splitlines()) if how == "--each-line" else [parse(text)]
        for document in documents:
            why = problem(check, document)
            if why:
                print(f"{path}: {why}")
                bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
