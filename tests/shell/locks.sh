#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs at the same time that add to one file: none loses what another adds.  tests/shell/dedup.sh has two runs into one folder.
. "$(dirname "$0")/../tap.sh"
for i in 1 2 3 4 5 6; do
	for n in $(seq 300); do echo "http://host$i.example/$n"; done >urls.$i
	mkdir -p "mirror/host$i.example" "mirror.$i/host$i.example"
	for n in 1 2 3 4 5; do
		echo "<title>$n</title><div>Home News Contact of host $i</div><p>page $n has words$n that others$n have$n not$n, and all$n of them differ$n" >"mirror.$i/host$i.example/$n.html"
	done
	cp mirror."$i"/host"$i".example/* "mirror/host$i.example/"
done

for round in 1 2 3 4 5; do
	rm -f seen seen.lock
	for i in 1 2 3 4 5 6; do "$P" url -q --seen=seen --print=none urls.$i & done
	wait
	is "url --seen, round $round: no URL is lost" "$(cat urls.* | "$P" url -q --seen=seen --ask --print=new | wc -l)" 0
	absent "url --seen, round $round: no lock file remains" seen.lock
done

"$P" boilerplate -q mirror.1 -o site.bp
for i in 2 3 4 5 6; do "$P" boilerplate -q --update=site.bp "mirror.$i" -o site.bp & done
wait
is "boilerplate --update: all hosts are kept" "$("$P" boilerplate --print site.bp | grep -c '^host')" 6
absent "boilerplate --update: no lock file remains" site.bp.lock
run "$P" boilerplate -q --update=site.bp mirror -o same.bp
same "the table is updated in its place as under another name" site.bp same.bp

# --- waiting ---
: >seen.lock
exec 9<>seen.lock && flock 9
"$P" url --seen=seen --print=none urls.1 2>waiting 9>&- &
waits=$!
for _ in $(seq 200); do [ -s waiting ] && break; sleep .05; done
has "a waiting run prints a note" waiting 'pagededup url: waiting for another run that writes seen$'
run "$P" url -q --seen=seen --ask --print=new urls.1
exits "--ask does not wait" 0
exec 9>&-
wait "$waits"
is "and ends when the lock is free" $? 0
: >seen.lock
run "$P" url -q --seen=seen --print=none urls.1
exits "the lock file of a killed run does not block" 0
absent "and is removed" seen.lock
mkfifo pipe
"$P" url -q --seen=other --print=none <pipe &
reader=$!
exec 8>pipe
for _ in $(seq 200); do [ -e other.lock ] && break; sleep .05; done
has "a run that reads holds the lock" <(ls) '^other.lock$'
kill "$reader"
wait "$reader"
absent "a signal removes the lock file" other.lock other
exec 8>&-
ln -s seen link
rm -f seen && "$P" url -q --seen=seen --print=none urls.1
exec 9<>seen.lock && flock 9
timeout 1 "$P" url -q --seen=link --print=none urls.1
is "a link is locked as the file that it leads to" $? 124
tap_done
