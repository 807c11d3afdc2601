# SPDX-License-Identifier: MIT
"""The command, which comes with the package."""
import os
import sys


def path() -> str:
    """Return the path of the command."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), '_bin', 'pagededup')


def main() -> None:
    os.execv(path(), ['pagededup', *sys.argv[1:]])
