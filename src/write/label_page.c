/* SPDX-License-Identifier: MIT */
#include "write/label_page.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/utf8.h"
#include "write/markup.h"

/* A text longer than this is cut: nobody reads on. */
enum { SHOWN = 20000 };

static const char head[] =
	"<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
	"script-src 'unsafe-inline'\">\n<title>Pairs of pages to label</title>\n<style>\n"
	":root { color-scheme: light dark; --line: #8886; --mark: #f5c51855; }\n"
	"body { font: 1rem/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 90rem; padding: 0 1rem 6rem; }\n"
	".texts { display: grid; grid-template-columns: 1fr 1fr; gap: 1rem; }\n"
	"article { border: 1px solid var(--line); border-radius: .4rem; padding: .5rem 1rem; min-width: 0; }\n"
	"article h3, .url, .text { overflow-wrap: anywhere; unicode-bidi: plaintext; }\n"
	".text { white-space: pre-wrap; }\n.url { font-size: .85rem; opacity: .8; }\n"
	"mark { background: var(--mark); color: inherit; }\n"
	".mark { border: 1px dashed; border-radius: .2rem; font: .75em monospace; padding: 0 .2em; unicode-bidi: isolate; }\n"
	"fieldset { border: 0; padding: .5rem 0; }\nlabel { margin-right: 1.5rem; }\n"
	"nav { position: fixed; inset: auto 0 0; background: Canvas; border-top: 1px solid var(--line); padding: .6rem 1rem; }\n"
	"button { font: inherit; padding: .2rem .8rem; }\n.js .pair:not(.now) { display: none; }\n"
	"@media (max-width: 40rem) { .texts { grid-template-columns: 1fr; } }\n</style>\n</head>\n<body>\n"
	"<h1>Are these two the same page?</h1>\n"
	"<p>Duplicate: one of the two could go, and nothing would be lost but small changes, a date, advertisements.  "
	"Lines that only one of them has are marked.  Keys: <kbd>D</kbd> duplicate, <kbd>N</kbd> different, <kbd>U</kbd> unsure, "
	"<kbd>J</kbd> next, <kbd>K</kbd> previous, <kbd>S</kbd> save.</p>\n"
	"<noscript><p>Saving needs JavaScript.</p></noscript>\n";

static const char script[] =
	"<script>\n'use strict';\n"
	"const main = document.querySelector('main'), pairs = [...document.querySelectorAll('.pair')];\n"
	"const words = { d: 'duplicate', n: 'different', u: 'unsure' };\nlet at = 0;\n"
	"const label = p => (p.querySelector('input:checked') || {}).value;\n"
	"function store() {\n"
	"  try { localStorage.setItem(main.dataset.name, JSON.stringify(pairs.map(p => label(p) || ''))); } catch (e) { /* none */ }\n}\n"
	"function restore() {\n"
	"  try {\n    JSON.parse(localStorage.getItem(main.dataset.name) || '[]').forEach((v, i) => {\n"
	"      if (pairs[i] && v) pairs[i].querySelector(`input[value=${v}]`).checked = true;\n    });\n"
	"  } catch (e) { /* none */ }\n}\n"
	"function count() {\n"
	"  document.getElementById('done').textContent = pairs.filter(label).length;\n}\n"
	"function go(to) {\n  at = Math.max(0, Math.min(pairs.length - 1, to));\n"
	"  pairs.forEach((p, i) => p.classList.toggle('now', i === at));\n"
	"  window.scrollTo(0, 0);\n  if (pairs[at]) pairs[at].querySelector('h2').focus();\n}\n"
	"function table() {\n"
	"  return main.dataset.columns + '\\n' + pairs.filter(label).map(p =>\n"
	"    [p.dataset.ids, label(p), p.dataset.rest].join('\\t') + '\\n').join('');\n}\n"
	"function save() {\n  const a = document.createElement('a');\n"
	"  a.href = URL.createObjectURL(new Blob([table()], { type: 'text/tab-separated-values' }));\n"
	"  a.download = 'labels.tsv';\n  a.click();\n  setTimeout(() => URL.revokeObjectURL(a.href), 10000);\n}\n"
	"document.addEventListener('keydown', e => {\n"
	"  if (e.ctrlKey || e.altKey || e.metaKey) return;\n  const key = e.key.toLowerCase();\n"
	"  if (words[key] && pairs[at]) {\n"
	"    pairs[at].querySelector(`input[value=${words[key]}]`).checked = true;\n    store(); count(); go(at + 1);\n"
	"  } else if (key === 'j') go(at + 1);\n  else if (key === 'k') go(at - 1);\n  else if (key === 's') save();\n"
	"  else return;\n  e.preventDefault();\n});\n"
	"document.addEventListener('change', () => { store(); count(); });\n"
	"document.getElementById('back').onclick = () => go(at - 1);\ndocument.getElementById('on').onclick = () => go(at + 1);\n"
	"document.getElementById('save').onclick = save;\n"
	"document.body.classList.add('js');\nrestore(); count(); go(Math.max(0, pairs.findIndex(p => !label(p))));\n"
	"</script>\n";

