# SPDX-License-Identifier: MIT
"""Packages of any Debian suite and architecture, through apt, without touching what the system has.

A suite and architecture get a state of their own below the cache: lists, sources and an empty list of installed
packages. The mirror, proxies and the like are those of the system's own configuration. apt checks what it downloads
against Debian's keys.
"""

import hashlib
import os
import re
import subprocess
import time

from .error import Unavailable

KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg'
MIRROR = 'http://deb.debian.org/debian'
LISTS_LAST = 24 * 3600  # seconds


def mirror():
    """Where the system gets Debian's packages from; Debian's own mirror if it gets none."""
    targets = subprocess.run(['apt-get', 'indextargets', '--format', '$(REPO_URI) $(ORIGIN) $(LABEL)', 'Created-By: Packages'],
                             capture_output=True, text=True).stdout
    for line in targets.splitlines():
        uri, _, origin = line.partition(' ')
        if origin == 'Debian Debian':
            return uri
    return MIRROR


def codename():
    """The name of the Debian release that this is, or an empty text."""
    try:
        with open('/etc/os-release') as file:
            release = dict(line.rstrip().replace('"', '').split('=', 1) for line in file if '=' in line)
    except OSError:
        return ''
    return release.get('VERSION_CODENAME', '') if release.get('ID') == 'debian' else ''


class Suite:
    """The packages of one suite for one architecture; with `whole`, of backports and what they are for."""

    def __init__(self, cache, suite, arch, whole=False):
        self.name, self.arch = suite, arch
        self.names = [suite, suite.removesuffix('-backports')] if whole and suite.endswith('-backports') else [suite]
        self.debs = os.path.join(cache, 'debs')
        self.dir = os.path.join(cache, 'apt', f'{"+".join(self.names)}-{arch}')

    def _apt(self, *words, **options):
        return subprocess.run(words, capture_output=True, text=True, errors='replace',
                              env={**os.environ, 'APT_CONFIG': os.path.join(self.dir, 'apt.conf'), 'LC_ALL': 'C'}, **options)

    def _set_up(self):
        for folder in ('state/lists/partial', 'cache/archives/partial'):
            os.makedirs(os.path.join(self.dir, folder), exist_ok=True)
        os.makedirs(self.debs, exist_ok=True)
        signed = f' signed-by={KEYRING}' if os.path.exists(KEYRING) else ''
        files = {
            'status': '',
            'sources.list': ''.join(f'deb [arch={self.arch}{signed}] {mirror()} {name} main\n' for name in self.names),
            'apt.conf': f'''APT::Architecture "{self.arch}";
APT::Architectures {{ "{self.arch}"; }};
APT::Sandbox::User "";
Dir::State "{self.dir}/state";
Dir::State::status "{self.dir}/status";
Dir::Cache "{self.dir}/cache";
Dir::Etc::sourcelist "{self.dir}/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
Acquire::Languages "none";
''',
        }
        for name, text in files.items():
            with open(os.path.join(self.dir, name), 'w') as file:
                file.write(text)

    def update(self):
        """Fetches the lists of packages, unless those of today are there."""
        stamp = os.path.join(self.dir, 'updated')
        if os.path.exists(stamp) and time.time() - os.path.getmtime(stamp) < LISTS_LAST:
            return
        self._set_up()
        got = self._apt('apt-get', 'update', '-q', '-o', 'APT::Update::Error-Mode=any')
        if got.returncode:
            raise Unavailable(f'Debian {self.name} for {self.arch}: its lists of packages cannot be fetched.\n{got.stderr.strip()}')
        open(stamp, 'w').close()

    def newest(self, pattern):
        """The name of the package whose whole name matches `pattern` and whose first group is the highest version."""
        self.update()
        names = self._apt('apt-cache', 'pkgnames').stdout.split()
        found = [(match.group(1), name) for name in names if (match := re.fullmatch(pattern, name))]
        if not found:
            raise Unavailable(f'Debian {self.name} for {self.arch} has no package that matches {pattern}.\n'
                              'The suite has moved on; give the cell another suite or version in ci/matrix.json.')
        return max(found, key=lambda one: [int(part) for part in re.findall(r'\d+', one[0])])[1]

    def has(self, package):
        self.update()
        return package in self._apt('apt-cache', 'pkgnames', package).stdout.split()

    def fetch(self, package, again=False):
        """The .deb of a package, in the cache. Returns its path, version and SHA-256."""
        self.update()
        shown = self._apt('apt-cache', 'show', '--no-all-versions', package).stdout
        fields = dict(line.split(': ', 1) for line in shown.splitlines() if re.match(r'\S+: ', line))
        if 'SHA256' not in fields:
            raise Unavailable(f'Debian {self.name} for {self.arch} has no package {package}.')
        path = os.path.join(self.debs, os.path.basename(fields['Filename']))
        if not (os.path.exists(path) and sha256(path) == fields['SHA256']):
            got = self._apt('apt-get', 'download', '-q', package, cwd=self.debs)
            if got.returncode and not again:  # sid's may have gone since the lists were fetched
                os.remove(os.path.join(self.dir, 'updated'))
                return self.fetch(package, again=True)
            for name in os.listdir(self.debs):  # apt writes the : of a version as %3a, the archive leaves it out
                if name.startswith(package + '_') and '%3a' in name:
                    os.replace(os.path.join(self.debs, name), path)
            if got.returncode or not os.path.exists(path) or sha256(path) != fields['SHA256']:
                raise Unavailable(f'{package} of Debian {self.name} for {self.arch} cannot be fetched.\n{got.stderr.strip()}')
        return path, fields['Version'], fields['SHA256']

    def fetch_with_all(self, packages, folder):
        """Packages, and all that they depend on, as .deb files in a folder."""
        self.update()
        os.makedirs(os.path.join(folder, 'partial'), exist_ok=True)
        got = self._apt('apt-get', 'install', '-qq', '-y', '--no-install-recommends', '--download-only', '-t', self.name, '-o', f'Dir::Cache::archives={folder}',
                        '-o', 'Debug::NoLocking=1', *packages)
        if got.returncode:
            raise Unavailable(f'{" ".join(packages)} of Debian {self.name} for {self.arch} cannot be fetched.\n{got.stderr.strip()}')
        return [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.endswith('.deb')]


def sha256(path):
    digest = hashlib.sha256()
    with open(path, 'rb') as file:
        while part := file.read(1 << 20):
            digest.update(part)
    return digest.hexdigest()


def unpack(deb, folder):
    """What a package holds, below a folder."""
    os.makedirs(folder, exist_ok=True)
    subprocess.run(['dpkg-deb', '-x', deb, folder], check=True)
