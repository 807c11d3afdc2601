#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Build the demo dump.

usage: build.py OUT.warc.gz [--truth TRUTH.tsv]

In, all beside this script: articles/*.txt (first line the headline, then
paragraphs), layouts/*.html (templates) with the small tables layouts/*.tsv,
pages.tsv (one row a page) and records.tsv (the records that are not pages).

Out: a WARC file, one gzip member a record, and, if asked for, a table of what
each page really is: url, content, level, template, lang, charset.  The level
says how much of the article's text was changed: 0 not at all, 1 up to 1 % of
the words, 2 up to 3 %, 3 more, 4 cut short.  A changed headline is not counted.

Nothing is random: each choice is taken from a hash of the page's URL, so that
every run writes the same bytes.
"""
import argparse
import base64
import datetime
import hashlib
import html
import re
import struct
import sys
import textwrap
import uuid
import zlib
from pathlib import Path
from urllib.parse import urlsplit

HERE = Path(__file__).resolve().parent
COLUMNS = "url article layout charset declared edit transfer note".split()
KINDS = "request revisit not-found redirect image metadata".split()
LANGS = {"zht": "zh-Hant"}                # other article prefixes are the tag
WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]{1,2}|[^\W\u3040-\u30ff\u3400-\u9fff]+")
USERS = "rowan88 bluekettle tin_owl marta.k lao_li harbourcat e-nadia seven7 kumo".split()
EPOCH = datetime.datetime(2024, 3, 4, 6, 0, 0)
TYPE = "application/http; msgtype="


class ManifestError(Exception):
    pass


# ---- small tools -----------------------------------------------------------

class Choice:
    """A stream of numbers that depends on nothing but its seed."""

    def __init__(self, seed):
        self.seed, self.n = seed, 0

    def below(self, limit):
        self.n += 1
        digest = hashlib.sha256(f"{self.seed}#{self.n}".encode()).digest()
        return int.from_bytes(digest[:8], "big") % limit

    def some(self, items, count):
        items, out = list(items), []
        while items and len(out) < count:
            out.append(items.pop(self.below(len(items))))
        return out


def gzip_member(data):
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    return (b"\x1f\x8b\x08\0\0\0\0\0\x02\xff" + deflate.compress(data) + deflate.flush()
            + struct.pack("<II", zlib.crc32(data), len(data)))


def sha1(data):
    return "sha1:" + base64.b32encode(hashlib.sha1(data).digest()).decode()


def rows(path):
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line and not line.startswith("#"):
            yield number, line.split("\t")


def by_language(path):
    out = {}
    for _, (lang, text) in rows(path):
        out.setdefault(lang, []).append(text)
    return out


# ---- what the pages are made of --------------------------------------------

class Stock:
    """Articles, layouts and the words that go around them."""

    def __init__(self):
        self.articles = {p.stem: self.article(p) for p in (HERE / "articles").glob("*.txt")}
        layouts = HERE / "layouts"
        self.layouts = {p.stem: p.read_text(encoding="utf-8") for p in layouts.glob("*.html")}
        table = [row for _, row in rows(layouts / "labels.tsv")]
        self.labels = {lang: {row[0]: row[i] for row in table[1:]}
                       for i, lang in enumerate(table[0]) if i}
        self.comments = by_language(layouts / "comments.tsv")
        self.headlines = by_language(layouts / "headlines.tsv")
        for name, (title, _) in sorted(self.articles.items()):
            if not name.startswith("short-"):
                self.headlines[language(name)].append(title)
        self.sites = {host: name for _, (host, name) in rows(layouts / "sites.tsv")}

    @staticmethod
    def article(path):
        title, _, body = path.read_text(encoding="utf-8").strip().partition("\n")
        return title, body.strip().split("\n\n") if body else [title]


def language(article):
    first, second = article.split("-")[:2]
    return second if first == "short" else first


def read_pages(stock):
    """pages.tsv as a list of dicts, checked; `copy:` rows take over their original."""
    lines = rows(HERE / "pages.tsv")
    number, header = next(lines)
    if header != COLUMNS:
        raise ManifestError(f"pages.tsv:{number}: the header must be: {' '.join(COLUMNS)}")
    pages, seen = [], {}
    for number, row in lines:
        where = f"pages.tsv:{number}"
        if len(row) != len(COLUMNS):
            raise ManifestError(f"{where}: {len(row)} columns instead of {len(COLUMNS)}")
        page = dict(zip(COLUMNS, row), where=where, seed=row[0])
        check_page(page, stock, seen)
        if page["edit"].startswith("copy:"):
            first = seen[page["edit"][5:]]
            page["edit"], page["seed"] = first["edit"], first["seed"]
        seen[page["url"]] = page
        pages.append(page)
    return pages


def check_page(page, stock, seen):
    def need(good, what):
        if not good:
            raise ManifestError(f"{page['where']}: {what}")

    need(page["url"] not in seen, f"second row for {page['url']}")
    need(urlsplit(page["url"]).hostname in stock.sites, f"host not in sites.tsv: {page['url']}")
    need(page["article"] in stock.articles, f"no article {page['article']}")
    need(page["layout"] in stock.layouts, f"no layout {page['layout']}")
    need(re.fullmatch(r"none|meta|http|both|wrong:[\w-]+", page["declared"]),
         f"bad value in declared: {page['declared']}")
    need(page["transfer"] in ("none", "chunked", "gzip", "gzip+chunked"),
         f"bad value in transfer: {page['transfer']}")
    try:
        "".encode(page["charset"])
    except LookupError:
        need(False, f"unknown charset {page['charset']}")
    need(re.fullmatch(r"none|copy:.+|(words:\d+|cut:[1-9]\d?|title:[^;]+)"
                      r"(;(words:\d+|cut:[1-9]\d?|title:[^;]+))*", page["edit"]),
         f"bad value in edit: {page['edit']}")
    if page["edit"].startswith("copy:"):
        first = seen.get(page["edit"][5:])
        need(first, "copy of a page that is not above it")
        need(all(page[k] == first[k] for k in COLUMNS[1:5]),
             "a copy must have the columns of its original")


# ---- the article's text ----------------------------------------------------

def change_words(paragraphs, count, seed):
    """Replace, drop or add `count` words (a word of Chinese or Japanese: two characters)."""
    choice, text = Choice(seed + "!words"), "\n\n".join(paragraphs)
    words = list(WORD.finditer(text))
    places = sorted(choice.some(range(len(words)), count), reverse=True)
    for place in places:
        start, end = words[place].span()
        old = new = text[start:end]
        while new == old or new.isdigit():
            new = words[choice.below(len(words))].group()
        how = choice.below(4)
        if how == 0:                            # drop the word
            text = text[:start] + text[end + (text[end:end + 1] == " "):]
        elif how == 1:                          # add a word
            text = text[:start] + new + ("" if "\u3040" <= new[0] <= "\u9fff" else " ") + text[start:]
        else:                                   # put another one in its place
            text = text[:start] + new + text[end:]
    return text.split("\n\n")


def cut_short(paragraphs, percent):
    text = "\n\n".join(paragraphs)
    words = list(WORD.finditer(text))
    last = words[len(words) * (100 - percent) // 100 - 1]
    return (text[:last.end()] + "...").split("\n\n")


def edited(page, stock):
    """Headline, paragraphs and level of a page."""
    title, paragraphs = stock.articles[page["article"]]
    total = sum(len(WORD.findall(p)) for p in paragraphs)
    level = 0
    for edit in page["edit"].split(";"):
        what, _, value = edit.partition(":")
        if what == "words":
            share = int(value) / total
            level = max(level, 1 if share <= .01 else 2 if share <= .03 else 3)
            paragraphs = change_words(paragraphs, int(value), page["seed"])
        elif what == "cut":
            level = 4
            paragraphs = cut_short(paragraphs, int(value))
        elif what == "title":
            title = value
    return title, paragraphs, level


def body_markup(style, paragraphs, choice):
    """The article's paragraphs in one of the ways in which pages write them."""
    escaped = [html.escape(p, quote=False) for p in paragraphs]
    if style == "p":
        return "\n".join(f"<p>{p}</p>" for p in escaped)
    if style == "br":
        return "<br><br>\n".join(escaped)
    if style == "div":
        return "\n".join(f'<div class="para">{p}</div>' for p in escaped)
    if style == "p2em":
        return "\n".join(f"<p>\u3000\u3000{p}</p>" for p in escaped)
    if style == "hard":                         # lines of 72, where there are spaces
        return "\n".join("<p>\n" + (textwrap.fill(p, 72) if p.count(" ") > 20 else p) + "\n</p>"
                         for p in escaped)
    if style == "unclosed":
        return "\n".join(f"<P>{p}" for p in escaped)
    if style == "rich":                         # marks inside the sentences, a closing quote
        return "\n".join([f"<p>{marked(p, choice)}</p>" for p in escaped[:-1]]
                         + [f"<blockquote><p>{escaped[-1]}</p></blockquote>"])
    if style == "sections":
        return "\n".join(f'<section data-n="{n}"><p>{p}</p><figure hidden></figure></section>'
                         for n, p in enumerate(escaped, 1))
    raise ManifestError(f"layouts: no such body style: {style}")


def marked(text, choice):
    words = [w for w in WORD.finditer(text) if text[w.end():w.end() + 1] != ";"]
    for word in sorted(choice.some(words, 2), key=lambda w: -w.start()):
        tag = choice.some(["strong", "em", "a"], 1)[0]
        start = '<a href="/tag/%d">' % choice.below(500) if tag == "a" else f"<{tag}>"
        text = text[:word.start()] + start + word.group() + f"</{tag}>" + text[word.end():]
    return text


# ---- the page --------------------------------------------------------------

def render(page, stock):
    """The page as text, and its level."""
    choice, lang = Choice(page["seed"]), language(page["article"])
    title, paragraphs, level = edited(page, stock)
    url = urlsplit(page["seed"])
    labels = stock.labels[lang]
    others = [h for h in stock.headlines[lang]
              if h not in (title, stock.articles[page["article"]][0])
              and writable(h, page["charset"])]
    day = datetime.date(2019, 1, 7) + datetime.timedelta(days=choice.below(1800))
    label = None
    if page["declared"] in ("meta", "both"):
        label = page["charset"]
    elif page["declared"].startswith("wrong:"):
        label = page["declared"][6:]
    fixed = {
        "lang": LANGS.get(lang, lang), "title": html.escape(title, quote=False),
        "site": stock.sites[url.hostname], "host": url.hostname, "path": html.escape(url.path),
        "date": day.isoformat(), "date_zh": day.strftime("%Y{}%m{}%d{}").format(*"年月日"),
        "year": str(day.year),
        "time": "%02d:%02d" % (6 + choice.below(16), choice.below(60)),
        "charset_meta": f'<meta charset="{label}">' if label else "",
        "charset_http_equiv": '<meta http-equiv="Content-Type" content="text/html; charset='
                              f'{label}" />' if label else "",
    }

    def links(count, form):
        return [form.format(choice.below(90000) + 1000, html.escape(h, quote=False))
                for h in choice.some(others, count)]

    def remarks(count, form):
        return "\n".join(form.format(USERS[choice.below(len(USERS))], c)
                         for c in choice.some(stock.comments[lang], count))

    def fill(match):
        name, _, value = match.group(1).partition(":")
        if name in fixed:
            return fixed[name]
        if name.startswith("body_"):
            return body_markup(name[5:], paragraphs, choice)
        if name == "t":
            return labels[value]
        if name == "num":
            return str(1 + choice.below(int(value)))
        if name == "user":
            return USERS[choice.below(len(USERS))]
        if name == "headline":
            return "".join(links(1, "{1}"))
        if name == "related":
            return "\n".join(links(int(value), '<li><a href="/a/{}.html">{}</a></li>'))
        if name == "links":
            return "<br>".join(links(int(value), '<a href="/show?id={}">{}</a>'))
        if name == "cards":
            return "\n".join(links(int(value), '<a class="card" href="/r/{}"><h4>{}</h4></a>'))
        if name == "comments":
            return remarks(int(value), '<div class="cmt"><div class="who">{}</div><div>{}</div></div>')
        if name == "replies":
            return remarks(int(value), '<tr class="post"><td class="user">{}</td>'
                                       '<td class="msg"><div class="text">{}</div></td></tr>')
        raise ManifestError(f"layout {page['layout']}: unknown placeholder {match.group()}")

    return re.sub(r"\{\{(.+?)\}\}", fill, stock.layouts[page["layout"]]), level


def writable(text, charset):
    return text.encode(charset, "ignore").decode(charset) == text


def encode(page, text):
    try:
        return text.encode(page["charset"])
    except UnicodeEncodeError as error:
        bad = text[error.start]
        raise ManifestError(f"{page['where']}: {page['charset']} has no {bad!r} (U+{ord(bad):04X})")


# ---- HTTP and WARC ---------------------------------------------------------

def http(status, headers, body):
    lines = [f"HTTP/1.1 {status}"] + [f"{k}: {v}" for k, v in headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + body


def chunked(body, choice):
    out = b""
    while body:
        size = 200 + choice.below(2000)
        part, body = body[:size], body[size:]
        out += b"%x\r\n%s\r\n" % (len(part), part)
    return out + b"0\r\n\r\n"


def page_response(page, text):
    """HTTP response and the payload: the body without the transfer coding."""
    choice = Choice(page["url"] + "!http")
    mime = "text/html"
    if page["declared"] in ("http", "both"):
        mime += choice.some(["; charset=", ";charset="], 1)[0] + page["charset"]
    headers = [("Server", choice.some(["nginx", "Apache/2.2.15", "Microsoft-IIS/6.0"], 1)[0]),
               (choice.some(["Content-Type", "content-type"], 1)[0], mime)]
    payload = body = encode(page, text)
    if "gzip" in page["transfer"]:
        headers.append(("Content-Encoding", "gzip"))
        payload = body = gzip_member(payload)
    if "chunked" in page["transfer"]:
        headers.append(("Transfer-Encoding", "chunked"))
        body = chunked(payload, choice)
    else:
        headers.append(("Content-Length", len(payload)))
    return http("200 OK", headers, body), payload


class Warc:
    def __init__(self, path):
        self.out, self.count = open(path, "wb"), 0

    @staticmethod
    def record_id(kind, url):
        return f"<urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, kind + ' ' + url)}>"

    def write(self, kind, url, mime, block, payload=None, more=()):
        date = EPOCH + datetime.timedelta(seconds=7 * self.count)
        newer = self.count % 20 == 19             # a few records of the later version
        head = [("WARC-Type", kind), ("WARC-Record-ID", self.record_id(kind, url)),
                ("WARC-Date", date.isoformat() + (".250Z" if newer else "Z"))]
        if kind == "warcinfo":
            head.append(("WARC-Filename", url))
        else:
            head.append(("WARC-Target-URI", url))
        if payload is not None:
            head.append(("WARC-Payload-Digest", sha1(payload)))
        head += list(more) + [("WARC-Block-Digest", sha1(block)), ("Content-Type", mime),
                              ("Content-Length", len(block))]
        lines = ["WARC/1.1" if newer else "WARC/1.0"] + [f"{k}: {v}" for k, v in head]
        self.out.write(gzip_member("\r\n".join(lines).encode() + b"\r\n\r\n" + block + b"\r\n\r\n"))
        self.count += 1


def tiny_png():
    def part(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    row = b"\0" + b"\x20\x60\xa0" * 4
    return (b"\x89PNG\r\n\x1a\n" + part(b"IHDR", struct.pack(">IIBBBBB", 4, 4, 8, 2, 0, 0, 0))
            + part(b"IDAT", zlib.compress(row * 4, 9)) + part(b"IEND", b""))


def write_other(warc, kind, url, of, payloads):
    """One row of records.tsv."""
    parts, answer = urlsplit(url), TYPE + "response"
    if kind == "request":
        block = f"GET {parts.path} HTTP/1.1\r\nHost: {parts.hostname}\r\nAccept: */*\r\n\r\n".encode()
        warc.write(kind, url, TYPE + "request", block,
                   more=[("WARC-Concurrent-To", warc.record_id("response", url))])
    elif kind == "metadata":
        warc.write(kind, url, "application/warc-fields", b"fetchTimeMs: 214\r\n",
                   more=[("WARC-Concurrent-To", warc.record_id("response", url))])
    elif kind == "revisit":
        block = http("200 OK", [("Server", "nginx"), ("Content-Type", "text/html")], b"")
        profile = "http://netpreserve.org/warc/1.0/revisit/identical-payload-digest"
        warc.write(kind, url, answer, block, payloads[of],
                   [("WARC-Profile", profile), ("WARC-Refers-To", warc.record_id("response", of)),
                    ("WARC-Refers-To-Target-URI", of)])
    else:
        status, extra, mime = "404 Not Found", [], "text/html"
        body = b"<html><head><title>404 Not Found</title></head><body><h1>Not Found</h1></body></html>\n"
        if kind == "redirect":
            status, extra = "301 Moved Permanently", [("Location", of)]
            body = b'<html><body>Moved <a href="%s">here</a>.</body></html>\n' % of.encode()
        elif kind == "image":
            status, mime, body = "200 OK", "image/png", tiny_png()
        headers = [("Server", "nginx"), *extra, ("Content-Type", mime), ("Content-Length", len(body))]
        warc.write("response", url, answer, http(status, headers, body), body)


