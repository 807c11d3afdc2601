# SPDX-License-Identifier: MIT
"""Lists the records of a dump as another project's reader sees them, in the columns of tests/unit/list_records.c:
place, kind, url, length, SHA-1 of the block, of the HTTP body, of it without codings.

usage: other_readers.py warcio|fastwarc FILE      exit 3: that reader cannot read the file
"""
import base64
import hashlib
import sys


def sha1(data):
    return base64.b32encode(hashlib.sha1(data).digest()).decode()


def kind(rec_type, content_type, uri):
    """As src/read/warc.c and arc.c see it."""
    if any(uri.startswith(s) for s in ("metadata:", "dns:", "whois:", "filedesc:")):
        return "other"
    if rec_type == "response":
        return "response" if not content_type or content_type.startswith("application/http") else "other"
    return {"resource": "payload", "conversion": "text"}.get(rec_type, "other")


def emit(place, what, uri, length, block, body, content):
    out = [str(place), what, uri, str(length)]
    out.append("-" if what == "other" else sha1(block))
    out += [sha1(body) if body is not None else "-", sha1(content) if content is not None else "-"]
    print("\t".join(out))


def warcio(path):
    from warcio.archiveiterator import ArchiveIterator

    rows = []
    with open(path, "rb") as raw, open(path, "rb") as parsed:
        a, b = ArchiveIterator(raw, no_record_parse=True, arc2warc=True), ArchiveIterator(parsed, arc2warc=True)
        for x, y in zip(a, b):
            uri = (x.rec_headers.get_header("WARC-Target-URI") or "").strip()
            if uri.startswith("<") and uri.endswith(">"):
                uri = uri[1:-1]
            if x.rec_type == "warcinfo" and ".arc" in path:
                uri = "filedesc://"
            what = kind(x.rec_type, x.rec_headers.get_header("Content-Type") or "", uri)
            block = x.raw_stream.read()
            body = content = None
            if what == "response":
                body = y.raw_stream.read()
                content = b""
            rows.append([a.get_record_offset(), what, uri, x.rec_headers.get_header("Content-Length"), block, body, content])
    # Decode bodies in a separate pass, because a body can be read only once.
    with open(path, "rb") as f:
        for row, y in zip(rows, ArchiveIterator(f, arc2warc=True)):
            if row[1] == "response":
                row[6] = y.content_stream().read()
    for row in rows:
        emit(*row)


def fastwarc(path):
    from fastwarc.warc import ArchiveIterator

    for r in ArchiveIterator(open(path, "rb"), parse_http=False):
        uri = (r.headers.get("WARC-Target-URI") or "").strip()
        if uri.startswith("<") and uri.endswith(">"):
            uri = uri[1:-1]
        what = kind(r.headers.get("WARC-Type").lower(), r.headers.get("Content-Type") or "", uri)
        pos = r.stream_pos
        block = r.reader.read()
        body = None
        if what == "response":
            head, sep, rest = block.partition(b"\r\n\r\n")
            body = rest if sep else None
        emit(pos, what, uri, len(block), block, body, None)


try:
    {"warcio": warcio, "fastwarc": fastwarc}[sys.argv[1]](sys.argv[2])
except Exception as e:  # any error of the reader for a file that it cannot read
    print(f"{type(e).__name__}: {e}", file=sys.stderr)
    sys.exit(3)
