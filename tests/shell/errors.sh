#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Misuse, damaged dumps, full disks, closed pipes, signals: exit codes, messages, and nothing half-written.
. "$(dirname "$0")/../tap.sh"
cp "$demo" d.warc.gz
"$P" fp -q d.warc.gz >d.fp
"$P" match -q d.fp >pairs.tsv
pages=$(rows d.fp | wc -l)
commands=$("$P" help --all | awk '/^  [a-z]/ { print $1 }')

# --- misuse: stderr, exit 2, a hint ---
misuse() { # NAME REGEX ARGUMENTS…
	local name=$1 want=$2
	shift 2
	run "$P" "$@"
	exits "$name: exit code" 2
	has "$name: message" "$tmp/err" "^pagededup.*$want"
	has "$name: where help is" "$tmp/err" "^Try 'pagededup.*--help'"
	empty "$name: nothing on standard output" "$tmp/out"
}
run "$P"
exits "no command: exit code" 2
same "no command: the screen of help, on standard error" "$tmp/err" <("$P" help)
empty "no command: nothing on standard output" "$tmp/out"
misuse "unknown command" "unknown command 'clutser'; did you mean 'cluster'" clutser
misuse "unknown command, nothing near" "unknown command 'zzzzzz'\$" zzzzzz
misuse "help of an unknown command" "unknown command 'mathc'; did you mean 'match'" help mathc
misuse "help with two operands" '.' help fp match
misuse "version with an operand" '.' version now
misuse "info with an operand" '.' info d.warc.gz
misuse "unknown option" 'unknown option --hsah; did you mean --hash' fp --hsah=rabin d.warc.gz
misuse "the name of an option in other programs" 'unknown option --threads; did you mean --jobs' fp --threads=2 d.warc.gz
misuse "the first name that the command has" 'unknown option --threshold; did you mean --similar' dedup --threshold=.9 d.warc.gz
misuse "and its value" 'unknown option --json; did you mean --format=jsonl' fp --json d.warc.gz
misuse "unknown option, nothing near" 'unknown option --zzzzzz$' match --zzzzzz
misuse "unknown letter" 'unknown option -Z' match -Z
misuse "an unknown letter in a bundle, after a long option" 'unknown option -Z$' fp --format=jsonl -Zj2
misuse "an unknown letter behind a known one" 'unknown option -Z$' fp --format=jsonl -qZ
misuse "a letter without its value, in a bundle" '-j needs a value$' fp --format=jsonl -qj
misuse "weights of features that are not weighed" '--features=title:9: weights of features need --weights=tf' fp --features=title:9,text d.warc.gz
misuse "large numbers" 'whole number from 1 to 1,000,000, not .0.' fp --min-terms=0
misuse "no value" '(--stats|--output|-o) needs a value' fp -o
misuse "a value too many" '--quiet.* takes no value' fp --quiet=yes
misuse "a number out of range" '--shingle takes a whole number from 1 to 16, not .99.' fp --shingle=99
misuse "no number" '--(distance|k).*whole number.*three' match -k three
misuse "no whole number" 'whole number' match -k 2.5
misuse "a choice that does not exist" '--linkage takes one of star, connected' cluster --linkage=complete
misuse "a width that does not exist" '--bits takes one of 64, 128, 256, not .96.' fp --bits=96
misuse "an invalid size" 'size' fp --max-page=4X
misuse "compare with one page" 'two pages' compare d.warc.gz:278
misuse "show without a page" 'page' show
misuse "show of two pages" 'one' show d.warc.gz:278 d.warc.gz:2824
for c in $commands; do
	run "$P" "$c" --help
	exits "$c --help" 0
	has "$c --help says how it is used" "$tmp/out" "^usage: pagededup $c"
	empty "$c --help says it on standard output alone" "$tmp/err"
	cp "$tmp/out" help
	run "$P" help "$c"
	same "help $c is $c --help" "$tmp/out" help
