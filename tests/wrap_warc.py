#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Wraps a page in a WARC response record.  usage: wrap_warc.py HTTP_HEADERS PAGE > OUT.warc

HTTP_HEADERS: header lines, with or without a status line before them.
"""
import sys

head = open(sys.argv[1], 'rb').read().replace(b'\r\n', b'\n').strip(b'\n').split(b'\n')
body = open(sys.argv[2], 'rb').read()
if not head[0].startswith(b'HTTP/'):
    head.insert(0, b'HTTP/1.1 200 OK')
block = b'\r\n'.join(head) + b'\r\n\r\n' + body
out = sys.stdout.buffer
out.write(b'WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://golden.example/\r\n'
          b'WARC-Date: 2020-01-01T00:00:00Z\r\nContent-Type: application/http; msgtype=response\r\n'
          b'Content-Length: %d\r\n\r\n' % len(block))
out.write(block + b'\r\n\r\n')
