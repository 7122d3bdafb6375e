# SPDX-License-Identifier: MIT
"""An initramfs: a cpio archive as the kernel reads it (newc; Documentation/driver-api/early-userspace/buffer-format.rst)."""

import gzip
import os
import stat


class Initramfs:
    def __init__(self):
        self.parts, self.folders, self.number = [], set(), 0

    def _entry(self, name, mode, data=b''):
        name = name.encode() + b'\0'
        self.number += 1
        fields = (self.number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name), 0)
        head = b'070701' + b''.join(b'%08x' % field for field in fields) + name
        for part in (head, data):
            self.parts.append(part + b'\0' * (-len(part) % 4))

    def folder(self, name):
        if not name or name in self.folders:
            return
        self.folder(os.path.dirname(name))
        self.folders.add(name)
        self._entry(name, stat.S_IFDIR | 0o755)

    def file(self, name, data, mode=0o644):
        self.folder(os.path.dirname(name))
        self._entry(name, stat.S_IFREG | mode, data)

    def copy(self, name, path):
        with open(path, 'rb') as file:
            self.file(name, file.read(), 0o755 if os.access(path, os.X_OK) else 0o644)

    def write(self, path):
        self._entry('TRAILER!!!', 0)
        with gzip.open(path, 'wb', compresslevel=1) as file:
            file.write(b''.join(self.parts))
