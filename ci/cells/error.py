# SPDX-License-Identifier: MIT
"""What stops `ci/matrix`, or one cell of it: a message for people, with what to do."""


class Trouble(Exception):
    pass


class Unavailable(Trouble):
    """Something is not to be had here or now: no fault of what is tested."""
