# SPDX-License-Identifier: MIT
"""A kernel built from the source package of a distribution, whose perf lines gcov counts; and one whose perf lines have mutants instead."""

import glob
import hashlib
import json
import os
import shutil
import subprocess

from . import debian, mutants
from .error import Trouble, Unavailable

# What `make kernel-coverage` counts, and how gcov compiles them: a line that is inlined elsewhere is not lost.
MEASURED = ('kernel/events/core', 'kernel/events/ring_buffer', 'kernel/events/hw_breakpoint', 'kernel/events/callchain', 'kernel/events/uprobes',
            'kernel/trace/trace_event_perf', 'arch/x86/kernel/hw_breakpoint')
# Inlining is left to what the kernel needs, so that each function has lines of its own.
PLAIN = '-fno-early-inlining -fno-inline-functions-called-once -fno-ipa-cp -fno-partial-inlining'
PACKAGES = ('bc', 'bison', 'cpio', 'flex', 'gcc', 'libelf-dev', 'libssl-dev', 'make', 'xz-utils')
BUILD_SECONDS = 3 * 3600


def missing():
    """Packages of the system that building a kernel needs and that are not there."""
    found = {line.split()[0] for line in subprocess.run(['dpkg-query', '-W', '-f', '${Package} ${db:Status-Status}\n', *PACKAGES], capture_output=True, text=True).stdout.splitlines()
             if line.endswith(' installed')}
    return [name for name in PACKAGES if name not in found]


def _text(path):
    """What a small file has, or an empty text where there is none."""
    try:
        with open(path) as file:
            return file.read().strip()
    except FileNotFoundError:
        return ''


def _run(words, folder, log):
    with open(log, 'ab') as file:
        file.write(f'$ {" ".join(words)}\n'.encode())
        file.flush()
        if subprocess.run(words, cwd=folder, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT, timeout=BUILD_SECONDS).returncode:
            raise Trouble(f'{" ".join(words)} has failed; see {log}')


def _unpack(cache, suite, package, folder):
    deb, version, _ = debian.Suite(cache, suite, 'amd64').fetch(package)
    scratch = folder + '.deb'
    shutil.rmtree(scratch, ignore_errors=True)
    debian.unpack(deb, scratch)
    os.remove(deb)
    archive = next(glob.iglob(f'{scratch}/usr/src/{package}.tar.*'), None)
    if not archive:
        raise Unavailable(f'{package} of Debian {suite} has no archive; does Debian put the source elsewhere now?')
    os.makedirs(folder)
    subprocess.run(['tar', '-xf', archive, '--strip-components=1', '-C', folder], check=True)
    shutil.rmtree(scratch)
    with open(os.path.join(folder, '.debian-version'), 'w') as file:
        file.write(version)


def _measure(src, does):
    """Has gcov compile the files above, or not."""
    for stem in MEASURED:
        makefile, name = os.path.join(src, os.path.dirname(stem), 'Makefile'), os.path.basename(stem) + '.o'
        lines = f'\nGCOV_PROFILE_{name} := y\nCFLAGS_{name} += {PLAIN}\n'
        with open(makefile) as file:
            text = file.read().replace(lines, '')
        with open(makefile, 'w') as file:
            file.write(text + lines * does)


def _lost(fragment, config):
    """What the fragment wants and the configuration does not have."""
    with open(config) as file:
        there = set(file.read().splitlines())
    with open(fragment) as file:
        wanted = [line.strip() for line in file if line.startswith('CONFIG_')]
    return [line for line in wanted if line not in there and not (line.endswith('=n') and f'# {line[:-2]} is not set' in there)
            and not (line.endswith('=n') and not any(one.startswith(line[:-1]) for one in there))]


