# SPDX-License-Identifier: MIT
"""ci/pmu's kernel module, built for a cell's kernel: with Debian's headers of that kernel, by the compiler that built it.

Headers, compiler and all that these need are unpacked into a root below the cache, and make runs there. That takes root, or a kernel
that lets users have namespaces.
"""

import hashlib
import os
import re
import shutil
import subprocess
import tempfile

from . import debian
from .error import Trouble, Unavailable

SOURCES = ('perfabi_pmu.c', 'Makefile')
BASE = ('base-files', 'bash', 'coreutils', 'diffutils', 'findutils', 'gawk', 'grep', 'make', 'sed')


def _host():
    """Debian's name of this machine's architecture."""
    return subprocess.run(['dpkg', '--print-architecture'], capture_output=True, text=True, check=True).stdout.strip()


def _compiler(kernel, arch, is_native):
    """The package of the compiler that the kernel's configuration names."""
    with open(kernel['config']) as file:
        said = re.search(r'CONFIG_CC_VERSION_TEXT="(?:[a-z0-9_]+-linux-gnu[a-z]*-)?(gcc-[0-9]+)', file.read())
    if not said:
        raise Unavailable(f'the configuration of {kernel["release"]} does not say which gcc built it.')
    return said.group(1) if is_native else f'{said.group(1)}-{arch["triplet"].replace("_", "-")}'


def _unpack_root(cache, cell, kernel, arch, root):
    host = _host()
    native, target = debian.Suite(cache, cell['suite'], host, whole=True), debian.Suite(cache, cell['suite'], cell['arch'])
    release = kernel['release']
    version = re.match(r'[0-9.]+(?:\+deb[0-9]+)?', release).group(0)
    kbuild = next((name for name in (f'linux-kbuild-{version}', f'linux-kbuild-{".".join(version.split(".")[:2])}') if native.has(name)), None)
    common = f'linux-headers-{release.removesuffix("-" + cell["flavour"])}-common' + ('-rt' if cell['flavour'].startswith('rt-') else '')
    if not kbuild:
        raise Unavailable(f'Debian {cell["suite"]} has no linux-kbuild for {release}.')
    with tempfile.TemporaryDirectory(dir=native.debs) as scratch:
        debs = native.fetch_with_all([*BASE, kbuild, _compiler(kernel, arch, host == cell['arch'])], scratch)
        # In a merged /usr the links come first.
        for deb in sorted(debs, key=lambda name: not os.path.basename(name).startswith('base-files')):
            debian.unpack(deb, root)
    for package in (f'linux-headers-{release}', common):
        deb, _, _ = target.fetch(package)
        debian.unpack(deb, root)
        os.remove(deb)


def _root(cache, cell, kernel, arch):
    """A root with what builds modules for a kernel."""
    root = os.path.join(cache, 'roots', f'{kernel["release"]}-{cell["arch"]}')
    if not os.path.exists(root):
        fresh = root + '.new'
        shutil.rmtree(fresh, ignore_errors=True)
        os.makedirs(fresh)
        _unpack_root(cache, cell, kernel, arch, fresh)
        for folder in ('dev', 'proc'):
            os.makedirs(os.path.join(fresh, folder), exist_ok=True)
        for link, program in (('bin/sh', 'bash'), ('usr/bin/awk', 'gawk')):  # which their packages make as they are installed
            if not os.path.lexists(os.path.join(fresh, link)):
                os.symlink(program, os.path.join(fresh, link))
        os.rename(fresh, root)
    return root


def _make(root, release):
    """make in the root; its /dev and /proc are ours, in a mount namespace that ends with it."""
    unshare = ['unshare', '--mount'] if os.geteuid() == 0 else ['unshare', '--mount', '--map-root-user']
    script = 'mount --rbind /dev "$0/dev" && mount --rbind /proc "$0/proc" && exec chroot "$0" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C make -C "/usr/src/linux-headers-$1" M=/module modules'
    return subprocess.run([*unshare, 'sh', '-c', script, root, release], capture_output=True, text=True)


def build(top, cache, cell, kernel, arch):
    """The path of the module for a cell's kernel, in the cache if its sources have not changed."""
    texts = []
    for name in SOURCES:
        with open(os.path.join(top, 'ci/pmu', name), 'rb') as file:
            texts.append(file.read())
    digest = hashlib.sha256(b'\0'.join(texts)).hexdigest()[:16]
    out = os.path.join(cache, 'modules', f'{kernel["release"]}-{cell["arch"]}-{digest}.ko')
    if os.path.exists(out):
        return out
    if not kernel['config']:
        raise Unavailable(f'{kernel["release"]} has no configuration, by which the module would be built.')
    root = _root(cache, cell, kernel, arch)
    folder = os.path.join(root, 'module')
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for name, text in zip(SOURCES, texts):
        with open(os.path.join(folder, name), 'wb') as file:
            file.write(text)
    done = _make(root, kernel['release'])
    if done.returncode:
        raise Trouble(f'ci/pmu cannot be built for {kernel["release"]}:\n{done.stdout}{done.stderr}'.rstrip())
    os.makedirs(os.path.dirname(out), exist_ok=True)
    shutil.copy(os.path.join(folder, 'perfabi_pmu.ko'), out + '.new')
    os.rename(out + '.new', out)
    return out
