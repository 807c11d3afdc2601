#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Open the report in headless Chromium: it makes no request to the network, nothing is wider than the window, and light
# and dark differ.  REPORT_SHOTS=FOLDER keeps the screenshots.
. "$(dirname "$0")/../tap.sh"
browser=$(command -v chromium || command -v chromium-browser)
if [ -z "$browser" ]; then
	skip "the report in a browser" "no chromium"
	tap_done
fi
shots=${REPORT_SHOTS:-$tmp/shots}
mkdir -p "$shots"
python3 - <<'PY'
import json
words = " ".join(f"word{i} of the article that both pages share" for i in range(60))
wide = "unbreakable" * 60 + "/" * 300 + "文" * 200
with open("evil.jsonl", "w") as f:
    for i in range(2):
        f.write(json.dumps({"url": f"http://{'x' * 200}.example/{wide}{i}",
                            "html": f"<title>{wide}&lt;img src=http://127.0.0.1:9/x&gt;</title><p>{wide} {words} end{i} \u202eturned"}) + "\n")
PY
cp "$demo" d.warc.gz
"$P" fp -q d.warc.gz evil.jsonl >d.fp
"$P" match -q d.fp >pairs.tsv
"$P" cluster -q pairs.tsv >v.tsv
"$P" eval -q "$TOP/demo/truth.tsv" --sweep d.warc.gz --shingle=1,2,3 --weights=count,set,tf --format=tsv >sweep.tsv
run "$P" report -n 60 -V v.tsv -P pairs.tsv --sweep=sweep.tsv d.warc.gz evil.jsonl -o report.html
exits "report" 0
has "the wide page is in it" report.html 'unbreakableunbreakable'
# The report's policy forbids scripts; a surrounding page measures it.
measure() { # WIDTH -> "scrollWidth clientWidth"
	cat >frame.html <<HTML
<!doctype html><body style="margin:0"><iframe id="f" src="report.html" style="border:0;width:${1}px;height:900px"></iframe>
<script>f.onload = () => { const d = f.contentDocument.documentElement; document.title = 'W ' + d.scrollWidth + ' ' + d.clientWidth + ' W' }</script>
HTML
	timeout 100 "$browser" --headless --no-sandbox --disable-gpu --allow-file-access-from-files --virtual-time-budget=3000 \
		--dump-dom "file://$PWD/frame.html" 2>/dev/null | sed -nE 's/.*<title>W ([0-9]+ [0-9]+) W.*/\1/p'
}
shoot() { # NAME WIDTH FLAGS…
	local name=$1 width=$2
	shift 2
	timeout 100 "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size="$width,3000" "$@" \
		--log-net-log="$PWD/$name.net" --screenshot="$shots/$name.png" "file://$PWD/report.html" >/dev/null 2>&1
	at_least "$name: a picture" "$(stat -c %s "$shots/$name.png" 2>/dev/null)" 10000
	# Requests of the browser itself (updates) are not counted.
	is "$name: the page asked nothing of the network" \
		"$(grep -aoE '"url": ?"(https?|wss?)://[^"]*|"initiator": ?"file[^"]*"[^}]*http' "$name.net" | grep -vE 'google|gvt1|chrome' | head -3)" ""
}
for width in 1280 768 375; do
	read -r wide window < <(measure $width) || wide='' window=''
	at_least "$width: measured" "${window:-}" 1
	is "$width: nothing is wider than the window" "${wide:-none}" "${window:-}"
	shoot "light-$width" $width
	shoot "dark-$width" $width --blink-settings=preferredColorScheme=0
	is "$width: dark is another picture" "$(cmp -s "$shots/light-$width.png" "$shots/dark-$width.png" && echo the same)" ""
done
tap_done
