# SPDX-License-Identifier: MIT
"""The programs of an architecture: perfabi and perfabi-decode, static, and the first process of its guests.

The compiler and its C library are packages of the system. jansson, libzstd, zlib and liblzma are Debian's for that
architecture, unpacked in the cache.
"""

import os
import platform
import shlex
import shutil
import subprocess

from . import debian
from .error import Trouble, Unavailable

LIBRARIES = ('libjansson-dev', 'libzstd-dev', 'zlib1g-dev', 'liblzma-dev')
INIT = ('ci/guest/init.c', 'src/machine/alarm.c')  # the first process of a guest
FALLBACK = 'trixie'  # a suite with all architectures of ci/matrix.json, where the system's own has not all


def compiler(arch):
    return arch.get('prefix', arch['triplet']) + '-gcc'


def _libc(arch):
    """Its C library, to link statically; nothing if it has none (the compiler then prints the bare name)."""
    path = subprocess.run([compiler(arch), '-print-file-name=libc.a'], capture_output=True, text=True).stdout.strip()
    return path if os.path.isabs(path) else None


def needed(name, arch):
    """The system's packages to build for an architecture that are not there."""
    missing = [] if shutil.which(compiler(arch)) else [arch['compiler']]
    if missing or not _libc(arch):
        missing.append('libc6-dev' if arch['machine'] == platform.machine() else f'libc6-dev-{name}-cross')
    return missing


def _libraries(cache, name):
    """The folder with the libraries of an architecture."""
    folder = os.path.join(cache, 'libraries', name)
    made_of = os.path.join(folder, 'packages')
    if os.path.exists(made_of):
        with open(made_of) as file:
            there = {line.split()[1] for line in file}
        if there >= set(LIBRARIES):
            return folder
    suite = next((one for codename in (debian.codename(), FALLBACK) if codename
                  and (one := debian.Suite(cache, codename, name)).has(LIBRARIES[0])), None)
    if not suite:
        raise Unavailable(f'Debian {FALLBACK} has no {LIBRARIES[0]} for {name}.')
    shutil.rmtree(folder, ignore_errors=True)
    lines = []
    for package in LIBRARIES:
        deb, version, digest = suite.fetch(package)
        debian.unpack(deb, folder)
        os.remove(deb)
        lines.append(f'{suite.name} {package} {version} {digest}\n')
    with open(made_of, 'w') as file:
        file.writelines(lines)
    return folder


def _for_older_libc(arch):
    """Libraries that were built with glibc 2.38 ask for names that an older one does not have."""
    with open(_libc(arch), 'rb') as file:
        return '' if b'__isoc23_strtoll' in file.read() else ' -Wl,--defsym=__isoc23_strtoll=strtoll'


def build(top, cache, name, arch, out):
    """Builds the three into the folder `out`; make sees what is out of date. Returns their paths."""
    cc = compiler(arch)
    missing = needed(name, arch)
    if missing:
        raise Unavailable(f'{cc} and a C library to link with are not there; install {" ".join(missing)}.')
    # By a name that is the same wherever the cache is: make builds anew what other flags were for.
    libraries = os.path.join(out, 'libraries')
    os.makedirs(out, exist_ok=True)
    there = _libraries(cache, name)
    if not os.path.islink(libraries) or os.readlink(libraries) != there:
        if os.path.islink(libraries):
            os.remove(libraries)
        os.symlink(there, libraries)
    where = f'{libraries}/usr/lib/{arch["triplet"]}'
    headers = f'-isystem {libraries}/usr/include/{arch["triplet"]} -isystem {libraries}/usr/include'
    environment = {**os.environ, 'PKG_CONFIG_LIBDIR': f'{where}/pkgconfig', 'PKG_CONFIG_SYSROOT_DIR': libraries, 'PKG_CONFIG_PATH': ''}
    flags = [f'CC={cc}', f'CPPFLAGS={headers}', f'LDFLAGS=-L{where}{_for_older_libc(arch)}', f'B={out}', 'STATIC=1']
    _run(['make', '-s', f'-j{os.cpu_count()}', *flags, f'{out}/perfabi', f'{out}/perfabi-decode'], top, environment)
    init = os.path.join(out, 'init')
    sources = [os.path.join(top, name) for name in INIT]
    if not os.path.exists(init) or os.path.getmtime(init) < max(os.path.getmtime(source) for source in sources):
        _run([cc, '-std=c11', '-D_GNU_SOURCE', '-O2', '-Wall', '-Wextra', '-Wshadow', '-Wconversion', '-Isrc', *shlex.split(headers),
              '-static', '-o', init, *sources, f'-L{where}', '-lz'], top, environment)
    return {'perfabi': f'{out}/perfabi', 'perfabi-decode': f'{out}/perfabi-decode', 'init': init}


def _run(words, top, environment):
    done = subprocess.run(words, cwd=top, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise Trouble(f'{shlex.join(words)}\n{done.stdout}{done.stderr}'.rstrip())


def bits(program):
    """Of its long, 32 or 64, as its ELF has it."""
    with open(program, 'rb') as file:
        return {1: 32, 2: 64}[file.read(5)[4]]


def own(top, program):
    """perfabi or perfabi-decode for this machine."""
    _run(['make', '-s', f'build/{program}'], top, os.environ)
    return os.path.join(top, 'build', program)


def own_decoder(top):
    return own(top, 'perfabi-decode')


def busybox(cache, name):
    """The path of a static busybox of an architecture."""
    folder = os.path.join(cache, 'shells', name)
    path = os.path.join(folder, 'usr/bin/busybox')
    if not os.path.exists(path):
        deb, _, _ = debian.Suite(cache, FALLBACK, name).fetch('busybox-static')
        debian.unpack(deb, folder)
        os.remove(deb)
    return path
