# SPDX-License-Identifier: MIT
"""N free ports of 127.0.0.1, below the kernel's own range, so that no daemon's port 0 takes one first."""
import random
import socket
import sys

taken = []
while len(taken) < int(sys.argv[1]):
    s = socket.socket()
    try:
        s.bind(("127.0.0.1", random.randrange(15000, 30000)))
        taken.append(s)
    except OSError:
        s.close()
print(*[s.getsockname()[1] for s in taken])