/* Hashes of the lines of a text, in order. */
struct lines {
	uint64_t *v;
	size_t n, cap;
};

static int up(const void *x, const void *y)
{
	uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
	return (a > b) - (a < b);
}

static struct lines lines_of(struct pd_span text)
{
	struct lines l = { 0 };
	struct pd_span line;
	while (text.n && pd_span_split(&text, '\n', &line)) {
		line = pd_span_trim(line);
		l.v = pd_grow(l.v, l.n, &l.cap, sizeof *l.v);
		l.v[l.n++] = pd_hash64(line.p, line.n);
	}
	if (l.n)
		qsort(l.v, l.n, sizeof *l.v, up);
	return l;
}

static bool has(const struct lines *l, struct pd_span line)
{
	line = pd_span_trim(line);
	uint64_t hash = pd_hash64(line.p, line.n);
	return l->n && bsearch(&hash, l->v, l->n, sizeof *l->v, up);
}

/* Not more than SHOWN bytes, and no character cut in two. */
static struct pd_span shown(struct pd_span text)
{
	size_t n = SHOWN;
	if (text.n <= SHOWN)
		return text;
	while (n > 0 && ((uint8_t)text.p[n] & 0xC0) == 0x80)
		n--;
	return pd_span(text.p, n);
}

static void add_text(struct pd_buf *out, struct pd_span text, const struct lines *other)
{
	struct pd_span rest = shown(text), line;
	size_t left_out = text.n - rest.n;
	while (rest.n && pd_span_split(&rest, '\n', &line)) {
		bool only_here = line.n && !has(other, line);
		pd_buf_add_z(out, only_here ? "<mark>" : "");
		pd_markup_text(out, line);
		pd_buf_add_z(out, only_here ? "</mark>\n" : "\n");
	}
	if (left_out)
		pd_buf_printf(out, "… (%zu more bytes)\n", left_out);
}

static void add_page(struct pd_buf *out, const struct pd_label_text *t, const struct lines *other)
{
	pd_buf_add_z(out, "<article>\n<h3 dir=\"auto\">");
	pd_markup_text(out, t->title.n ? t->title : pd_span_z("(no title)"));
	pd_buf_add_z(out, "</h3>\n<p class=\"url\">");
	pd_markup_text(out, t->url);
	pd_buf_add_z(out, "</p>\n<div class=\"text\" dir=\"auto\">");
	add_text(out, t->text, other);
	pd_buf_add_z(out, "</div>\n</article>\n");
}

void pd_label_page_begin(struct pd_buf *out, const char *columns, uint64_t name)
{
	pd_buf_add_z(out, head);
	pd_buf_add_z(out, "<main data-columns=\"");
	pd_markup_attribute(out, pd_span_z(columns));
	pd_buf_printf(out, "\" data-name=\"pagededup-%016" PRIx64 "\">\n", name);
}

void pd_label_page_pair(struct pd_buf *out, const struct pd_label_pair *pair, size_t number)
{
	static const char *const labels[] = { "duplicate", "different", "unsure" };
	struct lines a = lines_of(pair->a.text), b = lines_of(pair->b.text);
	pd_buf_printf(out, "<section class=\"pair\" data-ids=\"");
	pd_markup_attribute(out, pair->ids);
	pd_buf_add_z(out, "\" data-rest=\"");
	pd_markup_attribute(out, pair->rest);
	pd_buf_printf(out, "\">\n<h2 tabindex=\"-1\">Pair %zu</h2>\n<div class=\"texts\">\n", number);
	add_page(out, &pair->a, &b);
	add_page(out, &pair->b, &a);
	pd_buf_add_z(out, "</div>\n<fieldset>\n<legend>These two are</legend>\n");
	for (int i = 0; i < 3; i++)
		pd_buf_printf(out, "<label><input type=\"radio\" name=\"pair-%zu\" value=\"%s\"> %s</label>\n", number, labels[i], labels[i]);
	pd_buf_add_z(out, "</fieldset>\n</section>\n");
	free(a.v);
	free(b.v);
}

void pd_label_page_end(struct pd_buf *out)
{
	pd_buf_add_z(out, "</main>\n<nav><button id=\"back\">Previous</button> <button id=\"on\">Next</button> "
			  "<span role=\"status\"><span id=\"done\">0</span> labelled</span> "
			  "<button id=\"save\">Save table</button></nav>\n");
	pd_buf_add_z(out, script);
	pd_buf_add_z(out, "</body>\n</html>\n");
}
