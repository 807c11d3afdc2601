#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Interrupt dedup repeatedly at random moments, by kills and by a full disk of its own, and resume it: the files are
# those of one run, including report and counts, and no partial file has a final name at any time.  ROUNDS: number of
# runs of each kind (12).
. "$(dirname "$0")/../tap.sh"
rounds=${ROUNDS:-12}
for i in 1 2 3 4; do cp "$demo" "crawl-$i.warc.gz"; done
inputs=(crawl-1.warc.gz crawl-2.warc.gz crawl-3.warc.gz crawl-4.warc.gz)
dev=${PAGEDEDUP_CORPORA:-/nowhere}/neardup/transplant-dev.warc.gz
if [ -f "$dev" ]; then cp "$dev" dev.warc.gz && inputs+=(dev.warc.gz); else skip "a dump of 28 MB among them" "PAGEDEDUP_CORPORA is not set"; fi
inputs+=(--keep-rows)
began=$(date +%s%N)
"$P" dedup -q "${inputs[@]}" -o whole
took=$((($(date +%s%N) - began) / 1000000))
tree() { (cd "$1" && find . -name .dedup -prune -o -type f ! -name '*.part' -print0 | LC_ALL=C sort -z | xargs -r0 sha1sum); }
tree whole >whole.tree
has "a report is among the files" whole.tree report.html
# Files under their final names are complete.
half() { LC_ALL=C comm -13 <(LC_ALL=C sort whole.tree) <(tree "$1" | LC_ALL=C sort) | head -3; }

# --- kills ---
killed=0 bad=
for round in $(seq "$rounds"); do
	for try in 1 2 3 4 5; do
		t=$((RANDOM % took + 5))
		timeout -s KILL "$((t / 1000)).$(printf %03d $((t % 1000)))" "$P" dedup -q -j $((try % 2 + 1)) --resume "${inputs[@]}" -o "k$round" 2>>err
		[ $? = 137 ] && killed=$((killed + 1))
		bad="$bad$(half "k$round")"
	done
	"$P" dedup -q --resume "${inputs[@]}" -o "k$round" 2>>err || bad="$bad round $round did not end"
	tree "k$round" | cmp -s - whole.tree || bad="$bad round $round ended otherwise"
	rm -rf "k$round"
done 2>/dev/null
is "killed $killed times in $rounds runs: nothing half, the same end" "$bad" ""
at_least "kills" "$killed" "$rounds"

# --- no room ---
full=0 bad=
size=$(($(du -sk whole | cut -f 1) * 3))
run unshare -rm true
if [ $code = 0 ]; then
	export -f tree half
	export P took size
	for round in $(seq "$rounds"); do
		answer=$(unshare -rm bash -c '
			mkdir -p disk && mount -t tmpfs -o size=$((RANDOM % (size / 2) + 64))k none disk || exit 9
			n=0
			while ! "$P" dedup -q --resume "$@" --tmp-dir=disk -o disk/out 2>>err; do
				half disk/out
				n=$((n + 1))
				[ $n -lt 40 ] || { echo "no end"; break; }
				mount -o remount,size=$((size * n / 8 + 512))k disk
			done
			tree disk/out | cmp -s - whole.tree || echo "another end"
			echo "full $n"' _ "${inputs[@]}")
		full=$((full + $(sed -n 's/^full //p' <<<"$answer")))
		bad="$bad$(grep -v '^full' <<<"$answer")"
	done
	is "$full times without room in $rounds runs: nothing half, the same end" "$bad" ""
	at_least "times without room" "$full" "$rounds"
	has "the message says so" err 'No space left'
else
	skip "a separate disk" "no name spaces here"
fi

# --- every file limit ---
bad=
for blocks in 1 8 40 100 200 400 1000 4000 20000; do
	(ulimit -f $blocks && "$P" dedup -q --resume "${inputs[@]}" -o little 2>>err)
	[ ! -d little ] || bad="$bad$(half little)"
done 2>/dev/null
"$P" dedup -q --resume "${inputs[@]}" -o little || bad="$bad did not end"
tree little | cmp -s - whole.tree || bad="$bad ended otherwise"
is "a limit of blocks per file: no partial files, the same final state" "$bad" ""
tap_done
