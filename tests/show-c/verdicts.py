# SPDX-License-Identifier: MIT
"""Compiles the programs of `perfabi show --c`, runs those whose cases were judged here, and compares the verdicts.

usage: verdicts.py PERFABI REPORT FOLDER CC    a report of `perfabi run --format json`, the programs, one compiler
       verdicts.py - - FOLDER CC               they are compiled and not run
"""
import concurrent.futures
import json
import os
import re
import subprocess
import sys

FLAGS = ['-std=gnu11', '-Wall', '-Wextra', '-Werror', '-pthread']
BREAKS = {'fail', 'xfail'}
JUDGED = {'pass', 'xpass'} | BREAKS


def compile_one(cc, source, only):
    target = ['-fsyntax-only'] if only else ['-o', source[:-2]]
    done = subprocess.run([cc, *FLAGS, *target, source], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return source, done.returncode, done.stdout


def body(source):
    """A program but for what it takes from others, and for who makes the calls: root's is the user's then."""
    with open(source, encoding='utf-8') as file:
        text = file.read().partition('/* The case. */')[2]
    return re.sub(r'\n\t(must_have\(!geteuid|become\w*)\(.*', '', text)


def verdict(program):
    """Its exit status, and what it ended with."""
    try:
        done = subprocess.run([program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, timeout=3600,
                              cwd='/', check=False)
    except subprocess.TimeoutExpired:
        return 'no end within an hour', []
    return done.returncode, done.stdout.decode(errors='replace').splitlines()


def asks_in_vain(results, sources):
    """Of those that were skipped here one for each token that its program asks for: it is to say so."""
    found = {}
    for source in sources:
        result = results.get(os.path.basename(source)[:-2], {})
        if result.get('outcome') == 'skip':
            with open(source, encoding='utf-8') as file:
                if f', "{result["token"]}");' in ' '.join(file.read().split()):
                    found.setdefault(result['token'], source)
    return list(found.values())


def is_as_judged(result, status, lines):
    if result['outcome'] == 'skip':
        return status == 4 and lines[-1:] != [] and lines[-1].startswith('SKIP: ')
    answer = result.get('capability')
    if answer and status == 0:
        return lines[-1:] == [answer]
    return result['outcome'] in JUDGED and status == (1 if result['outcome'] in BREAKS else 0)


def results_of(text):
    return {result['id']: result for result in json.loads(text)['results']}


def main(perfabi, report, folder, compiler):
    only, results = perfabi == '-', {}
    if not only:
        with open(report, encoding='utf-8') as file:
            results = results_of(file.read())
    sources = [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.endswith('.c')]
    if only:
        sources = list({body(source): source for source in sources}.values())
    else:
        sources = [s for s in sources if results.get(os.path.basename(s)[:-2], {}).get('outcome') in JUDGED] + asks_in_vain(results, sources)
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for source, status, text in pool.map(lambda s: compile_one(compiler, s, only), sources):
            if status:
                bad += 1
                print(f'{compiler} refuses {source}:\n{text[:2000]}')
    print(f'{len(sources)} compiled, {bad} refused')
    if only or bad:
        return bad != 0
    for source in sources:
        case, program = os.path.basename(source)[:-2], source[:-2]
        status, lines = verdict(program)
        for _ in range(3):
            if is_as_judged(results[case], status, lines):
                break
            # What another process did to one of the two may not be there the next time.
            again = subprocess.run([perfabi, 'run', '--format', 'json', '--no-host', case], stdout=subprocess.PIPE, check=False)
            results |= results_of(again.stdout or '{"results": []}')
            status, lines = verdict(program)
        if not is_as_judged(results[case], status, lines):
            bad += 1
            print(f'{case} was {results[case]["outcome"]} {results[case].get("capability", "")}, its program says {status}:')
            print(''.join(f'    {line}\n' for line in lines[-6:]))
        os.unlink(program)
    print(f'{len(sources)} run, {bad} with another verdict')
    return bad != 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
