#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs a command with a terminal for some of its streams: on_terminal.py STREAMS COMMAND…

STREAMS names them: out, err, in, or several with commas.  What the terminal was sent goes to standard output, as it
came but for \\r\\n, which is \\n again; the other streams are ours.  Exits as the command did.
"""
import os, pty, subprocess, sys


def main():
    streams, command = sys.argv[1].split(','), sys.argv[2:]
    master, slave = pty.openpty()
    use = {name: slave if name in streams else None for name in ('in', 'out', 'err')}
    process = subprocess.Popen(command, stdin=use['in'], stdout=use['out'], stderr=use['err'])
    os.close(slave)
    got = b''
    while True:
        try:
            data = os.read(master, 65536)
        except OSError:     # the last who had the terminal is gone
            break
        if not data:
            break
        got += data
    sys.stdout.buffer.write(got.replace(b'\r\n', b'\n'))
    sys.stdout.flush()
    sys.exit(process.wait())


main()
