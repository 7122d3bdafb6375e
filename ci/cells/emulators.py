# SPDX-License-Identifier: MIT
"""The emulator of an architecture: the system's, or where that is too old one of the release's backports, unpacked in the cache."""

import os
import re
import shutil
import subprocess

from .debian import Suite, codename, unpack
from .error import Unavailable


def _version(emulator):
    try:
        said = subprocess.run([emulator, '--version'], capture_output=True, text=True).stdout
    except OSError:
        return 0
    found = re.search(r'version (\d+)', said)
    return int(found.group(1)) if found else 0


def find(cache, arch):
    """The words that start the emulator, of at least the version that the architecture asks for."""
    name, wanted = arch['emulator'], arch.get('at-least', 0)
    own = shutil.which(name)
    if not own:
        raise Unavailable(f'{name} is not there; install the package {arch["package"]}.')
    if _version(own) >= wanted:
        return [own]
    folder = os.path.join(cache, 'emulators', f'{arch["package"]}-{wanted}')
    unpacked = os.path.join(folder, 'usr/bin', name)
    if not os.path.exists(folder):
        _unpack(cache, arch, folder)
    if _version(unpacked) < wanted:
        raise Unavailable(f'{unpacked} does not start, or is older than QEMU {wanted}.')
    # Firmware comes with it: what the system has may be too old for it.
    return [unpacked, '-L', os.path.join(folder, 'usr/share/qemu')]


def _unpack(cache, arch, folder):
    fresh = folder + '.new'
    shutil.rmtree(fresh, ignore_errors=True)
    try:
        if not codename():
            raise Unavailable('only Debian has backports to take a newer one from.')
        host = subprocess.run(['dpkg', '--print-architecture'], capture_output=True, text=True).stdout.strip()
        suite = Suite(cache, f'{codename()}-backports', host)
        wanted = ('qemu-system-common', 'qemu-system-data', *arch.get('packages', [arch['package']]))
        for package in (one for one in wanted if suite.has(one)):
            deb, _, _ = suite.fetch(package)
            unpack(deb, fresh)
            os.remove(deb)
    except Unavailable as e:
        raise Unavailable(f'{arch["emulator"]} is older than QEMU {arch["at-least"]}: {e}')
    os.rename(fresh, folder)
