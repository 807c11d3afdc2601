/* SPDX-License-Identifier: MIT */
#include "tools/report.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/file.h"
#include "row/tsv.h"
#include "tools/sample.h"

/* Header of the saved table. */
static const char columns[] = "# pagededup labels 1 |\n#id_a\tid_b\tlabel\tdistance\tweight\turl_a\turl_b";

static const char head[] =
	"<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
	"script-src 'unsafe-inline'\">\n<title>Pairs of pages to label</title>\n<style>\n"
	":root { color-scheme: light dark; --line: #8886; --mark: #f5c51855; }\n"
	"body { font: 1rem/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 90rem; padding: 0 1rem 9rem; }\n"
	".texts { display: grid; grid-template-columns: 1fr 1fr; gap: 1rem; }\n"
	"article { border: 1px solid var(--line); border-radius: .4rem; padding: .5rem 1rem; min-width: 0; }\n"
	"article h3, .url, .text { overflow-wrap: anywhere; unicode-bidi: plaintext; }\n"
	".text { white-space: pre-wrap; }\n.url { font-size: .85rem; opacity: .8; }\n"
	"h1 { font-size: 1.5rem; }\nh2 { font-size: 1.2rem; outline: none; }\narticle h3 { font-size: 1.05rem; margin: .4rem 0; }\n"
	"del, ins { background: var(--mark); text-decoration: none; }\n.left { font-style: italic; opacity: .7; }\n"
	".mark { border: 1px dashed; border-radius: .2rem; font: .75em monospace; padding: 0 .2em; unicode-bidi: isolate; }\n"
	"fieldset { border: 0; padding: .5rem 0; }\nlabel { margin-right: 1.5rem; }\n"
	"nav { position: fixed; inset: auto 0 0; background: Canvas; border-top: 1px solid var(--line); display: flex; "
	"flex-wrap: wrap; gap: .5rem; align-items: center; padding: .6rem 1rem; }\nnav [role=status] { margin: 0 .5rem; }\n"
	"button { font: inherit; padding: .3rem .8rem; }\nbutton[aria-pressed=true] { font-weight: 700; outline: 2px solid; }\n.js "
	".pair:not(.now) { display: none; }\n"
	"@media (max-width: 40rem) { .texts { grid-template-columns: 1fr; } }\n</style>\n</head>\n<body>\n"
	"<h1>Are these two the same page?</h1>\n"
	"<p>Duplicate: one of the two could be removed, and only small changes, a date or advertisements would be lost.  "
	"Words that only one of them has are marked; long passages that both have are omitted.  Keys: <kbd>D</kbd> duplicate, "
	"<kbd>N</kbd> different, <kbd>U</kbd> unsure, "
	"<kbd>J</kbd> next, <kbd>K</kbd> previous, <kbd>Z</kbd> undo the last label, <kbd>S</kbd> save.</p>\n"
	"<noscript><p>Saving needs JavaScript.</p></noscript>\n";

