# SPDX-License-Identifier: MIT
"""The kernel of a cell: image and configuration, in the cache.

What was once fetched is used again, also without a network; `fetch(..., renew=True)` asks Debian for a newer one.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from .debian import Suite, sha256, unpack
from .error import Unavailable
from .user_mode import UserMode


def _folder(cache, cell):
    return os.path.join(cache, 'kernels', cell['name'])


def _asked(cell):
    """What a cell asks of Debian: a kernel that was fetched for something else is not its own."""
    return {key: cell.get(key) for key in ('arch', 'suite', 'flavour', 'version', 'user-mode')}


def cached(cache, cell):
    """The kernel that is there for a cell, or None: {"image", "config", "libraries", "release", "package", "version", "sha256"}."""
    folder = _folder(cache, cell)
    try:
        with open(os.path.join(folder, 'kernel.json')) as file:
            kernel = json.load(file)
        image, config = os.path.join(folder, 'image'), os.path.join(folder, 'config')
        kernel.update(image=image, config=config if os.path.exists(config) else None, libraries=os.path.join(folder, 'libraries'))
        return kernel if kernel['asked'] == _asked(cell) and sha256(image) == kernel['image-sha256'] else None
    except (OSError, ValueError, KeyError):
        return None


def fetch(cache, cell, renew=False):
    kernel = cached(cache, cell)
    if kernel and not renew:
        return kernel
    if not kernel and os.path.exists(os.path.join(_folder(cache, cell), 'kernel.json')):
        print(f'ci/matrix: {cell["name"]}: the kernel in {_folder(cache, cell)} is another than was fetched for this cell, or damaged; fetching it again', file=sys.stderr)
    try:
        return _fetch_user_mode(cache, cell) if 'user-mode' in cell else _fetch_packaged(cache, cell)
    except Unavailable as e:
        if not kernel:
            raise Unavailable(f'the cache {cache} has no kernel for it, and none can be fetched: {e}')
        print(f'ci/matrix: {cell["name"]}: {kernel["release"]} of the cache is used: {e}', file=sys.stderr)
        return kernel


def _fetch_packaged(cache, cell):
    suite = Suite(cache, cell['suite'], cell['arch'])
    version = re.escape(cell['version'] + '.') + '[0-9.]+' if 'version' in cell else '[0-9.]+'
    package = suite.newest(rf'linux-(?:binary|image)-({version}(?:[+][a-z0-9.]+)?(?:-[0-9]+)?)-{cell["flavour"]}(?:-unsigned)?')
    release = re.sub(r'^linux-(binary|image)-|-unsigned$', '', package)
    # Since 6.19 the image is in linux-binary-*, the configuration in linux-base-*.
    packages = [name for name in (f'linux-binary-{release}', f'linux-base-{release}') if suite.has(name)] or [package]
    with tempfile.TemporaryDirectory(dir=suite.debs) as scratch:
        for name in packages:
            deb, debian, digest = suite.fetch(name)
            unpack(deb, scratch)
            os.remove(deb)
            if name == packages[0]:
                found = {'package': name, 'version': debian, 'sha256': digest}
        return _keep(cache, cell, found, release,
                     _find(scratch, ('vmlinuz', f'vmlinuz-{release}', f'vmlinux-{release}')), _find(scratch, ('config', f'config-{release}')))


def _fetch_user_mode(cache, cell):
    suite = Suite(cache, cell['suite'], cell['arch'])
    suite.update()
    with tempfile.TemporaryDirectory(dir=suite.debs) as scratch:
        for name in ('libc6', cell['user-mode']):
            deb, debian, digest = suite.fetch(name)
            unpack(deb, scratch)
            os.remove(deb)
        image, libraries = _find(scratch, ('linux.uml',)), os.path.dirname(_find(scratch, ('libc.so.6',)))
        with UserMode(image, libraries) as program:
            said = subprocess.run([*program.words, '--version'], capture_output=True, text=True)
        if said.returncode:
            raise Unavailable(f'{cell["user-mode"]} does not start: {said.stderr.strip()}')
        return _keep(cache, cell, {'package': name, 'version': debian, 'sha256': digest}, said.stdout.strip(), image, None, libraries)


def _find(folder, names):
    for path, _, files in os.walk(folder):
        for name in names:
            if name in files and not path.endswith('/build'):
                return os.path.join(path, name)
    raise Unavailable(f'The package has no file {names[0]}; does Debian put the kernel elsewhere now?')


def _keep(cache, cell, found, release, image, config, libraries=None):
    folder = _folder(cache, cell)
    fresh = folder + '.new'
    shutil.rmtree(fresh, ignore_errors=True)
    os.makedirs(fresh)
    shutil.copy(image, os.path.join(fresh, 'image'))
    if config:
        shutil.copy(config, os.path.join(fresh, 'config'))
    if libraries:
        shutil.copytree(libraries, os.path.join(fresh, 'libraries'), symlinks=True)
    with open(os.path.join(fresh, 'kernel.json'), 'w') as file:
        json.dump({**found, 'asked': _asked(cell), 'release': release, 'image-sha256': sha256(os.path.join(fresh, 'image'))}, file, indent=1)
    shutil.rmtree(folder, ignore_errors=True)
    os.rename(fresh, folder)
    return cached(cache, cell)