def build(cache, top, suite, package, without=()):
    """The kernel, built if the fragment is another. As kernels.fetch() returns one, and `src`. One `without` some options is not measured either."""
    folder = os.path.join(cache, 'source', package)
    if without:  # has a folder of its own
        folder = os.path.join(folder, 'without-' + hashlib.sha256(' '.join(without).encode()).hexdigest()[:8])
    src, log, stamp = os.path.join(folder, 'src'), os.path.join(folder, 'build.log'), os.path.join(folder, 'built')
    if not os.path.exists(os.path.join(src, '.debian-version')):
        shutil.rmtree(src, ignore_errors=True)
        if os.path.exists(stamp):
            os.remove(stamp)
        os.makedirs(folder, exist_ok=True)
        _unpack(cache, suite, package, src)
    with open(os.path.join(top, 'ci/kernel.config')) as file:
        lines = [line for line in file if not line.startswith(tuple(f'CONFIG_{name}' for name in without))]
    digest = hashlib.sha256(''.join(lines).encode()).hexdigest()
    if _text(stamp) != digest:
        if missing():
            raise Unavailable(f'building a kernel needs {" ".join(missing())}')
        fragment = os.path.join(folder, 'fragment')
        with open(fragment, 'w') as file:
            file.writelines(lines)
        if not without:
            _measure(src, True)
        _run(['make', '-s', 'tinyconfig'], src, log)
        _run(['scripts/kconfig/merge_config.sh', '-m', '.config', fragment], src, log)
        _run(['make', '-s', 'olddefconfig'], src, log)
        lost = _lost(fragment, os.path.join(src, '.config'))
        if lost:
            raise Trouble(f'this kernel does not take of ci/kernel.config: {" ".join(lost)}')
        with open(os.path.join(src, '.config')) as file:
            kept = [line.strip() for line in file if line.startswith(tuple(f'CONFIG_{name}' for name in without))]
        if kept:
            raise Trouble(f'this kernel has {" ".join(kept)}, which it is to be without')
        _run(['make', '-s', f'-j{os.cpu_count()}', 'bzImage', 'modules_prepare'], src, log)
        shutil.copy(os.path.join(src, 'vmlinux.symvers'), os.path.join(src, 'Module.symvers'))
        with open(stamp, 'w') as file:
            file.write(digest)
    return _kernel(src, package)


def _kernel(src, package):
    return {'release': _text(os.path.join(src, 'include/config/kernel.release')), 'image': os.path.join(src, 'arch/x86/boot/bzImage'),
            'config': os.path.join(src, '.config'), 'src': src, 'package': package, 'version': _text(os.path.join(src, '.debian-version'))}


def mutate(kernel, top):
    """That kernel with mutants in the files above, and without gcov: it, and its mutants in the order of their numbers, from 1 on."""
    folder = os.path.dirname(kernel['src'])
    src, stamp = os.path.join(folder, 'mutated'), os.path.join(folder, 'mutated.built')
    texts, found = {}, []
    for stem in MEASURED:
        with open(os.path.join(kernel['src'], stem + '.c')) as file:
            source = file.read()
        of_file = list(mutants.find(stem + '.c', source))
        for one in of_file:
            found.append(one)
            one.number = len(found)
        texts[stem + '.c'] = mutants.put(source, of_file)
    for name, place in (('perf_mutant.h', 'include/linux'), ('perf_mutant.c', os.path.dirname(MEASURED[0]))):
        with open(os.path.join(top, 'ci/mutants', name)) as file:
            texts[f'{place}/{name}'] = file.read()
    texts[MEASURED[0] + '.c'] += f'\n#define PERF_MUTANTS {len(found)}\n#include "perf_mutant.c"\n'
    digest = hashlib.sha256(json.dumps([_text(os.path.join(folder, 'built')), texts]).encode()).hexdigest()
    if _text(stamp) != digest:
        subprocess.run(['rm', '-rf', src], check=True)
        subprocess.run(['cp', '-a', kernel['src'], src], check=True)  # with what is compiled
        _measure(src, False)
        for name, text in texts.items():
            with open(os.path.join(src, name), 'w') as file:
                file.write(text)
        _run(['make', '-s', f'-j{os.cpu_count()}', 'bzImage'], src, os.path.join(folder, 'mutated.log'))
        with open(stamp, 'w') as file:
            file.write(digest)
    return _kernel(src, kernel['package']), found


def module(top, kernel):
    """ci/pmu's module for such a kernel."""
    folder = os.path.join(os.path.dirname(kernel['src']), 'module')
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(os.path.join(top, 'ci/pmu'), folder)
    _run(['make', '-s', '-C', kernel['src'], f'M={folder}', 'modules'], folder, os.path.join(os.path.dirname(kernel['src']), 'module.log'))
    return os.path.join(folder, 'perfabi_pmu.ko')