static const char script[] =
	"<script>\n'use strict';\n"
	"const main = document.querySelector('main'), pairs = [...document.querySelectorAll('.pair')];\n"
	"const words = { d: 'duplicate', n: 'different', u: 'unsure' }, before = [];\nlet at = 0;\n"
	"const label = p => (p.querySelector('input:checked') || {}).value;\n"
	"function store() {\n"
	"  try { localStorage.setItem(main.dataset.name, JSON.stringify(pairs.map(p => label(p) || ''))); } catch (e) { /* none */ "
	"}\n}\n"
	"function restore() {\n"
	"  try {\n    JSON.parse(localStorage.getItem(main.dataset.name) || '[]').forEach((v, i) => {\n"
	"      if (pairs[i] && v) pairs[i].querySelector(`input[value=${v}]`).checked = true;\n    });\n"
	"  } catch (e) { /* none */ }\n}\n"
	"function count() {\n"
	"  document.getElementById('done').textContent = pairs.filter(label).length;\n"
	"  document.getElementById('all').textContent = pairs.length;\n"
	"  Object.values(words).forEach(v => { document.getElementById(v).ariaPressed = String(!!pairs[at] && label(pairs[at]) === "
	"v); });\n}\n"
	"function go(to) {\n  at = Math.max(0, Math.min(pairs.length - 1, to));\n"
	"  pairs.forEach((p, i) => p.classList.toggle('now', i === at));\n"
	"  count();\n  window.scrollTo(0, 0);\n  if (pairs[at]) pairs[at].querySelector('h2').focus();\n}\n"
	"function undo() {\n  const last = before.pop();\n  if (!last) return;\n"
	"  const p = pairs[last.at], on = p.querySelector('input:checked');\n  if (on) on.checked = false;\n"
	"  if (last.label) p.querySelector(`input[value=${last.label}]`).checked = true;\n  store(); go(last.at);\n}\n"
	"function mark(v) {\n  if (!pairs[at]) return;\n  before.push({ at, label: label(pairs[at]) });\n"
	"  pairs[at].querySelector(`input[value=${v}]`).checked = true;\n  store(); go(at + 1);\n}\n"
	"function table() {\n"
	"  return main.dataset.columns + '\\n' + pairs.filter(label).map(p =>\n"
	"    [p.dataset.ids, label(p), p.dataset.rest].join('\\t') + '\\n').join('');\n}\n"
	"function save() {\n  const a = document.createElement('a');\n"
	"  a.href = URL.createObjectURL(new Blob([table()], { type: 'text/tab-separated-values' }));\n"
	"  a.download = 'labels.tsv';\n  a.click();\n  setTimeout(() => URL.revokeObjectURL(a.href), 10000);\n}\n"
	"document.addEventListener('keydown', e => {\n"
	"  if (e.ctrlKey || e.altKey || e.metaKey) return;\n  const key = e.key.toLowerCase();\n"
	"  if (words[key]) mark(words[key]);\n  else if (key === 'j') go(at + 1);\n  else if (key === 'k') go(at - 1);\n  else if "
	"(key === 's') save();\n  else if (key === 'z') undo();\n"
	"  else return;\n  e.preventDefault();\n});\n"
	"document.addEventListener('change', () => { store(); count(); });\n"
	"Object.values(words).forEach(v => { document.getElementById(v).onclick = () => mark(v); });\n"
	"document.getElementById('back').onclick = () => go(at - 1);\ndocument.getElementById('on').onclick = () => go(at + 1);\n"
	"document.getElementById('save').onclick = save;\n"
	"document.body.classList.add('js');\nrestore(); go(Math.max(0, pairs.findIndex(p => !label(p))));\n"
	"</script>\n";

struct text {
	struct pd_buf title, url, text; /* unchanged UTF-8 */
};

static void add_text_article(struct pd_buf *out, const struct text *t, const struct pd_buf *marked)
{
	pd_buf_add_z(out, "<article>\n<h3 dir=\"auto\">");
	pd_markup_text(out, t->title.n ? pd_buf_span(&t->title) : pd_span_z("(no title)"));
	pd_buf_add_z(out, "</h3>\n<p class=\"url\">");
	pd_markup_text(out, pd_buf_span(&t->url));
	pd_buf_add_z(out, "</p>\n<div class=\"text\" dir=\"auto\">");
	pd_buf_add_span(out, pd_buf_span(marked));
	pd_buf_add_z(out, "</div>\n</article>\n");
}

