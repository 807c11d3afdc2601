#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Little of everything: open files, memory, room for a file; stopped in the middle; partners that are slow.  A command does all
# of its work, or says why not and leaves nothing.
. "$(dirname "$0")/../tap.sh"
cp "$demo" d.warc.gz
"$P" fp -q -j2 d.warc.gz >rows.want
"$P" match -q -j2 rows.want >pairs.want
"$P" cluster -q pairs.want >verdicts.want
"$P" apply -q -V verdicts.want d.warc.gz >clean.want
"$P" dedup -q -j2 -o all.want/ d.warc.gz
declare -A command=(
	[fp]="fp -q -j2 d.warc.gz -o new" [match]="match -q -j2 rows.want -o new" [cluster]="cluster -q pairs.want -o new"
	[apply]="apply -q -V verdicts.want d.warc.gz -o new" [dedup]="dedup -q -j2 d.warc.gz -o new/")
declare -A want=([fp]=rows.want [match]=pairs.want [cluster]=verdicts.want [apply]=clean.want [dedup]=all.want/d.warc.gz)

# No limit causes a mistake.  127: the system could not load the program.
under() { # NAME STATUSES LIMIT…: LIMIT is a command of the shell
	local name=$1 statuses=" $2 " limit bad='' done=0
	shift 2
	for c in "${!command[@]}"; do
		for limit; do
			rm -rf new new.* tmp && mkdir tmp
			# Messages go through a pipe: a file would have no room for them.
			{ TMPDIR=$PWD/tmp bash -c "$limit; exec \"\$0\" ${command[$c]}" "$P" </dev/null 2>&1 >/dev/null; echo $? >"$tmp/code"; } 2>/dev/null | cat >"$tmp/err"
			code=$(<"$tmp/code")
			result=new && [ $c = dedup ] && result=new/d.warc.gz
			case "$statuses" in *" $code "*) ;; *) bad+="$c, $limit: exit $code: $(head -c 200 "$tmp/err")"$'\n' ;; esac
			if [ $code = 0 ]; then done=$((done + 1)) && cmp -s $result "${want[$c]}" || bad+="$c, $limit: other output"$'\n'
			elif [ $c != dedup ] && [ -e new ]; then bad+="$c, $limit: exit $code, but an output"$'\n'
			elif [ $code = 2 ] && [ ! -s "$tmp/err" ]; then bad+="$c, $limit: without a word"$'\n'
			fi
			[ -z "$(ls tmp)$(find . -name '*.part')" ] || bad+="$c, $limit: something stays"$'\n'
		done
	done
	is "$name: all or nothing" "$bad" ""
	at_least "$name: some are through" $done 1
}
under "open files" "0 2 127" "ulimit -n "{3,4,5,6,7,8,9,10,12,16}
if [[ $B != *san-* ]]; then
	under "memory" "0 2 127" "ulimit -v "{60000,90000,110000,130000,150000,200000,300000,1500000}
	under "stacks for threads" "0 2" "ulimit -v 400000; ulimit -s 300000"
else skip "memory" "the sanitizers need much of it"; fi
under "room for a file, told by a signal" "0 153" "ulimit -f "{0,1,20,100000}
under "room for a file, told by an error" "0 2" "trap '' XFSZ; ulimit -f "{0,1,20,100000}
under "processes" "0 2" "ulimit -u 1"

# --- stopped, and slow partners ---
cat >slow.py <<'END'
"""slow.py stop|read|write COMMAND…: SIGSTOP and SIGCONT at many moments; a reader, or a writer, that takes its time."""
import os, signal, subprocess, sys, threading, time
how, command = sys.argv[1], sys.argv[2:]
data = open('d.warc.gz', 'rb').read()
p = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
def feed():
    for i in range(0, len(data), 8192):
        p.stdin.write(data[i:i + 8192]); p.stdin.flush()
        if how == 'write': time.sleep(.01)
    p.stdin.close()
def stop():
    for _ in range(30):
        os.kill(p.pid, signal.SIGSTOP); time.sleep(.005)
        os.kill(p.pid, signal.SIGCONT); time.sleep(.002)
threading.Thread(target=feed, daemon=True).start()
if how == 'stop': threading.Thread(target=stop, daemon=True).start()
while True:
    piece = os.read(p.stdout.fileno(), 2000 if how == 'read' else 1 << 16)
    if not piece: break
    sys.stdout.buffer.write(piece)
    if how == 'read': time.sleep(.005)
sys.stdout.flush()
sys.exit(p.wait())
END
"$P" fp -q - <d.warc.gz >stdin.want
for how in stop read write; do
	run timeout 120 python3 slow.py $how "$P" fp -q -j2 -
	exits "$how: fp is through" 0
	same "$how: the same rows" "$tmp/out" stdin.want
done

# --- a small stack ---
"$P" fp -q --learn-boilerplate "$demo" >stack.want
for size in 64 128 1024; do
	run bash -c "ulimit -s $size && exec \"\$@\"" - "$P" dedup -q "$demo" -o "stack.$size"
	exits "ulimit -s $size: dedup" 0
	run bash -c "ulimit -s $size && exec \"\$@\"" - "$P" fp -q -j3 --learn-boilerplate "$demo"
	exits "ulimit -s $size: fp" 0
	same "ulimit -s $size: fp writes the same" "$tmp/out" stack.want
done
tap_done
