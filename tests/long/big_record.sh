#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A record of over 4 GiB: it is cut and kept byte for byte, the records after it have their right offsets, and memory is bounded.
. "$(dirname "$0")/../tap.sh"
cat >dump.py <<'END'
"""usage: dump.py plain|gz GIB: a page, a record of GIB GiB, a copy of the page, another page; on standard output"""
import random, sys, zlib
kind, size, out = sys.argv[1], int(float(sys.argv[2]) * (1 << 30)), sys.stdout.buffer
HTTP = b'HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n'
def words(n, seed):
    r = random.Random(seed)
    return ' '.join('w%05x' % r.randrange(1 << 20) for _ in range(n))
def record(url, length, body):
    z = zlib.compressobj(1, zlib.DEFLATED, 31)
    squeeze = z.compress if kind == 'gz' else lambda piece: piece
    out.write(squeeze(('WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://%s\r\nWARC-Date: 2024-01-01T00:00:00Z\r\nWARC-Record-ID: '
        '<urn:uuid:%s>\r\nContent-Type: application/http;msgtype=response\r\nContent-Length: %d\r\n\r\n' % (url, url, length + len(HTTP))).encode() + HTTP))
    for piece in body: out.write(squeeze(piece))
    out.write(squeeze(b'\r\n\r\n'))
    if kind == 'gz': out.write(z.flush())
def page(url, seed):
    body = ('<html><title>t</title><body><h1>Tides</h1><p>%s</p></body></html>' % words(300, seed)).encode()
    record(url, len(body), [body])
def large():
    piece, left = ('<p>' + words(150, 99) + '</p>\n').encode() * 1000, size
    while left > 0:
        yield piece[:left]
        left -= len(piece[:left])
page('a.example/1', 1)
record('a.example/2', size, large())
page('b.example/3', 1)
page('b.example/4', 2)
END
memory() { awk '/Maximum resident/ { print $NF }' "$1"; }
python3 dump.py gz 4.3 >big.warc.gz
run /usr/bin/time -v -o fp.time "$P" fp -q -j 2 big.warc.gz
exits "gzip: fp" 0
is "gzip: all records are pages" "$(rows "$tmp/out" | wc -l)" 4
is "gzip: the large one is cut" "$(column flags "$tmp/out" | grep -n cut | cut -c1)" 2
at_least "gzip: memory in KB" $((150000 - $(memory fp.time))) 0
copy=$(column id "$tmp/out" | sed -n 's/^big.warc.gz:\([0-9]*\)$/\1/p' | sed -n 3p) after=$(column id "$tmp/out" | sed -n 's/^big.warc.gz:\([0-9]*\)$/\1/p' | sed -n 4p)
run "$P" dedup -q -j 2 big.warc.gz -o out
exits "gzip: dedup" 0
same "gzip: the copy after the large record is removed, everything else is unchanged" <(cat out/big.warc.gz | sha1sum) \
	<({ head -c "$copy" big.warc.gz; tail -c +$((after + 1)) big.warc.gz; } | sha1sum)
run "$P" show "big.warc.gz:$copy"
exits "gzip: show a page after the large record" 0
has "gzip: show has its text" "$tmp/out" 'keep .* topic'
python3 dump.py plain 4.3 | /usr/bin/time -v -o fp.time "$P" fp -q -j 2 - >plain.fp
is "plain, through a pipe: offsets of 64 bits" "$(column id plain.fp | sed 's/.*:+*//' | awk '$1 > 4294967296' | wc -l)" 2
at_least "plain: memory in KB" $((150000 - $(memory fp.time))) 0
tap_done