done
run "$P" --help
exits "--help" 0
same "--help is help" "$tmp/out" <("$P" help)
run "$P" --version
exits "--version" 0

# Decoding needs no module of iconv: the rows are the same if none can be loaded (no file can be opened; there are
# none).
printf '<html><meta charset=big5><title>\244\244\244\345</title><p>\244\244\244\345\272\364\255\266\244\244\244\345</html>' >big5.html
printf '<html><meta charset=euc-jp><title>\306\374\313\334</title><p>\306\374\313\334\270\354\306\374\313\334\270\354</html>' >euc.html
for page in big5 euc; do
	run "$P" fp -q -j1 $page.html
	exits "$page" 0
	cp "$tmp/out" sound.fp
	has "$page is decoded" sound.fp "	$page.html	.*	charset-meta"
	# One thread: the input is still open then, and takes the last file that may be.
	run bash -c "ulimit -n 4; exec '$P' fp -q -j1 $page.html"
	same "$page, no file more can be opened" "$tmp/out" sound.fp
	run env GCONV_PATH="$tmp/missing" "$P" fp -q -j1 $page.html
	same "$page, no charset modules" "$tmp/out" sound.fp
done
# Encoding needs one, for the method that hashes bytes of another charset: a different one would give other signatures,
# so the run ends.  glibc returns EINVAL for a module that it cannot load, as for an unknown charset.
abstract() { "$@" "$P" fp -q -j1 -o faulty.fp --method=abstract:charset=gb18030 big5.html; }
run abstract env
exits "a method with a charset" 0
rm -f faulty.fp
injector=$(cd "$TOP" && realpath "${B:-build}/tests/inject.so")
case ${B:-build} in
*san-*) skip "iconv_open fails" "the sanitizers stand in for malloc themselves" ;;
*)
	# EIO, ENOMEM, EACCES, EINVAL, ENFILE, EMFILE, ETIMEDOUT
	for error in 5 12 13 22 23 24 110; do
		run abstract env LD_PRELOAD="$injector" PD_FAULT=iconv:1 PD_FAULT_LOG=fault.log PD_FAULT_ERROR=$error
		exits "errno $error of a charset" 2
		absent "errno $error of a charset: no rows" faulty.fp
	done
	run abstract env LD_PRELOAD="$injector" PD_FAULT=iconv:1 PD_FAULT_LOG=fault.log PD_FAULT_ERROR=5
	has "the charset is named, and why" "$tmp/err" '^pagededup fp: .*iconv cannot load its module for [A-Za-z0-9-]*: Input/output error$'
	run abstract env LD_PRELOAD="$injector" PD_FAULT=iconv:1 PD_FAULT_LOG=fault.log PD_FAULT_ERROR=22
	has "the message names the possible loss" "$tmp/err" 'iconv cannot load its module for [A-Za-z0-9-]*\.  Modules belong to the package'
	;;
esac

