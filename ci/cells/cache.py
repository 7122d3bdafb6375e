# SPDX-License-Identifier: MIT
"""Where kernels, libraries and the like are kept: $PERFABI_CACHE, or ~/.cache/perfabi."""

import contextlib
import fcntl
import os
import sys
import threading

from .error import Unavailable

CACHE = os.environ.get('PERFABI_CACHE') or os.path.join(os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache'), 'perfabi')
IN_THIS_PROCESS = threading.Lock()


@contextlib.contextmanager
def the_cache():
    """Nobody else fetches or builds meanwhile."""
    try:
        os.makedirs(CACHE, exist_ok=True)
        lock = open(os.path.join(CACHE, 'lock'), 'w')
    except OSError as e:
        raise Unavailable(f'the cache {CACHE} cannot be written: {e.strerror}; PERFABI_CACHE names another')
    with IN_THIS_PROCESS, lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f'{os.path.relpath(sys.argv[0])}: waiting for another that fetches or builds in {CACHE}', file=sys.stderr, flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield CACHE
