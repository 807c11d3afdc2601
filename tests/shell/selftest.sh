#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# pagededup selftest: its checks, and that it can fail.
. "$(dirname "$0")/../tap.sh"
run "$P" selftest
exits "selftest" 0
has "the probe page is as documented" "$tmp/out" '^probe page +ok: [0-9a-f]{8}$'
hasnt "golden pages are for --long" "$tmp/out" golden
probe=$(sed -n 's/^probe page  *ok: //p' "$tmp/out")
run "$P" fp -q "$demo"
has "headers have the probe" "$tmp/out" "^# pagededup fp 1 version=[0-9]+ .* probe=$probe [|]"
run "$P" selftest --long
exits "selftest --long" 0
has "all golden pages except those that need a file" "$tmp/out" "^golden pages +ok: $(($(ls -d "$TOP"/tests/golden/*/ | wc -l) - $(grep -l boilerplate "$TOP"/tests/golden/*/opts | wc -l))), with the digest [0-9a-f]{8}$"
# Another expected fingerprint of one page: the program itself with some changed bytes.
fingerprint=$(sed -n 's/^fingerprint: //p' "$TOP/tests/golden/zh-news-gbk/signature")
python3 - "$P" "$fingerprint" broken <<'EOF'
import os, sys
data = open(sys.argv[1], 'rb').read()
was = b'fingerprint: ' + sys.argv[2].encode()
assert data.count(was) == 1
open(sys.argv[3], 'wb').write(data.replace(was, b'fingerprint: ' + b'0' * len(sys.argv[2])))
os.chmod(sys.argv[3], 0o755)
EOF
run ./broken selftest
exits "a page that it does not sign does not matter without --long" 0
run ./broken selftest --long
exits "another fingerprint" 2
has "and its page is named" "$tmp/out" '^page zh-news-gbk +FAILED: '
# A changed byte in the middle of the dictionary.
python3 - "$P" broken <<'EOF'
import os, sys
data = bytearray(open(sys.argv[1], 'rb').read())
at = data.index(b'\x89PDDICT\n') + 8000000
data[at] ^= 1
open(sys.argv[2], 'wb').write(data)
os.chmod(sys.argv[2], 0o755)
EOF
run ./broken selftest
exits "a damaged dictionary" 2
has "and the damage is named" "$tmp/out" '^dictionary +FAILED: '
# Rows of two builds that read pages differently.
"$P" fp -q "$demo" >here.fp
sed 's/ probe=[0-9a-f]*/ probe=00000000/' here.fp >there.fp
run "$P" match -q here.fp there.fp
exits "rows of two builds" 2
has "that read pages differently" "$tmp/err" 'probe: [0-9a-f]{8} and 00000000: two builds of pagededup that read pages differently'
sed 's/ version=[0-9]*/ version=3/' here.fp >old.fp
run "$P" match -q here.fp old.fp
exits "rows of an older version" 2
has "must be made again" "$tmp/err" 'version: [0-9]+ and 3: .*make the older rows again'
run "$P" match -q old.fp
exits "by themselves they are matched" 0
# The checksum of a dictionary depends on its words and frequencies, not on the order of lines or on the random choices
# of its hash function.
head -3000 /usr/lib/python3/dist-packages/jieba/dict.txt 2>/dev/null | grep -v '[A-Za-z]' >words || for i in $(seq 3000); do echo "词$i $i n"; done >words
tac words >turned
sed '7s/ [0-9]* / 77777 /' words >changed
for words in words turned changed; do
	"$P" dict -q -o $words.dict $words
	"$P" fp -q --dict=$words.dict "$demo" >$words.fp
done
is "that are one dictionary" "$(head -1 turned.fp)" "$(head -1 words.fp)"
run "$P" match -q words.fp turned.fp
exits "its rows match" 0
run "$P" match -q words.fp changed.fp
exits "another frequency makes another dictionary" 2
has "the message says so" "$tmp/err" '^pagededup match: .*dict: [0-9a-f]{16} and [0-9a-f]{16}'
# A compiler for machines that order bytes the other way.
cat >cc <<'EOF'
#!/bin/sh
case "$*" in *-dM*) echo '#define __BYTE_ORDER__ __ORDER_BIG_ENDIAN__' ;; *) exec cc "$@" ;; esac
EOF
chmod +x cc
run env -u MAKEFLAGS -u MAKELEVEL make --no-print-directory -s -C "$TOP" CC="$PWD/cc" B="$PWD/big" "$PWD/big/pagededup"
exits "a big-endian machine is refused" 2
has "the message gives the reason" "$tmp/err" 'little-endian machines only'
is "before anything is compiled" "$(ls big 2>/dev/null)" ''
tap_done
