#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Run the cases of other projects, each a URL and its expected form, through `pagededup url`; print one line for each
difference.

usage: urls.py PAGEDEDUP CORPORA EXCEPTIONS
EXCEPTIONS holds lines FILE, INPUT, REASON separated by tabs; the input as in rows, followed by a blank and its base.
The output lists cases that differ and are not exceptions, exceptions that do not differ, and finally the number of
cases."""
import json
import os
import re
import subprocess
import sys

program, corpora, exceptions_file = sys.argv[1:]
urls = os.path.join(corpora, "urls")


def escape(s):
    """Escaped as in rows; lone surrogates become the character that browsers use."""
    b = s.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()
    out = b""
    for c in b:
        if c == 0x5C: out += b"\\\\"
        elif c == 9: out += b"\\t"
        elif c == 10: out += b"\\n"
        elif c == 13: out += b"\\r"
        elif c < 32 or c == 127: out += b"\\x%02X" % c
        else: out += bytes([c])
    return (out if out != b"-" else b"\\x2D").decode()


def unescape(b):
    def one(m):
        c = m.group(1)
        return {b"t": b"\t", b"n": b"\n", b"r": b"\r", b"\\": b"\\"}.get(c) or bytes([int(c[1:], 16)])
    return b"" if b == b"-" else re.sub(rb"\\(x..|.)", one, b)


def ask(cases, *options):
    """(input, base) -> the key, or None if it is not a URL."""
    lines = "".join(escape(i) + "\t" + (escape(b) if b else "-") + "\n" for i, b in cases)
    run = subprocess.run([program, "url", "-q", "--with-base", *options], input=lines.encode(), capture_output=True)
    if run.returncode:
        sys.exit(run.stderr.decode())
    rows = [l.split(b"\t") for l in run.stdout.splitlines() if not l.startswith(b"#")]
    assert len(rows) == len(cases), (len(rows), len(cases))
    return [None if row[0] == b"bad" else unescape(row[2]).decode("utf-8", "replace") for row in rows]


def wpt(name):
    d = json.load(open(os.path.join(urls, name)))
    for c in d:
        if isinstance(c, dict):
            yield c["input"], c.get("base"), None if c.get("failure") else c["href"]


def table(name, key=None):
    d = json.load(open(os.path.join(urls, name)))
    for i, want in (d[key] if key else d).items():
        yield i, None, want


def csv_lines(name):
    """Fields between commas; a line of one field that a comma follows; quotes as in CSV, in the files' own careless way."""
    for line in open(os.path.join(urls, name), encoding="utf-8", newline="\n"):
        line = line.rstrip("\n")
        if not line or line.startswith("#"):
            continue
        fields, rest = [], line
        while True:
            m = re.match(r'\s*"((?:[^"]|"")*)"\s*(?:,|$)', rest) or re.match(r"([^,]*)(?:,|$)", rest)
            quoted = rest.lstrip().startswith('"')
            fields.append(m.group(1).replace('""', '"') if quoted else m.group(1))
            rest = rest[m.end():]
            if not rest:
                break
        yield fields


def mojibake(s):
    """Some files hold UTF-8 that was read as Latin-1."""
    try:
        return s.encode("latin-1").decode("utf-8")
    except (UnicodeDecodeError, UnicodeEncodeError):
        return s


sets = []
sets.append(("crawler-commons/wpt-urltestdata.json", ["--form=standard"], list(wpt("crawler-commons/wpt-urltestdata.json"))))
sets.append(("urlcanon/urltestdata.json", ["--form=standard"], list(wpt("urlcanon/urltestdata.json"))))
sets.append(("urlcanon/supplemental_whatwg.json", ["--form=standard"],
             [(mojibake(i), b, w) for i, b, w in table("urlcanon/supplemental_whatwg.json")]))
for kind, prefix in (("special", "http://host"), ("nonspecial", "foo://host")):
    cases = [(prefix + i, None, prefix + w) for i, b, w in table("urlcanon/path_dots.json", kind)]
    sets.append((f"urlcanon/path_dots.json {kind}", ["--form=standard"], cases))
sets.append(("urlcanon/funky_ipv4.json", ["--form=standard"],
             [(f"http://{i}/", None, f"http://{w}/" if w else None) for i, b, w in table("urlcanon/funky_ipv4.json")]))
sets.append(("crawler-commons/url-resolve.csv", ["--form=standard"],
             [(f[0], None if f[1].strip() in ("", '""') else f[1].strip(), f[2].strip())
              for f in csv_lines("crawler-commons/url-resolve.csv")]))
sets.append(("crawler-commons/invalidUrls.csv", ["--form=canonical"],
             [(f[0], None, None) for f in csv_lines("crawler-commons/invalidUrls.csv")]))
sets.append(("crawler-commons/weirdToNormalizedUrls.csv", ["--form=canonical"],
             [(f[0], None, ",".join(f[1:]).strip()) for f in csv_lines("crawler-commons/weirdToNormalizedUrls.csv")]))
sets.append(("urlcanon/semantic_precise.json", ["--form=canonical", "--keep-fragment"],
             [(mojibake(i), b, w) for i, b, w in table("urlcanon/semantic_precise.json")]))
sets.append(("urlcanon/aggressive.json", ["--form=loose"], list(table("urlcanon/aggressive.json"))))
for key, form in (("Canonicalizer.DefaultIA", "loose"), ("Canonicalizer.IA", "loose")):
    sets.append((f"urlcanon/surt.json {key}", [f"--form={form}"], list(table("urlcanon/surt.json", key))))
for key in ("google", "googleSupplementalFromSurt"):
    sets.append((f"urlcanon/surt.json {key}", ["--form=canonical"], list(table("urlcanon/surt.json", key))))

# The output is an input again, in every form, and does not change.
again = [(mojibake(i), None) for i in json.load(open(os.path.join(urls, "urlcanon/idempotence.json")))]
again += [(i, None) for name, options, cases in sets for i, b, w in cases if not b]
for form in ("standard", "canonical", "loose"):
    first = [k for k in ask(again, f"--form={form}") if k]
    sets.append((f"idempotence {form}", [f"--form={form}"], [(k, None, k) for k in first]))

exceptions = {}
for line in open(exceptions_file, encoding="utf-8"):
    if line.strip() and not line.startswith("#"):
        name, case, reason = line.rstrip("\n").split("\t")
        exceptions[name, case] = reason
left = set(exceptions)
n = 0
for name, options, cases in sets:
    for (i, b, want), got in zip(cases, ask([(i, b) for i, b, w in cases], *options)):
        n += 1
        case = escape(i) + (" " + escape(b) if b else "")
        if got != want:
            if (name, case) in exceptions:
                left.discard((name, case))
            else:
                print(f"{name}\t{case}\twant {want!r} got {got!r}")
for name, case in sorted(left):
    print(f"{name}\t{case}\tis an exception, but does not differ")
print(f"{n} cases, {len(exceptions)} exceptions")
