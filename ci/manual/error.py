# SPDX-License-Identifier: MIT
"""What is wrong with the sources of the reference, in words for who changes them."""


class Wrong(Exception):
    pass
