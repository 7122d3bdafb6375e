# SPDX-License-Identifier: MIT
"""The emulator of an architecture: the system's, or where that is too old one of the release's backports, unpacked in the cache."""

import os
import re
import shutil
import subprocess

from .debian import Suite, codename, unpack
from .error import Trouble


def _version(emulator):
    try:
        said = subprocess.run([emulator, '--version'], capture_output=True, text=True).stdout
    except OSError:
        return 0
    found = re.search(r'version (\d+)', said)
    return int(found.group(1)) if found else 0


def find(cache, arch):
    """The path of the emulator, of at least the version that the architecture asks for."""
    name, wanted = arch['emulator'], arch.get('at-least', 0)
    own = shutil.which(name)
    if own and _version(own) >= wanted:
        return own
    unpacked = os.path.join(cache, 'emulators', str(wanted), 'usr/bin', name)
    if not own:
        raise Trouble(f'{name} is not there; install the package {arch["package"]}.')
    if _version(unpacked) >= wanted:
        return unpacked
    try:
        if not codename():
            raise Trouble('only Debian has backports to take a newer one from.')
        suite = Suite(cache, f'{codename()}-backports', subprocess.run(['dpkg', '--print-architecture'], capture_output=True, text=True).stdout.strip())
        for package in ('qemu-system-common', 'qemu-system-data', *(p for p in arch.get('packages', [arch['package']]) if suite.has(p))):
            deb, _, _ = suite.fetch(package)
            unpack(deb, os.path.join(cache, 'emulators', str(wanted)))
            os.remove(deb)
    except Trouble as e:
        raise Trouble(f'{name} is older than QEMU {wanted}: {e}')
    if _version(unpacked) < wanted:
        raise Trouble(f'{name} of {suite.name} does not start: {unpacked}')
    return unpacked
