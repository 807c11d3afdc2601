#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# match --scope by registered domain and by a table of owners: pairs of equal and near pages, linked and all, with the
# rows in both orders; and invalid tables.
. "$(dirname "$0")/../tap.sh"

# Equal pages (e…) and near ones (n…) of hosts of two domains, one of them at co.uk, and an address.
{
	for row in "e1 http://a.x.co.uk/" "e2 https://b.x.co.uk:81/" "e3 http://a.y.co.uk/" "e4 http://y.co.uk./" "e5 http://10.0.0.1/" "e6 http://10.0.0.1/2"; do
		echo "00000000000000ff $row"
	done
	for row in "n1 http://a.x.co.uk/n" "n2 http://y.co.uk/n"; do echo "00000000000000fe $row"; done
} | fp_rows >in.fp
pairs() { "$P" match -q -k 3 --no-verify "$@" | rows | cut -f 1,2 | tr '\t\n' '- ' | sed 's/ $//'; }
is "same-domain, linked" "$(pairs --scope=same-domain in.fp)" "e1-e2 e1-n1 e3-e4 e3-n2 e5-e6"
is "same-domain, all pairs" "$(pairs --all-pairs --scope=same-domain in.fp)" "e1-e2 e1-n1 e2-n1 e3-e4 e3-n2 e4-n2 e5-e6"
is "other-domains, all pairs" "$(pairs --all-pairs --scope=other-domains in.fp)" \
	"e1-e3 e1-e4 e1-e5 e1-e6 e1-n2 e2-e3 e2-e4 e2-e5 e2-e6 e2-n2 e3-e5 e3-e6 e3-n1 e4-e5 e4-e6 e4-n1 e5-n1 e5-n2 e6-n1 e6-n2 n1-n2"
is "same-host knows nothing of domains" "$(pairs --all-pairs --scope=same-host in.fp)" "e1-n1 e4-n2 e5-e6"
printf 'b.x.co.uk\tIronworks\nY.co.uk\tnobody\ny.co.uk\tIronworks\n' >owners
is "same-site: hosts, then domains of a table; other hosts are separate sites" "$(pairs --all-pairs --scope=same-site --sites=owners in.fp)" \
	"e1-n1 e2-e3 e2-e4 e2-n2 e3-e4 e3-n2 e4-n2 e5-e6"
is "other-sites: all others" "$(pairs --all-pairs --scope=other-sites --sites=owners in.fp | wc -w)" $((28 - 8))
printf '# pagededup sites 1 | by=both first=5 similar=0.95\n#host\tsite\tpages\taddresses\tby\tvia\tsimilarity\n%s\n%s\n' \
	$'a.x.co.uk\ta.x.co.uk\t2\t-\t-\t-\t-' $'y.co.uk\ta.x.co.uk\t1\t-\tboth\ta.x.co.uk\t1.000' >sites.tsv
is "a table that sites wrote" "$(pairs --all-pairs --scope=same-site --sites=sites.tsv in.fp)" "e1-e3 e1-e4 e1-n1 e1-n2 e3-e4 e3-n1 e3-n2 e4-n1 e4-n2 e5-e6 n1-n2"
for scope in same-domain other-domains same-site other-sites; do
	table=(); case $scope in *site*) table=(--sites=owners) ;; esac
	for options in "" --all-pairs "-j 2"; do
		# shellcheck disable=SC2086
		is "$scope $options: the order of rows says nothing" "$(pairs $options --scope=$scope "${table[@]}" in.fp)" \
			"$(tac in.fp | pairs $options --scope=$scope "${table[@]}")"
	done
	run "$P" match -k 3 --no-verify --save=keys in.fp
	is "$scope: key files are the same" "$(pairs --scope=$scope "${table[@]}" keys)" "$(pairs --scope=$scope "${table[@]}" in.fp)"
	# Clusters stay within the owner, or hold no two pages of one.
	"$P" match -q -k 3 --no-verify --scope=$scope "${table[@]}" in.fp >pairs.tsv
	has "$scope: the header says so" pairs.tsv " scope=$scope $([ ${#table[@]} = 0 ] || echo sites=)"
done
"$P" match -q -k 3 --no-verify --scope=same-domain in.fp | "$P" cluster -q --linkage=connected --max-loss=1 >verdicts
is "clusters do not cross domains" "$(rows verdicts | awk -F '\t' '{ c[$1] = c[$1] " " $2 } END { for (i in c) print c[i] }' | sort | xargs)" "e1 e2 n1 e3 e4 n2 e5 e6"
"$P" match -q -k 3 --no-verify --scope=other-domains in.fp | "$P" cluster -q --linkage=star --max-loss=1 | rows >verdicts
is "other-domains: equal pages are neighbours, not one node" "$(awk -F '\t' '$4 { print $2 "-" $5 }' verdicts | xargs)" "e3-e2 n2-e2 e4-e1 e5-e1 e6-e1"

sort -r owners >backwards
is "the order of the table has no effect" "$("$P" match -q --scope=same-site --sites=backwards in.fp | head -1)" "$("$P" match -q --scope=same-site --sites=owners in.fp | head -1)"
hasnt "another table has another checksum" <("$P" match -q --scope=same-site --sites=sites.tsv in.fp | head -1) \
	"$("$P" match -q --scope=same-site --sites=owners in.fp | sed -n '1s/.* \(sites=[0-9a-f]*\).*/\1/p')"
run "$P" match --scope=same-site in.fp
exits "same-site without a table is misuse" 2
run "$P" match --sites=owners in.fp
exits "a table without the scope is misuse" 2
printf 'a.example\tx\nb.example\ty\na.example\tz\n' >twice
run "$P" match --scope=same-site --sites=twice in.fp
exits "two owners of a host" 2
has "the message names file and line" "$tmp/err" 'twice:3: a second owner of a.example'
echo one >bad
run "$P" match --scope=same-site --sites=bad in.fp
exits "an invalid table" 2
has "the message names the command that writes such a file" "$tmp/err" "bad holds no sites rows: 'pagededup sites' writes them"
tap_done