def read_others(pages):
    urls, out = {p["url"] for p in pages}, []
    lines = rows(HERE / "records.tsv")
    next(lines)
    for number, row in lines:
        if len(row) != 4 or row[0] not in KINDS:
            raise ManifestError(f"records.tsv:{number}: needs a known kind and four columns")
        kind, url, of, _ = row
        page = url if kind in ("request", "metadata") else of if kind == "revisit" else None
        if page and page not in urls:
            raise ManifestError(f"records.tsv:{number}: no page {page}")
        out.append((kind, url, of))
    return out


def build(path, truth):
    stock = Stock()
    pages = read_pages(stock)
    others = read_others(pages)
    ready = []                                  # render all first: no half a dump on an error
    for page in pages:
        text, level = render(page, stock)
        ready.append((page, level, *page_response(page, text)))
    warc, payloads = Warc(path), {}
    warc.write("warcinfo", "demo.warc.gz", "application/warc-fields",
               b"software: pagededup demo/build.py\r\nformat: WARC File Format 1.0\r\n")
    for page, _, response, payload in ready:
        url = page["url"]
        warc.write("response", url, TYPE + "response", response, payload,
                   [("WARC-IP-Address", "192.0.2.%d" % (1 + Choice(urlsplit(url).hostname).below(250)))])
        payloads[url] = payload
        for kind, of_url, of in others:
            if of_url == url and kind in ("request", "metadata"):
                write_other(warc, kind, of_url, of, payloads)
    for kind, url, of in others:
        if kind not in ("request", "metadata"):
            write_other(warc, kind, url, of, payloads)
    warc.out.close()
    if truth:
        with open(truth, "w", encoding="utf-8", newline="\n") as out:
            out.write("url\tcontent\tlevel\ttemplate\tlang\tcharset\n")
            for page, level, _, _ in ready:
                lang = language(page["article"])
                print(page["url"], page["article"], level, page["layout"], LANGS.get(lang, lang),
                      page["charset"], sep="\t", file=out)
    return len(pages), warc.count


def main():
    parser = argparse.ArgumentParser(description="build the demo dump")
    parser.add_argument("out")
    parser.add_argument("--truth")
    args = parser.parse_args()
    try:
        pages, records = build(args.out, args.truth)
    except (ManifestError, OSError) as error:
        sys.exit(f"build.py: {error}")
    print(f"{args.out}: {pages} pages in {records} records")


if __name__ == "__main__":
    main()
