#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# No command overwrites its input or reads its output, for any name of the file: typed, listed, found in a folder,
# another name of the same file, standard input and output.
. "$(dirname "$0")/../tap.sh"
page() { printf '<html><title>%s</title><body><p>%s</p></body></html>' "$1" "The tide mill at Pellow Creek grinds again after eighty quiet years, and $1 came to see it run."; }
mkdir site && page Anna >site/a.html && page Berta >site/b.html && page Carla >victim.html
cp -r site before && cp victim.html victim.before
"$P" fp -q site >rows.tsv && "$P" match -q rows.tsv -k 16 >pairs.tsv && "$P" cluster -q pairs.tsv >v.tsv

refused() { # NAME FILE COMMAND…: exit status 2 with a message; FILE (and standard input) are unchanged, and no other file appears
	local name=$1 file=$2
	shift 2
	cp "$file" kept
	run_in "$file" "$@"
	exits "$name: refused" 2
	has "$name: the file is named" "$tmp/err" "$(basename "$file").*(input|another output|another file)"
	same "$name: the file is as it was" "$file" kept
	absent "$name: nothing beside it" "$file".*.part
}
echo victim.html >list
refused "fp, an input of the list" victim.html "$P" fp -T list -o victim.html
refused "text, an input of the list" victim.html "$P" text -T list -o victim.html
refused "fp, the list" list "$P" fp -T list -o list
ln victim.html other-name.html && ln -s victim.html link.html
refused "fp, another name of an input" victim.html "$P" fp victim.html -o other-name.html
refused "fp, a link to an input of the list" victim.html "$P" fp -T list -o link.html
refused "fp, standard input" victim.html "$P" fp -o victim.html -
refused "apply, the verdicts" v.tsv "$P" apply -V v.tsv site/a.html -o v.tsv
refused "match, the rows" rows.tsv "$P" match rows.tsv -o rows.tsv
refused "match --save, the rows" rows.tsv "$P" match rows.tsv --save rows.tsv
refused "cluster, the pairs" pairs.tsv "$P" cluster pairs.tsv -o pairs.tsv
printf 'http://a/\t1\n' >rank.tsv
refused "cluster --rank, the ranks" rank.tsv "$P" cluster pairs.tsv --keep=rank --rank rank.tsv -o rank.tsv
"$P" boilerplate -q site -o site.bp 2>/dev/null
refused "fp --boilerplate, the table" site.bp "$P" fp --boilerplate site.bp site -o site.bp
refused "report, the verdicts" v.tsv "$P" report -V v.tsv -o v.tsv
refused "link, an input of the list" victim.html "$P" link -T list -o victim.html
refused "sites, an input of the list" victim.html "$P" sites -T list -o victim.html
printf 'http://a.example/%d\n' 1 2 >urls
refused "url, the URLs" urls "$P" url urls -o urls
refused "url --seen, the URLs" urls "$P" url urls --seen urls
printf 'mill 5 n\n' >words
refused "dict, the words" words "$P" dict words -o words
refused "dict --idf-from, the page" victim.html "$P" dict --idf-from=victim.html -o victim.html

# Two outputs of one name, whether there is such a file or not, at the same time or one after the other.
twice() { # NAME COMMAND…: an output to both.tsv is refused
	local name=$1 old
	shift
	for old in '' old; do
		rm -f both.tsv && { [ -z "$old" ] || echo "# old" >both.tsv; }
		run "$@"
		exits "$name, ${old:-no} file there: refused" 2
		has "$name, ${old:-no} file there: the message says so" "$tmp/err" 'two outputs would be written to'
		is "$name, ${old:-no} file there: before any work" "$(cat both.tsv 2>/dev/null)" "${old:+# old}"
		absent "$name, ${old:-no} file there: nothing beside it" both.tsv.*.part
	done
}
twice "fp --shingles" "$P" fp site --shingles=both.tsv -o ./both.tsv
twice "fp --left-out" "$P" fp site --left-out=both.tsv -o "$PWD/both.tsv"
twice "fp --stats" "$P" fp site --stats=both.tsv -o both.tsv
twice "fp --save-boilerplate" "$P" fp site --learn-boilerplate --save-boilerplate=both.tsv -o both.tsv
twice "match --stats" "$P" match rows.tsv --stats=both.tsv -o both.tsv
twice "apply --cdxj" "$P" apply -V v.tsv site/a.html --cdxj=both.tsv -o both.tsv
run "$P" url urls --seen=new.seen -o new.seen
has "url --seen, no file there: refused" "$tmp/err" 'two outputs would be written to'

# Outputs of the end are checked before hours are spent: an input, a file in an input folder, the name of another
# output.
cp victim.html site/list.html
early() { # NAME FILE OUTPUT COMMAND…: exit 2, FILE is named and as it was, and there is no OUTPUT
	local name=$1 file=$2 output=$3 was
	shift 3
	was=$(md5sum "$file" 2>&1)
	run "$@"
	exits "$name: refused" 2
	has "$name: the file is named" "$tmp/err" "$file.*another (output|file)"
	is "$name: the file is as it was" "$(md5sum "$file" 2>&1)" "$was"
	absent "$name: before any work" "$output"
}
early "dedup --left-out, a file in an input folder" site/list.html clean "$P" dedup site -o clean --left-out=site/list.html
early "dedup --left-out, a new file in an input folder" site/new.tsv clean "$P" dedup site -o clean --left-out=site/new.tsv
early "dedup --left-out, an input of the list" victim.html clean "$P" dedup -T list -o clean --left-out=victim.html
cp "$TOP/demo/demo.warc.gz" other.warc.gz
early "dedup --left-out, where a dump stands" other.warc.gz clean "$P" dedup site -o clean --left-out=other.warc.gz
rm other.warc.gz
early "dedup --left-out, an output's name" clean/victim.html clean "$P" dedup victim.html -o clean --left-out=clean/victim.html
early "dedup --left-out, a name of the run's own" clean/stats.json clean "$P" dedup victim.html -o clean --left-out=clean/stats.json
early "apply --stats, a file in an input folder" site/list.html clean "$P" apply -V v.tsv site -o clean/ --stats=site/list.html
early "apply --stats, an output's name" clean/a.html clean "$P" apply -V v.tsv site/a.html -o clean/ --stats=clean/a.html
early "fp --stats, the input" victim.html rows "$P" fp victim.html -o rows --stats=victim.html
early "fp --save-boilerplate, the input" victim.html rows "$P" fp victim.html -o rows --learn-boilerplate --save-boilerplate=victim.html
early "match --stats, the rows" rows.tsv near.tsv "$P" match rows.tsv -o near.tsv --stats=rows.tsv
rm site/list.html

