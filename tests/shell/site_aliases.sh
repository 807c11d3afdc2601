#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# sites: hosts that are one site, from WARC and ARC, and the treatment of bad input.
. "$(dirname "$0")/../tap.sh"

cat >make.py <<'END'
import sys
def record(url, address, body):
    block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + body
    return (f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2020-01-01T00:00:00Z\r\n"
            + (f"WARC-IP-Address: {address}\r\n" if address else "")
            + f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(block)}\r\n\r\n").encode() + block + b"\r\n\r\n"
def page(host, subject):
    words = " ".join(f"{subject}{i}" for i in range(100))
    return f"<title>{subject}</title><a href='http://{host}/'>home</a><p>{words}".encode()
out = open("crawl.warc", "wb")
for host, address, subject in [("news.example", "10.0.0.1", "news"), ("www.news.example", "10.0.0.1", "news"),
                               ("m.news.example", "10.0.0.1", "news"), ("shop.example", "10.0.0.1", "shop"),
                               ("mirror.example", "10.9.9.9", "news"), ("nowhere.example", "", "news")]:
    out.write(record(f"http://{host}/", address, page(host, subject)))
    out.write(record(f"http://{host}/about?x=1", address, page(host, subject + "about")))
    out.write(record(f"http://{host}/missing", address, page(host, subject)).replace(b"200 OK", b"404 No"))
out.close()
with open("crawl.arc", "wb") as f:
    for host, address, subject in [("a.example", "10.0.0.1", "x"), ("b.example", "10.0.0.1", "x"), ("c.example", "-", "x"), ("d.example", "0.0.0.0", "x")]:
        body = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + page(host, subject)
        f.write(f"http://{host}/ {address} 20200101000000 text/html {len(body)}\n".encode() + body + b"\n")
END
python3 make.py
run "$P" sites crawl.warc
exits "a dump" 0
printf '%s\t%s\t2\t%s\t%s\t%s\t%s\n' mirror.example mirror.example 10.9.9.9 - - - m.news.example news.example 10.0.0.1 - - - \
	news.example news.example 10.0.0.1 both m.news.example 1.000 www.news.example news.example 10.0.0.1 both m.news.example 1.000 \
	nowhere.example nowhere.example - - - - shop.example shop.example 10.0.0.1 - - - >want
same "aliases are found; another site at the address and the mirror elsewhere are separate" <(rows "$tmp/out") want
has "the header says how" "$tmp/out" '^# pagededup sites 1 \| by=both first=5 similar=0.95 end=total$'
has "the closing line counts" "$tmp/err" '12 pages of 6 hosts at 2 addresses, 4 sites'
is "by address all there are one" "$("$P" sites -q --by=ip crawl.warc | column site | sort | uniq -c | awk '{ print $1 $2 }' | xargs)" \
	"1mirror.example 4news.example 1nowhere.example"
is "by pages, all equal hosts are one site" "$("$P" sites -q --by=pages crawl.warc | column site | sort | uniq -c | awk '{ print $1 $2 }' | xargs)" "5news.example 1shop.example"
python3 - >first.jsonl <<'END'
import json
for host in "one", "two":
    for path, subject in ("/", "home"), ("/about", host):
        print(json.dumps({"url": f"http://{host}.example{path}", "html": "<p>" + " ".join(f"{subject}{i}" for i in range(100))}))
END
first() { "$P" url --learn-sites -q --by=pages --first="$1" first.jsonl | column site | sort -u | wc -l; }
is "--first: the number of pages that must be alike" "$(first 1) $(first 2)" "1 2"
printf '# a table\nmirror.example 10.0.0.1\n\nnowhere.example\t10.0.0.1\nunseen.example 10.0.0.1\n' >addresses
is "--addresses tells more" "$("$P" sites -q --addresses=addresses crawl.warc | column site | sort | uniq -c | awk '{ print $1 $2 }' | xargs)" \
	"5news.example 1shop.example"
is "addresses of ARC headers; empty if the crawler recorded none" "$("$P" sites -q crawl.arc | rows | cut -f 1,2,4 | xargs)" \
	"a.example a.example 10.0.0.1 b.example a.example 10.0.0.1 c.example c.example - d.example d.example -"
"$P" sites -q crawl.warc >whole
run "$P" sites -o table crawl.warc
same "-o writes the same" table whole
head -c 3000 crawl.warc >cut.warc
run "$P" sites cut.warc
exits "a dump that was cut" 1
has "the message says so" "$tmp/err" 'cut.warc:[0-9]*: .*left out'
run "$P" sites --ignore-damaged cut.warc
exits "--ignore-damaged" 0
echo alone >bad
run "$P" sites --addresses=bad crawl.warc
exits "a table without addresses" 2
has "the message names file and line" "$tmp/err" 'bad:1: no address after the host'
for line in 'mirror.example' 'mirror.example nonsense' 'mirror.example 10.0.0' 'mirror.example 10.0.0.1 10.0.0.2' 'mirror.example 10.0.0.1:80'; do
	printf 'unseen.example 10.0.0.1\nother.example ::1\n%s\n' "$line" >bad
	run "$P" sites --addresses=bad crawl.warc
	exits "--addresses: '$line'" 2
	has "the line is named" "$tmp/err" 'bad:3: (no address after the host|.* is not an IP address)'
done
run "$P" sites --addresses=absent crawl.warc
exits "no such table" 2
run "$P" sites absent.warc
exits "no such dump" 2
run "$P" sites -o crawl.warc crawl.warc
exits "the output is not an input" 2
corpora=${PAGEDEDUP_CORPORA:-}
if [ -d "$corpora/warc" ]; then
	for kind in warc arc; do
		run "$P" sites "$corpora/warc/aut/example.$kind.gz"
		has "a real crawl, $kind: 35 hosts, one alias" "$tmp/err" '129 pages of 35 hosts at 34 addresses, 34 sites'
		is "$kind: and which" "$(rows "$tmp/out" | awk -F '\t' '$1 != $2 { print $1, $2, $5 }')" "www.hideout.com.br hideout.com.br name"
	done
	is "no two of 92 hosts that are made of shared layouts are one" \
		"$("$P" sites -q --by=pages "$corpora/neardup/transplant-dev.warc.gz" | rows | awk -F '\t' '$1 != $2')" ""
else
	for name in "a real crawl" "shared layouts"; do skip "$name" "PAGEDEDUP_CORPORA is not set"; done
fi
tap_done
