# SPDX-License-Identifier: MIT
"""A cell's guest: put together, booted, and what it handed out."""

import os
import secrets
import shlex
import shutil
import signal
import subprocess
import tempfile
import time

from . import blocks
from .error import Trouble
from .initramfs import Initramfs
from .user_mode import UserMode

QUIET_SECONDS = 120  # for which a guest may hand out nothing and its console say nothing, beside what its jobs may
FIRST_SECONDS = 900  # within which a kernel comes to its first process
LOOK_SECONDS = 30  # between looks at what it has handed out, for all of its memory is read
LOADED_SECONDS = 20  # after which an emulator has read its kernel and initramfs
DISK = 256 << 20  # bytes, of a user-mode guest


def _roomy(size):
    """A folder for the file that is the guest's RAM: in memory if there is room."""
    shm = '/dev/shm'
    if os.access(shm, os.W_OK) and shutil.disk_usage(shm).free > 2 * size:
        return shm
    return None


def _children(pid):
    """The processes that a process has started, and those that these have."""
    found = []
    try:
        with open(f'/proc/{pid}/task/{pid}/children') as file:
            for child in file.read().split():
                found += [int(child), *_children(child)]
    except OSError:
        pass
    return found


def _hold_processes(pids):
    """File descriptors of those that are there: a number may be another process's by the time it is used."""
    held = []
    for pid in pids:
        try:
            held.append(os.pidfd_open(pid))
        except ProcessLookupError:
            pass
    return held


def _end(process):
    """Ends an emulator and what it has started: a user-mode kernel has a session and processes of its own, which it ends itself if it is asked to."""
    if process.poll() is None:
        held = _hold_processes(_children(process.pid))
        process.terminate()
        try:
            process.wait(3)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
        for one in held:
            try:
                signal.pidfd_send_signal(one, signal.SIGKILL)
            except ProcessLookupError:
                pass
            os.close(one)
    process.wait()


class Progress:
    """Whether a guest goes on: what it has handed out, or its console, is more than it was."""

    def __init__(self, quiet):
        self.quiet, self.seen, self.since, self.looked = quiet, None, 0, None

    def is_over(self, now, look):
        """Asked often; look() says what is there now, and is called every LOOK_SECONDS."""
        if self.looked is None or now - self.looked >= LOOK_SECONDS:
            self.looked = now
            seen = look()
            if seen != self.seen:
                self.seen, self.since = seen, now
        return now - self.since > self.quiet


