# SPDX-License-Identifier: MIT
"""What a guest runs, one job after the other: the suite as each caller, and perfabi-decode on the fixtures."""

import glob
import gzip
import os

from .error import Trouble

CAP_PERFMON = 38
CALLERS = {
    'root': (0, '-'),
    'perfmon': (65533, f'{1 << CAP_PERFMON:x}'),
    'user': (65532, '-'),
}
# Who runs the suite, at which perf_event_paranoid; "-" is the distribution's.
SUITE = (('root', '2'), ('perfmon', '2'), ('user', '2'), ('root', '-'), ('perfmon', '-'), ('user', '-'))
QUICK = (('root', '2'), ('user', '-'))
# For one case. Under -icount the guest's clock goes by instructions, and a case that never ends costs minutes of ours.
CASE_SECONDS, CASE_SECONDS_ICOUNT = '180', '10'
WORDS_MAX = 40  # of a command, as in ci/guest/init.c


def check_words(words):
    """Whether a line of /plan can have them."""
    if len(words) > WORDS_MAX:
        raise Trouble(f'a guest takes {WORDS_MAX} words of a command, not {len(words)}; a suite or a glob stands for many ids')
    for word in words:
        if set(word) & set('\t\n\0') or not word:
            raise Trouble(f'a guest takes no word that is empty or has a tab or a newline: {word!r}')


class Job:
    # `seconds`: it ends when it has said nothing for so long.
    def __init__(self, name, words, caller='root', paranoid='-', seconds=60, **rest):
        check_words(words)
        self.name, self.words, self.seconds = name, words, seconds
        self.caller, self.paranoid = caller, paranoid
        self.kind = rest.get('kind', 'suite')
        self.arch, self.expected = rest.get('arch'), rest.get('expected')  # of a decoder's job the lines
        # Of a recording's: what is opened, the records that it is for, and whether a kernel may refuse it.
        self.attr, self.holds, self.optional = rest.get('attr'), rest.get('holds', ()), rest.get('optional', False)

    def line(self):
        """The line of /plan, as ci/guest/init.c reads it."""
        uid, caps = CALLERS[self.caller]
        return '\t'.join((self.name, str(uid), caps, self.paranoid, str(self.seconds), *self.words)) + '\n'


def suite(arch, runs, seconds, is_icount, arguments):
    for i, (caller, paranoid) in enumerate(runs):
        name = f'{arch}.{caller}.{"own" if paranoid == "-" else paranoid}'
        yield Job(name, [f'/{arch}/perfabi', 'run', '--expendable', '--format', 'jsonl', '--timeout', CASE_SECONDS_ICOUNT if is_icount else CASE_SECONDS,
                         *(['--try-skipped'] if not i else []), *arguments],
                  caller, paranoid, seconds, arch=arch)


def alone(job, ids):
    """Some cases of a run of the suite, again: one after the other, with nothing beside them."""
    return Job(job.name, [*job.words, '--jobs', '1', *ids], job.caller, job.paranoid, job.seconds, arch=job.arch)


def decode(arch, top, image):
    """A job for each fixture, which is put into the image."""
    def packed(path):
        with (gzip.open if path.endswith('.gz') else open)(path, 'rb') as file:
            return file.read()

    fixtures = os.path.join(top, 'fixtures')
    for path in sorted(glob.glob(f'{fixtures}/built/*.data') + glob.glob(f'{fixtures}/built/*.ring') + glob.glob(f'{fixtures}/recorded/*.data.gz')
                       + glob.glob(f'{fixtures}/recorded/*.ring.gz')):
        plain, zipped = (path[:-3], '.gz') if path.endswith('.gz') else (path, '')
        base = os.path.splitext(plain)[0]
        if not os.path.exists(base + '.jsonl' + zipped):
            continue
        inside = 'fixtures/' + os.path.basename(plain)
        options = []
        if plain.endswith('.ring'):
            image.copy(inside + '.attr', base + '.attr.json')
            options = ['--attr', f'/{inside}.attr']
        image.file(inside, packed(path))
        yield Job(f'{arch}.decode.{os.path.basename(plain)}', [f'/{arch}/perfabi-decode', *options, '/' + inside],
                  kind='decode', arch=arch, expected=packed(base + '.jsonl' + zipped))
