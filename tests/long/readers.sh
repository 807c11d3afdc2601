#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Compare the reader with warcio and FastWARC (from PyPI, in a virtual environment in the build folder): offsets, kinds,
# URLs, lengths, and digests of blocks, of HTTP bodies and of decoded bodies, on every sound dump of
# $PAGEDEDUP_CORPORA/warc and on a crawl that wget makes over loopback.  Then check that the result does not depend on
# the compression of the dump, and that every page is found again by its id.
. "$(dirname "$0")/../tap.sh"
venv=$B/venv-readers
python=$venv/bin/python
list=$B/tests/list_records
theirs=$TOP/tests/long/other_readers.py

make -s -C "$TOP" B="${B#"$TOP"/}" "${list#"$TOP"/}" >"$tmp/make" 2>&1
[ -x "$list" ] || { fail "list_records builds" "$(tail -5 "$tmp/make")"; tap_done; }
[ -x "$python" ] && "$python" -c 'import warcio, fastwarc' 2>/dev/null || {
	python3 -m venv "$venv" && timeout 300 "$venv/bin/pip" install -q warcio fastwarc
} >"$tmp/pip" 2>&1
have=1
"$python" -c 'import warcio, fastwarc' 2>/dev/null || have=

# Inputs that the two readers do not support, with the reason.
unfair() { # READER FILE
	case $1:$2 in
	warcio:*.lz4 | fastwarc:*.arc | fastwarc:*.arc.gz) echo "that reader does not know the format" ;;
	warcio:*non-chunked* | warcio:*example-bad.warc.gz.bad) echo "that reader wants a gzip member a record" ;;
	fastwarc:*non-chunked* | fastwarc:*example-bad.warc.gz.bad) echo "that reader gives other offsets in one gzip member" ;;
	warcio:*example-space-in-url.arc) echo "shorter than its header says: that reader takes what follows the page for a part of it" ;;
	warcio:*wrong-chunks*) echo "a record over two gzip members" ;;
	fastwarc:*missing-status-text*) echo "that reader takes the missing blank line for an empty block" ;;
	fastwarc:*example-trunc.warc) echo "that reader stops at the padding" ;;
	esac
}
# The header record of ARC files is shown differently, and so are spaces in URLs.
plain() { grep -v '	filedesc://' "$1" | sed 's/ /%20/g'; }
# FastWARC is not compared for decoded bodies and for bodies after unusual headers.
columns() { case $1 in fastwarc) cut -f1-5 ;; *) cat ;; esac; }

agree() { # READER FILE NAME
	local why
	why=$(unfair "$1" "$2")
	[ -z "$why" ] || { skip "$1: $3" "$why"; return; }
	"$python" "$theirs" "$1" "$2" >"$tmp/theirs" 2>"$tmp/err" || { fail "$1: $3" "$(tail -1 "$tmp/err")"; return; }
	"$list" "$2" >"$tmp/ours"
	same "$1: $3, $(wc -l <"$tmp/ours") records" <(plain "$tmp/ours" | columns "$1") <(plain "$tmp/theirs" | columns "$1")
}

for dump in "${PAGEDEDUP_CORPORA:-/nowhere}"/warc/*/*; do
	[ -f "$dump" ] || { skip "dumps of other projects" "PAGEDEDUP_CORPORA is not set"; break; }
	"$list" "$dump" >"$tmp/ours"
	grep -q '^!' "$tmp/ours" && continue # told as damaged: not sound
	for reader in warcio fastwarc; do
		if [ $have ]; then agree $reader "$dump" "$(basename "$dump")"
		else skip "$reader: $(basename "$dump")" "PyPI cannot be reached"; fi
	done
done

# --- a crawl ---
site() {
	mkdir -p site/sub
	for i in 1 2 3 4 5; do
		printf '<html><head><title>Page %s</title></head><body><h1>Page %s</h1>\n' $i $i
		seq -f "<p>Paragraph %g of page $i has some words in it.</p>" 1 40
		printf '<a href="/page%s.html">next</a> <a href="/sub/text%s.txt">text</a> <a href="/none%s.html">none</a></body></html>\n' $((i % 5 + 1)) $i $i
	done | awk '/^<html>/ { n++ } { print > ("site/page" n ".html") }'
	for i in 1 2 3 4 5; do seq -f "Line %g of text $i" 1 30 >site/sub/text$i.txt; done
	printf '<meta charset=gbk><p>\304\343\272\303\n<a href=page1.html>1</a>' >site/index.html
}
crawl() {
	python3 -u -m http.server --bind 127.0.0.1 --directory site 0 >server.log 2>&1 &
	server=$!
	for _ in $(seq 50); do port=$(sed -n 's/.*port \([0-9]*\).*/\1/p' server.log) && [ "$port" ] && break; sleep .1; done
	no_proxy=127.0.0.1 timeout 60 wget -q -r -l 9 --delete-after --warc-file=crawl --warc-cdx "http://127.0.0.1:$port/" >wget.log 2>&1
	kill $server
	wait $server 2>/dev/null
}
if command -v wget >/dev/null; then
	site && crawl
	run "$P" fp -q crawl.warc.gz
	exits "a crawl made with wget" 0
	cp "$tmp/out" crawl.fp
	is "all its pages are there" "$(rows crawl.fp | wc -l)" 11
	for reader in warcio fastwarc; do
		if [ $have ]; then agree $reader crawl.warc.gz "wget's crawl"; else skip "$reader: wget's crawl" "PyPI cannot be reached"; fi
	done
	# wget's own index: URL, digest and offset.
	same "wget's index agrees" <(sed 1d crawl.cdx | awk '$5 == 200 { print $9, $6, $1 }' | sort) \
		<(paste -d' ' <(column id crawl.fp | sed 's/.*://') <(column content_digest crawl.fp) <(column url crawl.fp) | sort)
	gzip -dc crawl.warc.gz >crawl.warc
	values() { rows "$1" | cut -f1,3-15; }
	for packing in "cat" "gzip -c" "zstd -qc" "lz4 -qc"; do
		command -v "${packing%% *}" >/dev/null || { skip "$packing" "no such program"; continue; }
		$packing crawl.warc >packed
		run "$P" fp -q packed
		same "the same pages out of $packing" <(values "$tmp/out") <(values crawl.fp)
	done
	bad=
	for id in $(column id crawl.fp); do "$P" show --stage=signature "$id" >/dev/null 2>&1 || bad="$bad $id"; done
	is "each is found again" "$bad" ""
else
	skip "a crawl made with wget" "wget is not there"
fi
tap_done