static void add_pair(const struct pd_sampled_pair *d, const struct pd_span *f, const struct text *a, const struct text *b,
		     uint64_t number, struct pd_buf *out)
{
	static const char *const labels[] = { "duplicate", "different", "unsure" };
	struct pd_buf marked[2] = { { 0 } };
	pd_report_texts(pd_buf_span(&a->text), pd_buf_span(&b->text), &marked[0], &marked[1]);
	pd_buf_add_z(out, "<section class=\"pair\" data-ids=\"");
	pd_markup_attribute(out, pd_span(f[0].p, f[0].n + 1 + f[1].n));
	pd_buf_add_z(out, "\" data-rest=\"");
	/* Append the columns after the label: distance, weight, url_a, url_b. */
	pd_local_buf rest = { 0 };
	if (d->stratum)
		pd_buf_printf(&rest, "%d", d->stratum - 1);
	else
		pd_buf_add_c(&rest, '-');
	pd_buf_printf(&rest, "\t%.6g\t", d->weight);
	pd_buf_add_span(&rest, f[2]);
	pd_buf_add_c(&rest, '\t');
	pd_buf_add_span(&rest, f[3]);
	pd_markup_attribute(out, pd_buf_span(&rest));
	pd_buf_printf(out, "\">\n<h2 tabindex=\"-1\">Pair %" PRIu64 "</h2>\n<div class=\"texts\">\n", number);
	add_text_article(out, a, &marked[0]);
	add_text_article(out, b, &marked[1]);
	pd_buf_add_z(out, "</div>\n<fieldset>\n<legend>These two are</legend>\n");
	for (int i = 0; i < 3; i++)
		pd_buf_printf(out, "<label><input type=\"radio\" name=\"pair-%" PRIu64 "\" value=\"%s\"> %s</label>\n", number,
			      labels[i], labels[i]);
	pd_buf_add_z(out, "</fieldset>\n</section>\n");
	pd_buf_release(&marked[0]);
	pd_buf_release(&marked[1]);
}

/* --- pairs --- */

static bool fetch_page(const struct pd_label_options *o, struct pd_span id, struct text *out, struct pd_log *log)
{
	pd_local_mem char *z = pd_strndup(id.p, id.n);
	struct pd_err e = { 0 };
	int status = o->fetch(o->ctx, z, &out->title, &out->url, &out->text, &e);
	if (status)
		pd_log_error(log, "%s; the pair is skipped", e.text);
	return !status;
}

static void release_text(struct text *t)
{
	pd_buf_release(&t->title);
	pd_buf_release(&t->url);
	pd_buf_release(&t->text);
}

static void flush_html(FILE *to, struct pd_buf *html)
{
	fwrite(pd_buf_z(html), 1, html->n, to);
	pd_buf_clear(html);
}

int pd_label_write(const struct pd_label_options *o, struct pd_log *log, struct pd_label_counts *n, struct pd_err *e)
{
	pd_local_buf html = { 0 };
	struct pd_outfile out = { 0 };
	*n = (struct pd_label_counts){ 0 };
	int status = pd_outfile_open(&out, o->output, e);
	if (!status) {
		/* Write the first lines of the saved table, and the name of this sample, under which a browser stores labels. */
		uint64_t name = 0;
		for (size_t i = 0; i < o->n; i++)
			name = pd_hash64_seed(&o->pairs[i].order, sizeof name, name);
		pd_buf_add_z(&html, head);
		pd_buf_add_z(&html, "<main data-columns=\"");
		pd_markup_attribute(&html, pd_span_z(columns));
		pd_buf_printf(&html, "\" data-name=\"pagededup-%016" PRIx64 "\">\n", name);
		for (size_t i = 0; i < o->n; i++) {
			struct text a = { { 0 } }, b = { { 0 } };
			struct pd_span f[4];
			pd_tsv_fields(pd_span_z(o->pairs[i].text), f, 4);
			if (fetch_page(o, f[0], &a, log) && fetch_page(o, f[1], &b, log))
				add_pair(&o->pairs[i], f, &a, &b, ++n->written, &html);
			else
				n->damaged = true;
			release_text(&a);
			release_text(&b);
			flush_html(out.f, &html);
		}
		pd_buf_add_z(
			&html,
			"</main>\n<nav><button id=\"duplicate\">Duplicate</button> <button id=\"different\">Different</button> "
			"<button id=\"unsure\">Unsure</button> <button id=\"back\">Previous</button> <button "
			"id=\"on\">Next</button> "
			"<span role=\"status\"><span id=\"done\">0</span> of <span id=\"all\"></span> labelled</span> "
			"<button id=\"save\">Save table</button></nav>\n");
		pd_buf_add_z(&html, script);
		pd_buf_add_z(&html, "</body>\n</html>\n");
		flush_html(out.f, &html);
		if (!n->written)
			status = pd_fail(e, PD_ERR_NOT_FOUND, "no page of any pair could be read");
		status = pd_outfile_close(&out, status, e);
	}
	return status;
}
