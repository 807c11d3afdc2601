#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Learning in bounded memory: many pages of many hosts, learned and signed in one run.  The buffer of records fills
# several times, so that spooled data is merged.
# PAGES=1000000 HOSTS=10000 LINES=18 tests/run tests/long/boilerplate.sh takes ten minutes and 4 GB in TMPDIR.
. "$(dirname "$0")/../tap.sh"
pages=${PAGES:-200000} hosts=${HOSTS:-2000} lines=${LINES:-30}
cat >peak.py <<'E2'
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdout=open('rows', 'w')).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024, code)
E2
read -r mb code < <(python3 "$TOP/tests/long/many_pages.py" "$pages" "$hosts" "$lines" |
	python3 peak.py "$P" fp -q -j2 --learn-boilerplate --save-boilerplate=site.bp)
is "$pages pages of $hosts hosts are learned and signed" "$code" 0
is "each has its row" "$(grep -vc '^#' rows)" "$pages"
echo "# $mb MB at the peak, table $(($(wc -c <site.bp) / 1000000)) MB"
at_least "in 300 MB" $((300 - mb)) 0
"$P" boilerplate --print site.bp | grep -v '^#' >hosts
is "every host is there" "$(wc -l <hosts)" "$hosts"
is "every host taught all its lines" "$(awk -v n=$((lines / 3)) '$3 != n' hosts | wc -l)" 0
is "of no more than 32 pages each" "$(awk '$2 > 32' hosts | wc -l)" 0
tap_done
