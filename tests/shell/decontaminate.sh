#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# decontaminate finds the pages that contain items of a test set, exactly those that a comparison of all words finds.
. "$(dirname "$0")/../tap.sh"
python3 - <<'PY'
import json, random, re
random.seed(5)
vocabulary = ["w%d" % i for i in range(40)] + ["and", "the", "Of"]
def text(n):
    return " ".join(random.choice(vocabulary) + random.choice(["", "", ",", ".", " -", "\n"]) for _ in range(n))
items = [text(random.choice([3, 7, 8, 9, 12, 13, 14, 30, 60])) for _ in range(120)]
items += [items[3], items[40] + " tail of it", "words " * 40]
with open("tests.jsonl", "w") as f:
    for i, t in enumerate(items):
        f.write(json.dumps({"id": "q%d" % i, "question": t}) + "\n")
pages = []
for i in range(400):
    t = text(random.randrange(5, 200))
    for _ in range(random.choice([0, 1, 2, 3])):
        w = random.choice(items).split()
        a = random.randrange(len(w))
        b = a + random.choice([5, 8, 12, 13, 14, 60])
        t += " " + " ".join(w[a:b]).upper() + " " + text(random.randrange(0, 5))
    pages.append(t)
pages.append("words " * 20)
with open("corpus.jsonl", "w") as f:
    for i, t in enumerate(pages):
        f.write(json.dumps({"id": "p%d" % i, "text": t}) + "\n")
def words(t):
    return re.findall("[a-z0-9]+", t.lower())
def offsets(path):
    at = 0
    for line in open(path, "rb"):
        yield at
        at += len(line)
runs = []
for number, t in enumerate(items):
    w = words(t)
    n = 13 if len(w) >= 13 else len(w)
    runs.append(set(tuple(w[i:i + n]) for i in range(len(w) - n + 1)) if n >= 8 else set())
places = list(offsets("tests.jsonl"))
def expect(share, name):
    with open(name, "w") as out:
        for at, t in zip(offsets("corpus.jsonl"), pages):
            w = words(t)
            of = {n: set(tuple(w[i:i + n]) for i in range(len(w) - n + 1)) for n in range(8, 14)}
            held = []
            for number, r in enumerate(runs):
                hit = sum(1 for x in r if x in of[len(x)])
                if hit and hit / len(r) >= share:
                    held.append((-hit / len(r), -hit, number, len(r)))
            if held:
                s, hit, number, n = min(held)
                out.write("corpus.jsonl:%d\ttests.jsonl:%d\t%.3f\t%d of %d\t%d\n" % (at, places[number], -s, -hit, n, len(held) - 1))
expect(0, "any.want")
expect(.5, "half.want")
PY
found() { # as the expected lines
	rows "$1" | awk -F '\t' '$4 == 1 { match($11, /[0-9]+ of [0-9]+/); n = substr($11, RSTART, RLENGTH)
		others = match($11, /runs of [0-9]+ other/) ? substr($11, RSTART + 8, RLENGTH - 14) : 0
		print $2 "\t" $5 "\t" $8 "\t" n "\t" others + 0 }'
}
run "$P" decontaminate --against=tests.jsonl --test-field=question corpus.jsonl
exits "a corpus against a test set" 0
has "every page is searched, and no page is signed" "$tmp/err" '^pagededup decontaminate: 401 pages, [0-9.]+ s$'
cp "$tmp/out" any.tsv
same "the result of comparing all with all" <(found any.tsv) any.want
at_least "these are some" "$(wc -l <any.want)" 30
cat >names.py <<'END'
import json, re, sys
at, names = 0, {}
for line in open("tests.jsonl", "rb"):
    names["tests.jsonl:%d" % at] = json.loads(line)["id"]
    at += len(line)
for line in open("any.tsv"):
    f = line.rstrip("\n").split("\t")
    if line[0] != "#":
        named = re.match(r"(?:holds \d+ of \d+ runs of words of|test item) (\w+)", f[10])
        if not named or named[1] != names[f[4] if f[3] == "1" else f[1]]:
            print(line)