# --- missing inputs ---
fails() { # NAME REGEX ARGUMENTS…
	local name=$1 want=$2
	shift 2
	run "$P" "$@"
	exits "$name: exit code" 2
	has "$name: message" "$tmp/err" "^pagededup.*$want"
}
for c in fp text match cluster show; do fails "$c of a missing file" 'nowhere.*No such file' $c nowhere; done
fails "compare with a missing file" 'nowhere.*No such file' compare d.warc.gz:278 nowhere
fails "a missing file after one that is there" 'nowhere.*No such file' fp -o out.fp d.warc.gz nowhere
absent "leaves nothing behind" out.fp*
fails "a list that is missing" 'nowhere.*No such file' fp --files-from=nowhere
echo nowhere >list
run "$P" fp --files-from=list
exits "a missing file in a list: the others are read" 1
has "a missing file in a list is named" "$tmp/err" 'nowhere.*No such file'
fails "a dictionary that is missing" 'nowhere.*No such file' fp --dict=nowhere d.warc.gz
fails "an invalid dictionary" 'd\.warc\.gz' fp --dict=d.warc.gz d.warc.gz
fails "an output folder that is missing" 'nowhere/x' fp -o nowhere/x d.warc.gz
fails "an output that is a folder" "$tmp/w" fp -o "$tmp/w" d.warc.gz
fails "--stats into a folder that is missing" 'nowhere/x' fp -o /dev/null --stats=nowhere/x d.warc.gz
fails "an id at which no record begins" 'd\.warc\.gz:279' show d.warc.gz:279
fails "an id past the end of its file" 'd\.warc\.gz:99999999' show d.warc.gz:99999999
fails "a dump without an offset" 'offset' show d.warc.gz
mkdir site
echo '<html><body><p>One page that can be read.</p></body></html>' >site/a.html
ln -s nothing site/b.html
run "$P" fp site
exits "a link to nothing in a folder" 1
has "the message names it" "$tmp/err" 'site/b\.html.*No such file'
is "the others are read" "$(column id "$tmp/out")" site/a.html
rm site/b.html
if [ "$(id -u)" != 0 ]; then
	cp site/a.html site/b.html && chmod 0 site/b.html
	run "$P" fp site
	exits "a file in a folder that cannot be read" 1
	has "the message names it" "$tmp/err" 'site/b\.html.*Permission denied'
else
	skip "a file in a folder that cannot be read" "root may read everything"
fi
rm -rf site && mkdir site
run "$P" fp site
exits "an empty folder" 0

# --- nothing to do ---
: >empty.warc.gz
run "$P" fp empty.warc.gz
exits "an empty dump" 0
is "an empty dump: header, columns, total" "$(cut -c 1-20 "$tmp/out")" $'# pagededup fp 1 ver\n#fingerprint\tid\turl\t\n# total pages=0 with'
run "$P" fp
exits "empty standard input" 0
"$P" fp -q </dev/null | "$P" match -q | "$P" cluster -q >"$tmp/out"
is "nothing through the whole pipe" "${PIPESTATUS[*]} $(rows "$tmp/out" | wc -l)" "0 0 0 0"
run "$P" text </dev/null
empty "text of nothing is nothing" "$tmp/out"
echo 'not a dump, not a page' >words
run "$P" fp words
echo "# a file of plain words: exit $code, $(rows "$tmp/out" | wc -l) rows, $(head -1 "$tmp/err")"
head -c 5000 /dev/urandom >junk
run "$P" fp junk
echo "# random bytes: exit $code, $(rows "$tmp/out" | wc -l) rows, $(head -1 "$tmp/err" | tr -dc '[:print:]')"
hasnt "messages hold no control bytes" <(LC_ALL=C tr -d '\n\t\40-\176\200-\377' <"$tmp/err") .

