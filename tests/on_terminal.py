#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Run a command with a terminal for some of its streams: on_terminal.py STREAMS COMMAND…

STREAMS names them: out, err, in, or several with commas.  The text sent to the terminal is written to standard output,
with \\r\\n replaced by \\n; the other streams are ours.  The exit status is the command's."""
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
        except OSError:     # the last process with the terminal has ended
            break
        if not data:
            break
        got += data
    sys.stdout.buffer.write(got.replace(b'\r\n', b'\n'))
    sys.stdout.flush()
    sys.exit(process.wait())


main()