# Standard output that is the input: it would be read for ever.
cp victim.html grows.html
"$P" fp -q grows.html >>grows.html 2>"$tmp/err"; code=$?
exits "standard output appended to the input: refused" 2
same "standard output appended to the input: as it was" grows.html victim.before
"$P" fp -q - <grows.html >>grows.html 2>"$tmp/err"; code=$?
exits "standard output appended to standard input: refused" 2

# An output inside an input folder is not a page, now and in the next run.
"$P" fp -q site >want.tsv
for round in 1 2; do
	run "$P" fp -q site -o site/rows.tsv
	exits "the output in the folder that is read, run $round" 0
	same "the output in the folder that is read, run $round: the rows of the pages" site/rows.tsv want.tsv
done
for round in 1 2; do
	run "$P" sites -q site -o site/sites.tsv
	exits "sites, the output in the folder that is read, run $round" 0
done
rm site/sites.tsv
run bash -c '"$1" fp -q site >site/rows.tsv' - "$P"
same "standard output in the folder that is read" site/rows.tsv want.tsv
rm site/rows.tsv
# … but an earlier file that is not such an output is an input.
printf '{"id":"1","url":"http://a.example/","text":"%s"}\n' "$(cat victim.html | tr -d '<>"')" >site/more.jsonl
cp site/more.jsonl before
for command in fp text boilerplate sites link rank; do
	refused "$command, a page of the folder" site/a.html "$P" $command site -o site/a.html
	refused "$command, a dump of the folder" site/more.jsonl "$P" $command site -o site/more.jsonl
done
refused "fp --stats, a page of the folder" site/a.html "$P" fp site -o rows.fp --stats=site/a.html
for round in 1 2; do
	run "$P" fp -q site -o site/rows.tsv --stats=site/stats.json --left-out=site/left.tsv --learn-boilerplate --save-boilerplate=site/lines.bp
	exits "every output in the folder that is read, run $round" 0
done
rm site/{rows.tsv,stats.json,left.tsv,lines.bp,more.jsonl} before/more.jsonl
is "the pages are as they were" "$(diff -r site before)" ""

# If the FILE of an option is forgotten, the option takes an input as its file, and standard input is read.
declare -A begins=([warc]='WARC/1.0\r\nWARC-Type: warcinfo\r\n' [gzip]='\x1f\x8b\x08\x00' [zstd]='\x28\xb5\x2f\xfd' [lz4]='\x04\x22\x4d\x18' [arc]='filedesc://x 0.0.0.0 2024'
	[tar]="$(printf 'x%.0s' {1..257})ustar" [zip]='PK\x03\x04')
for kind in "${!begins[@]}"; do
	printf '%b' "${begins[$kind]}" >dump && printf ' and more' >>dump
	for command in "fp -o dump" "fp -o rows.fp --stats dump" "fp -o rows.fp --left-out dump" "fp -o rows.fp --learn-boilerplate --save-boilerplate dump" "text -o dump" \
		"match rows.tsv -o dump" "match rows.tsv --save dump" "match rows.tsv --stats dump" "cluster pairs.tsv -o dump" "apply -V v.tsv site -o applied/ --stats dump"; do
		# shellcheck disable=SC2086
		refused "$command, where a dump stands ($kind)" dump "$P" $command
	done
done
absent "no work was done before" applied
for other in victim.html rows.tsv.json; do
	printf '{"url":"http://a.example/"}\n' >rows.tsv.json
	refused "--stats, where $other stands" $other "$P" fp --stats $other site
	has "the message gives the remedy" "$tmp/err" "$other was not written by this program; name another file, or remove it first"
done
rm -f rows.fp rows.tsv.json
for round in 1 2; do
	run "$P" fp -q site -o rows.fp --stats=s.json --left-out=left.tsv && exits "its own outputs are replaced, run $round" 0
	run "$P" match -q rows.fp -o m.tsv --stats=m.json && exits "those of match, run $round" 0
	run "$P" apply -q -V v.tsv site/a.html -o applied.html --stats=a.json && exits "those of apply, run $round" 0
done
for round in 1 2; do
	run "$P" apply -q -V /dev/null "$TOP/demo/demo.warc.gz" -o again.warc.gz --ignore-damaged
	exits "a dump that apply wrote is replaced by apply, run $round" 0
done
rm -rf s.json left.tsv m.tsv m.json a.json applied.html again.warc.gz rows.fp dump

# An output keeps the permissions of the file that it replaces.
: >secret && chmod 600 secret
(umask 022; "$P" fp -q site -o secret)
is "-o over a private file: it is still private" "$(stat -c %a secret)" 600
: >shared && chmod 664 shared
(umask 077; "$P" fp -q site -o shared)
is "-o over a file of a group: the group is kept" "$(stat -c %a shared)" 664
same "… and holds the rows" shared want.tsv
tap_done