# --- damaged dumps ---
damaged() { # NAME FILE OFFSET REMAINING-PAGES: a dump with one damaged record
	local name=$1 file=$2 at=$3 left=$4
	run "$P" fp "$file"
	exits "$name: exit code" 1
	has "$name: the record is named by file and offset, with a reason" "$tmp/err" "^pagededup fp: $file:$at: .{8,}; left out\$"
	is "$name: the only one" "$(grep -c 'left out$' "$tmp/err")" 1
	is "$name: the other pages are kept" "$(column id "$tmp/out" | wc -l)" "$left"
	has "$name: the total counts it" <(tail -1 "$tmp/out") '^# total .*damaged=1 '
	cp "$tmp/out" first
	run "$P" fp --ignore-damaged "$file"
	exits "$name, --ignore-damaged" 0
	same "$name, --ignore-damaged: the same rows" "$tmp/out" first
	run "$P" text "$file"
	exits "$name, text" 1
	is "$name, text: the others are written" "$(wc -l <"$tmp/out")" "$left"
}
mapfile -t at < <(column id d.fp | cut -d: -f2)
head -c $((at[40] + 300)) d.warc.gz >cut.warc.gz
damaged "a dump cut in a member" cut.warc.gz "${at[40]}" 40
head -c $((at[40] + 5)) d.warc.gz >cut5.warc.gz
damaged "a dump cut in a member's header" cut5.warc.gz "${at[40]}" 40
{ head -c $((at[30] + 400)) d.warc.gz; head -c 60 /dev/zero | tr '\0' '\252'; tail -c +$((at[30] + 461)) d.warc.gz; } >flip.warc.gz
damaged "sixty bytes overwritten in a member" flip.warc.gz "${at[30]}" $((pages - 1))
{ head -c $((at[30])) d.warc.gz; echo 'not a member'; tail -c +$((at[30] + 1)) d.warc.gz; } >between.warc.gz
damaged "junk between two members" between.warc.gz "${at[30]}" "$pages"
zcat d.warc.gz >d.warc
"$P" fp -q d.warc >plain.fp
mapfile -t plain < <(column id plain.fp | cut -d: -f2)
head -c $((plain[40] + 900)) d.warc >cut.warc
damaged "a plain dump cut in a record" cut.warc "${plain[40]}" 40
# The record's own length wrong: too short, too long, no number.
wrong_length() { # FILE SED-EXPRESSION
	{ head -c "${plain[30]}" d.warc; tail -c +$((plain[30] + 1)) d.warc | sed -E "0,/^Content-Length:/ s/^Content-Length: ([0-9]*)/$2/"; } >"$1"
}
wrong_length short.warc 'Content-Length: 700'
run "$P" fp short.warc
exits "Content-Length too small" 1
at_least "Content-Length too small: the others are kept" "$(column id "$tmp/out" | wc -l)" $((pages - 1))
wrong_length long.warc 'Content-Length: 1\1'
run "$P" fp long.warc
exits "Content-Length too large" 1
has "Content-Length too large: the record is named" "$tmp/err" "long\.warc:${plain[30]}:"
at_least "Content-Length too large: at most a few records are lost" "$(column id "$tmp/out" | wc -l)" $((pages - 6))
wrong_length none.warc 'Content-Length: many'
run "$P" fp none.warc
exits "invalid Content-Length" 1
has "invalid Content-Length: the record is named" "$tmp/err" "none\.warc:${plain[30]}:"
at_least "invalid Content-Length: the others are kept" "$(column id "$tmp/out" | wc -l)" $((pages - 1))
wrong_length huge.warc 'Content-Length: 99999999999999999999999'
run "$P" fp huge.warc
exits "Content-Length that is absurd" 1
has "Content-Length that is absurd: the record is named" "$tmp/err" "huge\.warc:${plain[30]}:"
# A length of a megabyte, which leads into the midst of other records: a file can be looked at there, a pipe cannot.
wrong_length far.warc 'Content-Length: 1000000'
for _ in 1 2 3 4 5 6; do cat d.warc; done >>far.warc
damaged "a length that leads far into other records" far.warc "${plain[30]}" $((7 * pages - 1))
run "$P" fp far.warc
cp "$tmp/out" by-name
"$P" fp --name=far.warc <far.warc >"$tmp/out" 2>"$tmp/err"
same "the same, as standard input that is a file" "$tmp/out" by-name
# shellcheck disable=SC2002
cat far.warc | "$P" fp >through-pipe 2>"$tmp/err"
is "the same in a pipe: exit code" "$?" 1
has "the same in a pipe: the lost records, and the remedy" "$tmp/err" "^pagededup fp: -:${plain[30]}: the record's length leads past other records; as a file .*; left out\$"
at_least "the same in a pipe: later records are kept" "$(column id through-pipe | wc -l)" $((3 * pages))

