#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A small web for tests of links, URLs and sites.

small_web.py warc FILE    writes it as a WARC, as a crawler would
small_web.py serve        serves it on loopback as a proxy for its hosts, and prints the port
small_web.py urls         prints the addresses of its pages

orig.example     six articles, each with a dozen links of its own, an advert or two, and the menu of the site
mirror.example   the same pages on another host
alias.example    another name of orig.example: the same address, the same pages
adcopy.example   the texts and links of orig.example under other adverts and another layout
portal.example   twelve pages with texts of their own; most of their links are one menu of forty
calendar.example a month a page, each with links to its days, to the month before and to that behind
session.example  five items, each under three sessions: the same text, and every link carries the session
"""
import http.server
import random
import sys

WORDS = ("mill river stone bridge county harbour winter ledger orchard lantern meadow signal copper canvas timber village engine "
         "garden market office summer letter window carpet saddle bottle needle ribbon thunder velvet anchor barrel cellar dagger "
         "falcon gallery hammer island jacket kettle ladder mirror napkin oyster pepper quarry rocket shovel tunnel").split()
ADDRESS = {"orig.example": "192.0.2.1", "alias.example": "192.0.2.1", "mirror.example": "192.0.2.2", "adcopy.example": "192.0.2.3",
           "portal.example": "192.0.2.4", "calendar.example": "192.0.2.5", "session.example": "192.0.2.1"}


def prose(seed, sentences=14):
    r = random.Random(seed)
    return [" ".join(r.choice(WORDS) for _ in range(12)).capitalize() + "." for _ in range(sentences)]


def page(title, body, menu="", tail=""):
    return (f"<!doctype html><html><head><title>{title}</title></head><body>{menu}<main><h1>{title}</h1>{body}</main>{tail}"
            "</body></html>")


def article(n, links=12):
    texts = prose(f"article {n}")
    out = ""
    for i, text in enumerate(texts):
        link = f' See <a href="http://source{n}.example/{n}/{i}">{" ".join(prose(f"anchor {n} {i}", 1)[0].split()[:3])}</a>.' if i < links else ""
        out += f"<p>{text}{link}</p>"
    return out


def menu(n, tag="nav", start=0):
    return f"<{tag}>" + " ".join(f'<a href="/section/{start + i}">Section {start + i}</a>' for i in range(n)) + f"</{tag}>"


def adverts(ids, host):
    return '<div class="side">' + "".join(f'<a href="https://{host}/c?{i}"><img src="/b{i}.png"></a>' for i in ids) + "</div>"


def orig(names="http"):
    site = {"/": page("The Gazette", "".join(f'<p><a href="/article/{n}">{prose(f"lead {n}", 2)[0]}</a></p>' for n in range(6)), menu(8))}
    for n in range(6):
        site[f"/article/{n}"] = page(f"Article {n}", article(n), menu(8) + '<a href="/">Home</a>', adverts([n, 90], "ad.doubleclick.net"))
    return site


def web():
    hosts = {"orig.example": orig(), "mirror.example": orig(), "alias.example": orig()}
    hosts["adcopy.example"] = {f"/{n}.html": page(f"Article {n}", article(n), menu(15, "ul", 50), adverts(range(10, 16), "ads.taboola.com"))
                               for n in range(6)}
    hosts["portal.example"] = {f"/page/{n}": page(f"Portal page {n}", "".join(f"<p>{s}</p>" for s in prose(f"portal {n}")) +
                                                  f'<p><a href="http://elsewhere.example/{n}">More on this</a></p>', menu(40))
                               for n in range(12)}
    hosts["calendar.example"] = {}
    for month in range(1, 13):
        days = "".join(f'<td><a href="/day?d={day}&m={month}">{day}</a></td>' for day in range(1, 29))
        hosts["calendar.example"][f"/calendar?m={month}"] = page(
            f"Month {month}", f"<table><tr>{days}</tr></table><p>{' '.join(prose(f'month {month}', 6))}</p>"
            f'<a href="/calendar?m={month - 1}">before</a> <a href="/calendar?m={month + 1}">behind</a>', menu(6))
    hosts["session.example"] = {}
    for item in range(5):
        for sid in range(3):
            name = f"{sid}{'0123456789abcdef' * 2}"[:32]
            others = "".join(f'<li><a href="/item?id={o}&sid={name}">Item {o}</a></li>' for o in range(5) if o != item)
            hosts["session.example"][f"/item?id={item}&sid={name}"] = page(
                f"Item {item}", "".join(f"<p>{s}</p>" for s in prose(f"item {item}")) + f"<ul>{others}</ul>")
    return hosts


def urls():
    return [(host, path) for host, pages in web().items() for path in pages]


def write_warc(path):
    hosts = web()
    with open(path, "wb") as f:
        for i, (host, where) in enumerate(urls()):
            body = hosts[host][where].encode()
            block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: %d\r\n\r\n" % len(body) + body
            f.write((f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://{host}{where}\r\nWARC-Date: 2024-01-01T00:00:{i % 60:02}Z\r\n"
                     f"WARC-IP-Address: {ADDRESS[host]}\r\nWARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-{i:012}>\r\n"
                     f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(block)}\r\n\r\n").encode() + block + b"\r\n\r\n")


def serve():
    hosts = web()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            host, _, where = self.path.removeprefix("http://").partition("/")
            body = hosts.get(host, {}).get("/" + where)
            self.send_response(200 if body else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write((body or "<p>not here</p>").encode())

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_port, flush=True)
    server.serve_forever()


if sys.argv[1] == "warc":
    write_warc(sys.argv[2])
elif sys.argv[1] == "serve":
    serve()
else:
    for host, where in urls():
        print(f"http://{host}{where}")