class Guest:
    """One boot. `scratch` goes away with close()."""

    def __init__(self, cell, arch, kernel, emulator, built, module=None):
        """`built` are the programs of each architecture, as programs.build() returns them; `module` is ci/pmu's, for the PMUs of the cell."""
        self.cell, self.arch, self.kernel, self.emulator = cell, arch, kernel, emulator
        self.megabytes = cell.get('memory', arch.get('memory', 512))
        self.nonce = secrets.token_bytes(blocks.NONCE)
        self.scratch = tempfile.mkdtemp(prefix='perfabi-cell-', dir=_roomy(self.megabytes << 20))
        self.image, self.file, self.user_mode = Initramfs(), None, None
        try:
            if 'user-mode' in cell:
                self.user_mode = UserMode(kernel['image'], kernel['libraries'])
            for folder in ('proc', 'sys', 'dev', 'tmp', 'run'):
                self.image.folder(folder)
            if kernel['config']:
                self.image.copy(f'boot/config-{kernel["release"]}', kernel['config'])
            self.image.copy('init', built[cell['arch']]['init'])
            for name, paths in built.items():
                for program in ('perfabi', 'perfabi-decode'):
                    self.image.copy(f'{name}/{program}', paths[program])
            if module:
                self.image.copy('modules/perfabi_pmu.ko', module)
                self.image.file('modules/pmus', ''.join(f'{line}\n' for line in cell['pmus']).encode())
        except BaseException:
            self.close()
            raise

    def close(self):
        if self.file:
            self.file.close()
        self._remove()

    def _remove(self):
        if self.user_mode:
            self.user_mode.close()
        shutil.rmtree(self.scratch, ignore_errors=True)

    @property
    def out(self):
        """The file where the guest's blocks are."""
        return os.path.join(self.scratch, 'out')

    def words(self, serial='stdio'):
        initrd = os.path.join(self.scratch, 'initrd')
        append = f'console={self.arch["console"]} loglevel=5 panic=-1 cell.nonce={self.nonce.hex()}'
        more = shlex.split(self.cell.get('command-line', ''))
        if 'user-mode' in self.cell:
            with open(self.out, 'wb') as disk:
                disk.truncate(DISK)
            return [*self.user_mode.words, f'mem={self.megabytes}M', f'initrd={initrd}', f'ubd0={self.out}', 'con0=null,fd:1', 'con=null',
                    'loglevel=5', 'panic=-1', f'cell.nonce={self.nonce.hex()}', 'cell.disk=/dev/ubda', f'uml_dir={self.scratch}', *more]
        arguments = shlex.split(self.cell.get('arguments', self.arch['arguments']))
        machine = arguments.index('-M') + 1
        common = ['-smp', str(self.cell.get('cpus', 2)), '-m', str(self.megabytes), '-nographic', '-no-reboot', '-nodefaults']
        tree = self._device_tree(arguments, machine, common) if 'device-tree' in self.cell else []
        arguments[machine] += ',memory-backend=ram0'
        return [*self.emulator, *arguments, *common, *tree, '-serial', serial,
                '-object', f'memory-backend-file,id=ram0,size={self.megabytes}M,mem-path={self.out},share=on',
                '-kernel', self.kernel['image'], '-initrd', initrd, '-append', ' '.join([append, *more])]

    def _device_tree(self, arguments, machine, common):
        """The emulator's own device tree, changed by what the cell has, which may refer to what is there."""
        blob, source = os.path.join(self.scratch, 'dtb'), os.path.join(self.scratch, 'dts')
        dump = [*arguments[:machine], f'{arguments[machine]},dumpdtb={blob}', *arguments[machine + 1:]]
        own = [f'/dts-v1/; /include/ "{source}"', *self.cell['device-tree']]
        for words, said in (([*self.emulator, *dump, *common], None), (['dtc', '-q', '-I', 'dtb', '-O', 'dts', '-o', source, blob], None),
                            (['dtc', '-q', '-O', 'dtb', '-o', blob], ' '.join(own))):
            try:
                subprocess.run(words, input=said or '', capture_output=True, text=True, check=True, timeout=60)
            except (OSError, subprocess.SubprocessError) as e:
                raise Trouble(f'{self.cell["name"]}: no device tree: {getattr(e, "stderr", None) or e}')
        return ['-dtb', blob]

    def boot(self, plan, console, quiet, deadline, tick):
        """Runs the plan. `console` is where the guest's console goes; tick() is called each second, and may end it.

        It ends, too, when the guest has not gone on for `quiet` seconds, which are what a job of it may be silent, or after `deadline` (None:
        there is none). Why it was ended, or None."""
        self.image.file('plan', plan.encode())
        self.image.write(os.path.join(self.scratch, 'initrd'))
        began, speaks, why = time.monotonic(), False, None
        progress = Progress(quiet + QUIET_SECONDS)

        def look():
            streams = self.streams() if self.file else {}
            return os.path.getsize(console), sum(map(len, streams.values()))

        with open(console, 'wb') as log:
            # Should nobody be left who would end the guest, the kernel does.
            process = subprocess.Popen(['setpriv', '--pdeathsig', 'KILL', *self.words()], stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, start_new_session=True)
            try:
                while process.poll() is None and not why:
                    time.sleep(1)
                    past = time.monotonic() - began
                    self._hold(past)
                    tick()
                    if deadline and past > deadline:
                        why = f'its {deadline} s were over'
                    elif progress.is_over(past, look):
                        why = f'it did nothing for {progress.quiet} s'
                    elif not speaks and past > FIRST_SECONDS:
                        speaks = bool(self.file and self.streams())
                        why = None if speaks else f'it was not at its first process within {FIRST_SECONDS} s'
                self._hold(LOADED_SECONDS)
            finally:
                _end(process)
        return why

    def _hold(self, seconds):
        """Opens the file with the guest's blocks, and once the emulator has all it needs, takes away the names: whoever kills us leaves nothing."""
        if not self.file and os.path.exists(self.out):
            self.file = open(self.out, 'rb')
        if self.file and seconds >= LOADED_SECONDS:
            self._remove()

    def shell(self):
        """For a person at this terminal, until the guest is off."""
        self.image.write(os.path.join(self.scratch, 'initrd'))
        words = self.words('mon:stdio')
        process = subprocess.Popen([word.replace('con0=null,fd:1', 'con0=fd:0,fd:1') for word in words])
        try:
            return process.wait()
        finally:
            process.terminate()  # a user-mode kernel ends its own processes
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()

    def streams(self):
        if not self.file:
            raise Trouble('the emulator did not start; its console says why.')
        return blocks.read(self.file, self.nonce)