# --- closed pipe ---
for stage in "fp d.warc.gz" "text d.warc.gz" "match -k 16 --all-pairs big.fp" "cluster big.tsv" "show -s html d.warc.gz:278" help; do
	[ -f big.fp ] || { python3 "$TOP/tests/brute_pairs.py" keys clustered 3000 64 1 | fp_rows >big.fp; "$P" match -q -k 8 big.fp >big.tsv; }
	# shellcheck disable=SC2086
	timeout 10 "$P" $stage 2>err | head -1 >"$tmp/out"
	status=${PIPESTATUS[0]}
	is "$stage | head -1: neither an error nor a hang" "$(case $status in 0 | 141) echo fine ;; *) echo "$status" ;; esac)" fine
	is "$stage | head -1: no message" "$(grep -v ' s$' err)" ""
	is "$stage | head -1: one line" "$(wc -l <"$tmp/out")" 1
done
"$P" fp -q d.warc.gz >&- 2>err
is "standard output that is closed" "$?" 2

# --- full disk ---
for stage in "fp d.warc.gz" "text d.warc.gz" "match d.fp" "cluster pairs.tsv" "show d.warc.gz:278" "compare d.warc.gz:278 d.warc.gz:2824" info version help "fp --help"; do
	# shellcheck disable=SC2086
	"$P" $stage >/dev/full 2>"$tmp/err" </dev/null
	code=$?
	exits "$stage >/dev/full" 2
	has "$stage >/dev/full: message" "$tmp/err" 'standard output.*No space left'