END
is "the reasons name the test items by their own ids" "$(python3 names.py)" ""
has "number of items, and of items that are too short" "$tmp/err" "^pagededup decontaminate: $(wc -l <any.want) pages contain [0-9]+ of [0-9]+ test items; [0-9]+ items of fewer than 8 words left out$"
run "$P" decontaminate --against=tests.jsonl --test-field=question --share=50% corpus.jsonl
same "with half of an item's runs at least" <(found "$tmp/out") half.want
same "with one thread" <("$P" decontaminate -q -j1 --against=tests.jsonl --test-field=question corpus.jsonl) any.tsv
gzip -k corpus.jsonl
same "from a compressed corpus on standard input" <("$P" decontaminate -q --against=tests.jsonl --test-field=question --name=corpus.jsonl <corpus.jsonl.gz | found /dev/stdin | cut -f2-) \
	<(cut -f2- any.want)
head -60 tests.jsonl >t1.jsonl && tail -n +61 tests.jsonl >t2.jsonl
is "a test set in several files" "$("$P" decontaminate -q --against=t1.jsonl --against=t2.jsonl --test-field=question corpus.jsonl | rows | cut -f2 | grep -c '^corpus')" \
	"$(wc -l <any.want)"
run "$P" apply -V any.tsv corpus.jsonl -o clean.jsonl
exits "apply removes them" 0
is "and leaves all others" "$(wc -l <clean.jsonl)" $((401 - $(wc -l <any.want)))
is "in which nothing is found" "$("$P" decontaminate -q --against=tests.jsonl --test-field=question clean.jsonl | rows | wc -l)" 0
same "contained items have separate rows" <(rows any.tsv | awk -F '\t' '$4 == 1 { print $5 }' | sort -u) \
	<(rows any.tsv | awk -F '\t' '$4 == 0 { print $2 }' | sort -u | grep -Fxf <(rows any.tsv | awk -F '\t' '$4 == 1 { print $5 }'))

# Web pages, whole, and Chinese, which is split into words.
printf '{"id":"zh","text":"%s"}\n' '冬天的海港里停着一艘很旧的木船，船上的人都说它从来没有离开过这座小城。' >zh.jsonl
printf '<html><body><nav>x</nav><p>%s<p>%s</html>' '冬天的海港里，停着一艘很旧的木船' '。船上的人都说：它从来没有离开过这座小城！' >zh.html
is "a Chinese item, over marks and tags" "$("$P" decontaminate -q --against=zh.jsonl zh.html | rows | cut -f2,8 | head -1)" $'zh.html\t1.000'
"$P" text -q "$demo" | head -1 | python3 -c 'import json, sys; print(json.dumps({"id": "copied", "text": " ".join(json.loads(sys.stdin.readline())["text"].split()[30:60])}))' >demo.jsonl
at_least "pages of a dump" "$("$P" decontaminate -q --against=demo.jsonl "$demo" | rows | grep -c "demo.warc.gz:")" 1

# An input of pages for match or dedup causes a hint at the right command; an input of rows does not.
"$P" fp -q corpus.jsonl >corpus.fp
echo "The question of a test set, in plain text" >tests.txt
gzip -c tests.jsonl >packed.jsonl.gz
mkdir folder
for against in tests.jsonl tests.txt packed.jsonl.gz; do
	run "$P" match --against=$against corpus.fp
	exits "match against $against" 2
	has "names decontaminate" "$tmp/err" "^pagededup match: $against holds .*'pagededup decontaminate --against'\$"
done
"$P" match --against=- corpus.fp <tests.jsonl >"$tmp/out" 2>"$tmp/err"
has "from standard input, too" "$tmp/err" "standard input holds .*'pagededup decontaminate --against'\$"
run "$P" dedup --against=tests.jsonl corpus.jsonl -o out
has "and so does dedup" "$tmp/err" "tests.jsonl holds .*'pagededup decontaminate --against'\$"
run "$P" match tests.jsonl
has "files without rows are not a test set" "$tmp/err" "without --format=jsonl\$"
run "$P" match --against=folder corpus.fp
exits "match against a folder" 2
has "is refused with the reason" "$tmp/err" 'folder: Is a directory'

run "$P" decontaminate corpus.jsonl
exits "without a test set" 2
has "the option is required" "$tmp/err" 'missing required option --against=TESTS'
run "$P" decontaminate --against=none.jsonl corpus.jsonl
exits "a test set that is not there" 2
run "$P" decontaminate --against=tests.jsonl corpus.jsonl
exits "a test set in other fields" 2
has "the message says so" "$tmp/err" 'tests\.jsonl: no (test items in it|field "text")'
tap_done