done
full() { # a small file system, if mounting is allowed, otherwise a limit on the size of files
	if unshare -rm sh -c "mount -t tmpfs -o size=8k none '$tmp/w'" 2>/dev/null; then
		unshare -rm sh -c "mount -t tmpfs -o size=8k none '$tmp/w/small' && \"\$@\" && code=0 || code=\$?; ls '$tmp/w/small' >'$tmp/left_there'; exit \$code" _ "$@"
	else (trap '' XFSZ; ulimit -f 8; "$@"; code=$?; ls small >"$tmp/left_there"; exit $code); fi
}
mkdir small
for stage in "fp d.warc.gz" "text d.warc.gz" "match -k 16 --all-pairs big.fp" "cluster big.tsv"; do
	# shellcheck disable=SC2086
	full "$P" $stage -o small/out >"$tmp/out" 2>"$tmp/err" </dev/null
	code=$?
	exits "$stage -o on a full disk" 2
	has "$stage -o on a full disk: message" "$tmp/err" '(small/out|temporary file).*(No space|too large)'
	empty "$stage -o on a full disk: nothing is left there" "$tmp/left_there"
	rm -f small/*
done
full "$P" match --tmp-dir=small -k 3 big.fp >"$tmp/out" 2>"$tmp/err"
code=$?
exits "match, full disk under its spool" 2
has "match, full disk under its spool: the message gives the remedy" "$tmp/err" '--tmp-dir'
full "$P" fp -q -o /dev/null --stats=small/stats d.warc.gz 2>"$tmp/err"
exits "and a small file still fits" "$code"
rm -f small/*
run "$P" match --tmp-dir=nowhere d.fp
exits "--tmp-dir that is missing" 2
has "--tmp-dir that is missing is named" "$tmp/err" 'nowhere'
TMPDIR=nowhere run "$P" match d.fp
exits "TMPDIR that is missing" 2
has "TMPDIR that is missing is named" "$tmp/err" 'nowhere'
TMPDIR=nowhere run "$P" match -q --tmp-dir=small d.fp
exits "--tmp-dir overrides TMPDIR" 0
TMPDIR=small run "$P" match -q d.fp
absent "TMPDIR is empty" small/*
if [ "$(id -u)" != 0 ]; then
	chmod 500 small
	TMPDIR=small run "$P" match d.fp
	exits "TMPDIR that is not writable" 2
	chmod 700 small
else
	skip "TMPDIR that is not writable" "root may write everywhere"
fi

# --- output files ---
echo before >out.fp
run "$P" fp -q -o out.fp d.warc.gz
empty "-o: nothing on standard output" "$tmp/out"
same "-o replaces a file" out.fp d.fp
echo before >kept
run "$P" fp -q -o kept d.warc.gz nowhere
is "a run that fails leaves the old file" "$(cat kept)" before
run "$P" fp -q -o - d.warc.gz
same "-o - is standard output" "$tmp/out" d.fp
touch real && ln -s real link
run "$P" fp -q -o link d.warc.gz
is "-o NAME of a link writes its target" "$([ -L link ] && cat real 2>&1 | wc -l)" "$(wc -l <d.fp)"
ln -s /proc/self/fd/1 stdout-link # as /dev/stdout is
"$P" fp -q -o stdout-link d.warc.gz >redirected 2>"$tmp/err"
is "-o /dev/stdout, redirected to a file: the link is kept" "$([ -L stdout-link ] && echo link)" link
same "-o /dev/stdout, redirected to a file: the file has it" redirected d.fp
if shm=$(mktemp -d -p /dev/shm 2>/dev/null); then
	run "$P" fp -q -o "$shm/new.fp" d.warc.gz
	same "-o in /dev/shm: a file like any other" "$shm/new.fp" d.fp
	rm -r "$shm"
else skip "-o in /dev/shm" "no /dev/shm"; fi
mkfifo fifo
(cat fifo >from-fifo) &
run "$P" fp -q -o fifo d.warc.gz
wait
same "-o NAME of a named pipe" from-fifo d.fp
umask 027
run "$P" fp -q -o masked d.warc.gz
is "-o: the mode is that of a new file" "$(stat -c %a masked)" 640
umask 022

# --- signals, while the input is slow ---
cat >stop.py <<'END'
import glob, os, signal, subprocess, sys, time
program, name, dump = sys.argv[1:4]
number = getattr(signal, name)
# The sanitizer for threads keeps a signal from a thread that waits for a lock until it has it, as when the input has ended.
held_back = 'san-thread' in program
slow = 10 if 'san-' in program else 1
open('old', 'w').write('before')
p = subprocess.Popen([program] + sys.argv[4:], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
p.stdin.write(open(dump, 'rb').read()[:-50])
p.stdin.flush()
time.sleep(.4 * slow)
print('running' if p.poll() is None else 'ended %d' % p.returncode)
print('old file: ' + open('old').read(), 'beside it: %d' % (len(glob.glob('old?*'))))
begun = time.monotonic()
p.send_signal(number)
if held_back: p.stdin.close()
try: p.wait(5 * slow)
except subprocess.TimeoutExpired: p.kill(); p.wait()
print('by signal' if p.returncode == -number else 'status %d' % p.returncode, 'in time' if time.monotonic() - begun < slow else 'too late')
print('old file: ' + open('old').read(), 'beside it: %d' % (len(glob.glob('old?*'))))
print('stderr: ' + ('' if held_back else p.stderr.read().decode()))
END
cat d.warc.gz d.warc.gz d.warc.gz >three.warc.gz
for signal in SIGINT SIGTERM SIGHUP; do
	for stage in "fp -j1" "fp -j4" "text -j2"; do
		# shellcheck disable=SC2086
		is "$signal during $stage" "$(timeout 90 python3 stop.py "$P" $signal three.warc.gz $stage -o old 2>&1)" \
			$'running\nold file: before beside it: 1\nby signal in time\nold file: before beside it: 0\nstderr: '
	done
done
# Others that end a process: by hand, or when it has used up its time.
for signal in SIGQUIT SIGUSR1 SIGXCPU SIGALRM; do
	is "$signal" "$(ulimit -c 0 && timeout 90 python3 stop.py "$P" $signal three.warc.gz fp -j2 -o old 2>&1)" \
		$'running\nold file: before beside it: 1\nby signal in time\nold file: before beside it: 0\nstderr: '
done
is "SIGTERM during match" "$(timeout 90 python3 stop.py "$P" SIGTERM d.fp match -o old 2>&1 | grep -v 'before beside it: [01]$')" \
	$'running\nby signal in time\nstderr: '

# --- messages ---
run "$P" fp --quiet d.warc.gz
empty "--quiet says nothing" "$tmp/err"
run "$P" fp --quiet cut.warc.gz
has "--quiet still names damaged records" "$tmp/err" 'left out'
run "$P" fp --no-progress d.warc.gz
is "--no-progress: only the closing line" "$(wc -l <"$tmp/err") $(tr -dc '\r' <"$tmp/err" | wc -c)" "1 0"
run "$P" fp d.warc.gz
is "no terminal, no progress" "$(tr -dc '\r' <"$tmp/err" | wc -c)" 0
same "the rows are the same for every setting" "$tmp/out" d.fp
# Long enough to be seen on the way: the first line is written before a page is read.
for _ in 1 2 3 4 5 6 7 8 9 10; do cat far.warc; done >farther.warc
run "$P" fp --progress -j1 farther.warc
has "--progress shows pages, MB/s, share done, time left" "$tmp/err" '[0-9]+ pages, .*MB/s, [0-9]+ %, [0-9]+:[0-9][0-9] left'
rm farther.warc
run "$P" fp --progress -j1 far.warc
same "--progress: only on standard error" "$tmp/out" by-name
is "--progress wipes itself before the closing line" "$(tail -c 200 "$tmp/err" | tr '\r' '\n' | tail -1 | sed 's/^\x1b\[K//' | cut -c 1-14)" "pagededup fp: "

# --- --stats ---
run "$P" fp --stats=fp.json cut.warc.gz
tail -1 "$tmp/out" | tr ' ' '\n' >total
number() { awk -F= -v k="$1" '$1 == k { print $2 }' total; }
json() { python3 -c 'import json, sys; print(eval(sys.argv[2], {"j": json.load(open(sys.argv[1]))}))' "$@" 2>&1; }
is "fp --stats: pages, damaged, left out, bytes as in the total" \
	"$(json fp.json '"%d %d %d %d" % (j["pages"], j["damaged"], sum(j["left_out"].values()) - j["left_out"].get("damaged", 0), j["bytes_read"])')" \
	"$(number pages) $(number damaged) $(number left_out) $(number bytes)"
is "fp --stats: CPU seconds per phase make up the whole, nearly" \
	"$(json fp.json '0 < sum(j["cpu_seconds_by_phase"].values()) <= j["cpu_seconds"] * 1.05')" True
is "fp --stats: phases" "$(json fp.json '",".join(sorted(set(j["cpu_seconds_by_phase"]) & {"read", "page", "topic", "sign"}))')" page,read,sign,topic
run "$P" text --stats=text.json d.warc.gz
is "text --stats" "$(json text.json 'j["pages"]')" "$pages"
run "$P" match --stats=match.json -k 5 d.fp
is "match --stats: rows, fingerprints, pairs, k" "$(json match.json '"%d %d %d %d" % (j["rows"], j["fingerprints"], j["pairs"], j["k"])')" \
	"$pages $(column fingerprint d.fp | grep -vc '^-$') $(rows "$tmp/out" | wc -l) 5"
is "match --stats: distinct" "$(json match.json 'j["distinct"]')" "$(column fingerprint d.fp | grep -v '^-$' | sort -u | wc -l)"

# --- very many damaged records ---
for i in $(seq 1 250); do echo '{"id": 1, "text": "broken'; done >bad.jsonl
printf '{"text": "Nine grey herons stood along the weir this morning, and none of them moved at all"}\n' >good.jsonl
cat good.jsonl bad.jsonl good.jsonl >many.jsonl
run "$P" fp -q many.jsonl
exits "very many damaged records: exit status" 1
is "the first hundred are named" "$(grep -c '^pagededup fp: many.jsonl:[0-9]*: ' "$tmp/err")" 100
has "the others are counted" "$tmp/err" "^pagededup fp: many.jsonl: 150 more are not listed$"
cp many.jsonl more.jsonl
run "$P" fp -q many.jsonl more.jsonl
is "of each file" "$(grep -c ': 150 more are not listed$' "$tmp/err")" 2

tap_done
