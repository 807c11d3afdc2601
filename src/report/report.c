/* SPDX-License-Identifier: MIT */
#include "report/report.h"

#include <inttypes.h>
#include <string.h>

#include "apply/apply.h"
#include "base/fields.h"
#include "base/file.h"
#include "base/outfile.h"
#include "report/markup.h"
#include "report/reach.h"
#include "report/sweep.h"
#include "report/texts.h"

struct report {
	const struct pd_report_options *o;
	struct pd_log *log;
	const char *verdicts;		/* of the options, or a copy of standard input … */
	FILE *copy;
	struct pd_buf copy_path;
	struct pd_apply_removals *removals;	/* of the dumps; NULL: ids are asked for as they are */
	uint64_t bytes_in, bytes_out;
	struct pd_report_sums sums;
	struct pd_report_reach reach;
	struct pd_report_sweep sweep;
	struct pd_outfile out;
	struct pd_buf html;
	uint64_t failed;
	struct pd_err err;
};

/* --- the rows --- */

/* Verdicts that come by standard input are wanted twice. */
static int copy_verdicts(struct report *r)
{
	char piece[1 << 16];
	size_t n;
	r->verdicts = r->o->verdicts;
	if (!r->o->with_texts || strcmp(r->verdicts, "-") != 0)
		return PD_OK;
	r->copy = pd_tempfile_open(r->o->tmp_dir, &r->err);
	if (!r->copy)
		return PD_ERR_SYSTEM;
	while ((n = fread(piece, 1, sizeof piece, stdin)) > 0 && fwrite(piece, 1, n, r->copy) == n)
		;
	if (ferror(stdin))
		return pd_fail_errno(&r->err, "cannot read standard input");
	if (ferror(r->copy) || fflush(r->copy) != 0)
		return pd_fail_errno(&r->err, "cannot write a temporary file");
	pd_buf_printf(&r->copy_path, "/proc/self/fd/%d", fileno(r->copy));
	r->verdicts = r->copy_path.p;
	return PD_OK;
}

static int read_rows(struct report *r)
{
	const struct pd_report_options *o = r->o;
	struct pd_report_reading verdicts = { r->verdicts, o->tmp_dir, pd_log_bad_row, r->log }, pairs = { o->pairs, NULL, pd_log_bad_row, r->log };
	struct pd_report_reading sweep = { o->sweep, NULL, pd_log_bad_row, r->log };
	r->sums.seed = (uint64_t)o->seed;
	r->sums.want = (size_t)o->sample;
	int status = pd_report_sums_read(&r->sums, &verdicts, &r->err);
	if (!status && o->pairs)
		status = pd_report_reach_read(&r->reach, &pairs, &r->err);
	if (!status && o->sweep)
		status = pd_report_sweep_read(&r->sweep, &sweep, &r->err);
	return status;
}

/* --- the dumps: how many of their bytes would be removed, and how a page of the rows is asked for --- */

/* Whoever read them first told it. */
static void told_before(void *ctx, const char *why)
{
}

static void damage_told_before(void *ctx, const struct pd_read_damage *damage)
{
}

/* As `apply` reads them, and nothing is written. */
static int measure(struct report *r, struct pd_err *e)
{
	char *paths[] = { (char *)r->verdicts };
	struct pd_apply_removals_options rows = { .paths = paths, .n_paths = 1, .bad_row = told_before };
	struct pd_apply_options a = { .in = r->o->in, .mode = PD_APPLY_MEASURE, .tmp_dir = r->o->tmp_dir, .lost = damage_told_before };
	struct pd_apply *apply = NULL;
	struct pd_apply_result done;
	a.in.damage = damage_told_before;
	int status = pd_apply_removals_read(&r->removals, &rows, e);
	a.removals = r->removals;
	if (!status)
		status = pd_apply_open(&apply, &a, e);
	if (!status && !pd_apply_removals_counts(r->removals)->demote) {
		while ((status = pd_apply_next(apply, &done, e)) == 1) {
			r->bytes_in += done.bytes_in;
			r->bytes_out += done.bytes_out;
		}
		if (status)
			r->bytes_in = r->bytes_out = 0;
	}
	pd_apply_free(apply);
	return status;
}

/* A dump that cannot be read makes the report poorer, not impossible. */
static int measure_dumps(struct report *r)
{
	const struct pd_report_options *o = r->o;
	struct pd_err e;
	r->bytes_in = o->bytes_in;
	r->bytes_out = o->bytes_out;
	if (!o->with_texts || o->bytes_in)
		return PD_OK;
	int status = measure(r, &e);
	if (status == PD_ERR_USAGE || status == PD_ERR_CHARSET)
		return pd_fail(&r->err, status, "%s", e.text);
	if (status) {
		pd_log_error(r->log, "%s; the bytes of the dumps are left out", e.text);
		r->failed++;
	}
	return PD_OK;
}

/* --- the numbers as HTML --- */

struct facts {
	const struct pd_report_sums *sums;
	const struct pd_report_reach *reach;	/* NULL: no pairs were given */
	const struct pd_report_sweep *sweep;	/* NULL: none was given */
	uint64_t bytes_in, bytes_out;		/* of the dumps; 0: not known, bytes are then those of main texts */
};

struct page_text {
	struct pd_span title, text;
};

enum { HOSTS = 20, NAME = 300 };

static const char head[] =
	"<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
	"<title>Near-duplicates: report</title>\n<style>\n"
	":root { color-scheme: light dark; --paper: #fff; --ink: #1b1f24; --soft: #59636e; --line: #d5dae0; --card: #f6f8fa; "
	"--bar: #2f6fb3; --past: #9aa7b5; --del: #ffd7d5; --ins: #cdf3d3; "
	"--c0: #2f6fb3; --c1: #b3502a; --c2: #24804f; --c3: #8547b0; --c4: #8a6d16; --c5: #b0345a; }\n"
	"@media (prefers-color-scheme: dark) { :root { --paper: #14171b; --ink: #e4e8ec; --soft: #9da7b1; --line: #353c44; "
	"--card: #1d2127; --bar: #5b9bdc; --past: #56606b; --del: #6b2427; --ins: #1d4f2b; "
	"--c0: #5b9bdc; --c1: #e08a63; --c2: #58b887; --c3: #b98ae0; --c4: #c9a847; --c5: #e27a9b; } }\n"
	"* { box-sizing: border-box; }\n"
	"body { background: var(--paper); color: var(--ink); font: 1rem/1.55 system-ui, sans-serif; margin: 0 auto; "
	"max-width: 75rem; padding: 0 1rem 4rem; }\n"
	".skip { position: absolute; left: -99rem; }\n.skip:focus { left: 1rem; background: var(--paper); padding: .5rem; }\n"
	"h1 { font-size: 1.7rem; margin: 1.5rem 0 .5rem; }\nh2 { font-size: 1.25rem; margin: 2.5rem 0 .5rem; }\n"
	"h3 { font-size: 1.05rem; margin: 2rem 0 .4rem; }\nh4 { font-size: 1rem; margin: .3rem 0; }\n"
	"p { margin: .4rem 0; max-width: 48rem; }\n.soft, caption { color: var(--soft); font-size: .9rem; }\n"
	"dl { display: grid; gap: .75rem; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); margin: 1rem 0; }\n"
	"dl div { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; display: flex; "
	"flex-direction: column-reverse; justify-content: flex-end; padding: .6rem .9rem; }\n"
	"dt { color: var(--soft); font-size: .9rem; }\ndd { font-size: 1.6rem; font-variant-numeric: tabular-nums; margin: 0; }\n"
	"table { border-collapse: collapse; width: 100%; }\ncaption { caption-side: top; padding: .2rem 0 .5rem; text-align: left; }\n"
	"th, td { border-top: 1px solid var(--line); padding: .3rem .5rem; text-align: left; vertical-align: top; }\n"
	"thead td { border: 0; }\nthead th { border: 0; white-space: normal !important; color: var(--soft); font-size: .9rem; font-weight: 600; }\ntbody th { font-weight: 400; }\n"
	".n { font-variant-numeric: tabular-nums; text-align: right; white-space: nowrap; }\n"
	"code { white-space: nowrap; }\n.chart { width: 40%; }\n.bar { background: var(--bar); border-radius: 0 .2rem .2rem 0; height: .9rem; margin-top: .3rem; "
	"min-width: 1px; }\n.past .bar { background: var(--past); }\n.edge > * { border-bottom: 3px solid var(--ink); }\n"
	".wide { overflow-x: auto; }\n.curves { display: block; height: auto; max-width: 60rem; width: 100%; }\n.curves text { fill: var(--soft); font-size: 14px; }\n"
	".grid { stroke: var(--line); }\n.at { stroke: var(--ink); stroke-dasharray: 2 3; stroke-width: 2; }\n"
	".key { height: .5rem; vertical-align: middle; width: 1.75rem; }\n.line { fill: none; stroke: currentColor; stroke-width: 2; }\n"
	"circle.line { fill: currentColor; stroke: none; }\n.gaps { stroke-dasharray: 6 4; }\n"
	".c0 { color: var(--c0); } .c1 { color: var(--c1); } .c2 { color: var(--c2); } .c3 { color: var(--c3); } .c4 { color: var(--c4); } "
	".c5 { color: var(--c5); }\n"
	".name, article p, h4 { overflow-wrap: anywhere; }\n"
	".texts { display: grid; gap: 1rem; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); }\n"
	"article { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; min-width: 0; padding: .5rem 1rem; }\n"
	".text { max-height: 30rem; overflow: auto; overflow-wrap: anywhere; unicode-bidi: plaintext; white-space: pre-wrap; }\n"
	"del { background: var(--del); }\nins { background: var(--ins); text-decoration-thickness: 1px; }\n"
	"summary { cursor: pointer; margin: .6rem 0; }\n.left { color: var(--soft); font-style: italic; }\n"
	".mark { border: 1px dashed; border-radius: .2rem; font: .75em monospace; padding: 0 .2em; unicode-bidi: isolate; }\n"
	"@media (max-width: 40rem) { .texts { grid-template-columns: minmax(0, 1fr); } .chart { width: 25%; } .hosts .chart, .hosts thead td { display: none; } .hosts .name { width: 70%; } "
	".curves text { font-size: 24px; } th, td { padding: .3rem .25rem; } dd { font-size: 1.3rem; } }\n"
	"@media print { .text { max-height: none; } }\n"
	"</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#numbers\">To the numbers</a>\n<main>\n"
	"<h1>Near-duplicates</h1>\n";

/* Not more of a name than anybody reads. */
static void add_name(struct pd_buf *out, struct pd_span s)
{
	struct pd_span most = s;
	for (most.n = s.n < NAME ? s.n : NAME; most.n < s.n && most.n && ((uint8_t)s.p[most.n] & 0xC0) == 0x80;)
		most.n--;
	pd_buf_add_z(out, "<bdi>");
	pd_markup_text(out, most);
	pd_buf_add_z(out, most.n < s.n ? "…</bdi>" : "</bdi>");
}

static void add_bytes(struct pd_buf *out, uint64_t n)
{
	static const char *const units[] = { "kB", "MB", "GB", "TB", "PB" };
	double x = (double)n / 1000;
	int unit = 0;
	if (n < 1000) {
		pd_buf_printf(out, "%" PRIu64 " B", n);
		return;
	}
	for (; x >= 999.95 && unit < 4; unit++)
		x /= 1000;
	pd_buf_printf(out, "%.1f %s", x, units[unit]);
}

static void add_share(struct pd_buf *out, uint64_t part, uint64_t whole)
{
	if (whole)
		pd_buf_printf(out, "%.1f %%", 100.0 * (double)part / (double)whole);
	else
		pd_buf_add_z(out, "–");
}

static void add_bar(struct pd_buf *out, uint64_t n, uint64_t most)
{
	pd_buf_add_z(out, "<td class=\"chart\" aria-hidden=\"true\">");
	if (n)
		pd_buf_printf(out, "<div class=\"bar\" style=\"width:%.2f%%\"></div>", 100.0 * (double)n / (double)most);
	pd_buf_add_z(out, "</td>");
}

static void add_card(struct pd_buf *out, const char *name, struct pd_buf *value)
{
	pd_buf_printf(out, "<div><dt>%s</dt><dd>%s</dd></div>\n", name, pd_buf_z(value));
	pd_buf_clear(value);
}

static bool is_demote(const struct pd_report_sums *s)
{
	return pd_span_is(pd_param(pd_buf_span(&s->params), "action"), "demote");
}

static void add_dump_bytes(const struct facts *f, struct pd_buf *value, struct pd_buf *out)
{
	uint64_t less = f->bytes_in > f->bytes_out ? f->bytes_in - f->bytes_out : 0;
	add_bytes(value, less);
	add_card(out, "bytes of the dumps removed", value);
	add_share(value, less, f->bytes_in);
	add_card(out, "of the bytes of the dumps", value);
}

static void add_sums(const struct facts *f, struct pd_buf *out)
{
	const struct pd_report_sums *s = f->sums;
	struct pd_buf value = { 0 };
	pd_buf_add_z(out, "<h2 id=\"numbers\">What is removed</h2>\n");
	if (is_demote(s))
		pd_buf_add_z(out, "<p>These verdicts remove nothing: pages called removed here get a lower weight.</p>\n");
	pd_buf_add_z(out, "<dl>\n");
	pd_buf_printf(&value, "%" PRIu64, s->removed);
	add_card(out, "pages removed", &value);
	if (s->pages) {
		add_share(&value, s->removed, s->pages);
		add_card(out, "of all pages", &value);
		pd_buf_printf(&value, "%" PRIu64, s->pages);
		add_card(out, "pages read", &value);
	}
	pd_buf_printf(&value, "%" PRIu64, s->clusters);
	add_card(out, "clusters, of each one page is kept", &value);
	add_bytes(&value, s->removed_bytes);
	add_card(out, "bytes of main text removed", &value);
	if (f->bytes_in)
		add_dump_bytes(f, &value, out);
	pd_buf_add_z(out, "</dl>\n");
	if (s->bad)
		pd_buf_printf(out, "<p>%" PRIu64 " rows could not be read and are not counted.</p>\n", s->bad);
	pd_buf_add_z(out, "<p class=\"soft\">Made with: ");
	pd_markup_text(out, pd_buf_span(&s->params));
	pd_buf_add_z(out, "</p>\n");
	pd_buf_release(&value);
}

static int threshold_of(const struct facts *f)
{
	uint64_t k;
	if (pd_span_u64(pd_param(pd_buf_span(&f->sums->params), "k"), &k) && k <= PD_BITS_MAX)
		return (int)k;
	return f->reach ? f->reach->k : -1;
}

static void add_distance(const struct pd_report_reach *r, int d, int k, uint64_t most, uint64_t sum, struct pd_buf *out)
{
	pd_buf_printf(out, "<tr%s>", d == k ? " class=\"edge\"" : k >= 0 && d > k ? " class=\"past\"" : "");
	if (d < 0)
		pd_buf_add_z(out, "<th scope=\"row\">same text</th>");
	else
		pd_buf_printf(out, "<th scope=\"row\">%d%s</th>", d, d == k ? " – threshold" : "");
	pd_buf_printf(out, "<td class=\"n\">%" PRIu64 "</td>", r->pairs[d + 1]);
	add_bar(out, r->pairs[d + 1], most);
	pd_buf_printf(out, "<td class=\"n\">+%" PRIu64 "</td><td class=\"n\">%" PRIu64 "</td></tr>\n", r->removed[d + 1], sum);
}

/* Whether the verdicts remove what chains of pairs reach, all of it: then one bit more or less is known exactly. */
static bool follow_chains(const struct pd_report_sums *s)
{
	struct pd_span params = pd_buf_span(&s->params), loss = pd_param(params, "max_loss");
	return pd_span_is(pd_param(params, "linkage"), "connected") && (!loss.n || pd_span_is(loss, "1"));
}

/* "5 fewer pairs, and 1 page fewer would be removed." */
static void add_change(uint64_t pairs, uint64_t pages, const char *how, struct pd_buf *out)
{
	pd_buf_printf(out, "%" PRIu64 " %s pair%s, and ", pairs, how, pairs == 1 ? "" : "s");
	pd_buf_count(out, pages, "page");
	pd_buf_printf(out, " %s would be removed.</p>\n", how);
}

/* Star, and pages that would lose too much of their text: neither can be told from pairs alone. */
static void add_chains_only(const struct pd_report_sums *s, const struct pd_report_reach *r, int k, struct pd_buf *out)
{
	struct pd_span params = pd_buf_span(&s->params), loss = pd_param(params, "max_loss");
	uint64_t chained = 0;
	for (int d = -1; d <= k; d++)
		chained += r->removed[d + 1];
	pd_buf_printf(out, "<p>Here pages are counted as if every chain of pairs were followed: ");
	pd_buf_count(out, chained, "page");
	pd_buf_printf(out, " would be removed so at k = %d.  These verdicts remove %" PRIu64 ", because they were made with linkage ", k,
		      s->removed);
	pd_markup_text(out, pd_param(params, "linkage"));
	if (loss.n && !pd_span_is(loss, "1")) {
		pd_buf_add_z(out, " and keep pages that would lose more than ");
		pd_markup_text(out, loss);
		pd_buf_add_z(out, " of their text");
	}
	pd_buf_add_z(out, "; another k changes their number by more or less than is said here.</p>\n");
}

static void add_one_more(const struct pd_report_reach *r, int k, struct pd_buf *out)
{
	if (k == r->most) {
		pd_buf_printf(out, "<p><strong>One more:</strong> %d is the largest distance that can be searched, a quarter of the "
			      "bits.</p>\n", k);
		return;
	}
	pd_buf_printf(out, "<p><strong>One more (k = %d):</strong> ", k + 1);
	if (r->k > k)
		add_change(r->pairs[k + 2], r->removed[k + 2], "more", out);
	else
		pd_buf_printf(out, "not known from these pairs; give this report those of <code>match -k %d</code>.</p>\n", k + 1);
}

static void add_what_if(const struct pd_report_sums *s, const struct pd_report_reach *r, int k, struct pd_buf *out)
{
	if (k > 0) {
		pd_buf_printf(out, "<p><strong>One less (k = %d):</strong> ", k - 1);
		add_change(r->pairs[k + 1], r->removed[k + 1], "fewer", out);
	}
	if (k >= 0)
		add_one_more(r, k, out);
	if (k >= 0 && !follow_chains(s))
		add_chains_only(s, r, k, out);
}

static void add_reach(const struct facts *f, struct pd_buf *out)
{
	const struct pd_report_reach *r = f->reach;
	int k = threshold_of(f), last = k > r->k ? k : r->k;
	uint64_t most = 1, sum = 0;
	pd_buf_add_z(out, "<h2>Distances of pairs</h2>\n");
	for (int d = -1; d < PD_BITS_MAX + 1; d++) {
		most = r->pairs[d + 1] > most ? r->pairs[d + 1] : most;
		last = r->pairs[d + 1] && d > last ? d : last;
	}
	add_what_if(f->sums, r, k, out);
	pd_buf_add_z(out, "<table>\n<caption>Pairs by the bits in which their fingerprints differ.  Pages: those that each "
			  "distance removes beside those above it, when every chain of pairs is followed, as "
			  "<code>--linkage=connected --max-loss=1</code> does; other settings remove at most as many.</caption>\n<thead><tr><th scope=\"col\">distance</th>"
			  "<th scope=\"col\" class=\"n\">pairs</th><td></td><th scope=\"col\" class=\"n\">pages</th>"
			  "<th scope=\"col\" class=\"n\">all so far</th></tr></thead>\n<tbody>\n");
	for (int d = -1; d <= last && d <= PD_BITS_MAX; d++) {
		sum += r->removed[d + 1];
		add_distance(r, d, k, most, sum, out);
	}
	pd_buf_add_z(out, "</tbody>\n</table>\n");
	if (r->bad)
		pd_buf_printf(out, "<p>%" PRIu64 " pairs could not be read and are not counted.</p>\n", r->bad);
}

static void add_sizes(const struct pd_report_sums *s, struct pd_buf *out)
{
	uint64_t most = 1;
	for (int i = 0; i < PD_REPORT_SIZES; i++)
		most = s->sizes[i] > most ? s->sizes[i] : most;
	pd_buf_add_z(out, "<h2>Sizes of clusters</h2>\n<table>\n<caption>Clusters by their number of pages, the page kept among "
			  "them.</caption>\n<thead><tr><th scope=\"col\">pages</th><th scope=\"col\" class=\"n\">clusters</th>"
			  "<td></td></tr></thead>\n<tbody>\n");
	for (int i = 0; i < PD_REPORT_SIZES; i++) {
		pd_buf_printf(out, "<tr><th scope=\"row\">%s</th><td class=\"n\">%" PRIu64 "</td>", pd_report_size_names[i], s->sizes[i]);
		add_bar(out, s->sizes[i], most);
		pd_buf_add_z(out, "</tr>\n");
	}
	pd_buf_add_z(out, "</tbody>\n</table>\n");
}

static void add_host(const struct pd_report_host *h, uint64_t most, struct pd_buf *out)
{
	pd_buf_add_z(out, "<tr><th scope=\"row\" class=\"name\">");
	add_name(out, h->name.n ? h->name : pd_span_z("(no host)"));
	pd_buf_printf(out, "</th><td class=\"n\">%" PRIu64 "</td>", h->pages);
	add_bar(out, h->pages, most);
	pd_buf_add_z(out, "<td class=\"n\">");
	add_bytes(out, h->bytes);
	pd_buf_add_z(out, "</td></tr>\n");
}

static void add_hosts(const struct pd_report_sums *s, struct pd_buf *out)
{
	uint64_t rest = 0;
	pd_buf_add_z(out, "<h2>Duplicates by host</h2>\n");
	if (!s->n_hosts) {
		pd_buf_add_z(out, "<p>No page is removed.</p>\n");
		return;
	}
	pd_buf_add_z(out, "<table class=\"hosts\">\n<caption>The hosts that lose the most pages.</caption>\n<thead><tr><th scope=\"col\">host</th>"
			  "<th scope=\"col\" class=\"n\">pages removed</th><td></td><th scope=\"col\" class=\"n\">main text</th></tr>"
			  "</thead>\n<tbody>\n");
	for (size_t i = 0; i < s->n_hosts && i < HOSTS; i++)
		add_host(&s->hosts[i], s->hosts[0].pages, out);
	pd_buf_add_z(out, "</tbody>\n</table>\n");
	for (size_t i = HOSTS; i < s->n_hosts; i++)
		rest += s->hosts[i].pages;
	if (s->n_hosts > HOSTS)
		pd_buf_printf(out, "<p>Left out: %zu more hosts, with %" PRIu64 " pages removed.</p>\n", s->n_hosts - HOSTS, rest);
}

static void add_cluster(const struct pd_report_cluster *c, struct pd_buf *out)
{
	pd_buf_add_z(out, "<tr><th scope=\"row\" class=\"name\">");
	add_name(out, pd_buf_span(c->url.n ? &c->url : &c->id));
	pd_buf_add_z(out, "<div class=\"soft\">");
	add_name(out, pd_buf_span(&c->reason));
	pd_buf_printf(out, "</div></th><td class=\"n\">%" PRIu64 "</td><td class=\"n\">", c->size);
	add_bytes(out, c->removed_bytes);
	pd_buf_add_z(out, "</td></tr>\n");
}

static void add_largest(const struct pd_report_sums *s, struct pd_buf *out)
{
	if (!s->n_largest)
		return;
	pd_buf_add_z(out, "<h2>The largest clusters</h2>\n<table>\n<caption>Each by the page that is kept.</caption>\n<thead><tr>"
			  "<th scope=\"col\">page kept</th><th scope=\"col\" class=\"n\">pages</th>"
			  "<th scope=\"col\" class=\"n\">text removed</th></tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < s->n_largest; i++)
		add_cluster(&s->largest[i], out);
	pd_buf_add_z(out, "</tbody>\n</table>\n");
	if (s->clusters > s->n_largest)
		pd_buf_printf(out, "<p>Left out: %" PRIu64 " more clusters; all are in the verdicts.</p>\n", s->clusters - s->n_largest);
}

/* All numbers but those of suspects. */
static void add_numbers(const struct facts *f, struct pd_buf *out)
{
	add_sums(f, out);
	if (f->reach)
		add_reach(f, out);
	else
		pd_buf_add_z(out, "<h2>Distances of pairs</h2>\n<p>No pairs were given: <code>--pairs</code> shows them by distance, "
				  "and what another k would change.</p>\n");
	if (f->sweep)
		pd_report_sweep_page(f->sweep, threshold_of(f), out);
	add_sizes(f->sums, out);
	add_hosts(f->sums, out);
	add_largest(f->sums, out);
	pd_buf_add_z(out, "<h2>Examples of removed pages</h2>\n");
}

/* --- a pair of the sample as HTML --- */

static void add_page(const char *what, const struct pd_buf *id, const struct pd_buf *url, struct pd_span title,
		     const struct pd_buf *reason, const struct pd_buf *html, struct pd_buf *out)
{
	pd_buf_printf(out, "<article>\n<h4>%s: ", what);
	add_name(out, title.n ? title : pd_span_z("(no title)"));
	pd_buf_add_z(out, "</h4>\n<p class=\"soft\">");
	add_name(out, pd_buf_span(url));
	pd_buf_add_z(out, "<br>");
	add_name(out, pd_buf_span(id));
	pd_buf_add_z(out, "<br>");
	add_name(out, pd_buf_span(reason));
	pd_buf_add_z(out, "</p>\n");
	if (html->n)
		pd_buf_printf(out, "<div class=\"text\" dir=\"auto\" tabindex=\"0\" role=\"region\" aria-label=\"Text: %s\">", what);
	pd_buf_add_span(out, pd_buf_span(html));
	pd_buf_add_z(out, html->n ? "</div>\n</article>\n" : "</article>\n");
}

/* A pair of the sample; `failed`: why a text could not be read, or NULL. */
static void add_pair(const struct pd_report_sampled *d, const struct page_text *page, const struct page_text *kept,
		     const char *failed, const char *what, const char *what_kept, size_t number, struct pd_buf *out)
{
	struct pd_buf a = { 0 }, b = { 0 };
	if (d->stratum)
		pd_buf_printf(out, "<h3>%zu. Distance %d</h3>\n", number, d->stratum - 1);
	else
		pd_buf_printf(out, "<h3>%zu. The same text</h3>\n", number);
	if (failed) {
		pd_buf_add_z(out, "<p>Not shown: ");
		add_name(out, pd_span_z(failed));
		pd_buf_add_z(out, "</p>\n");
	} else {
		pd_report_texts(page->text, kept->text, &a, &b);
	}
	pd_buf_add_z(out, "<div class=\"texts\">\n");
	add_page(what, &d->id, &d->url, page->title, &d->reason, &a, out);
	add_page(what_kept, &d->dup_of, &d->kept_url, kept->title, &d->kept_reason, &b, out);
	pd_buf_add_z(out, "</div>\n");
	pd_buf_release(&a);
	pd_buf_release(&b);
}

static void add_no_pairs(const char *why, struct pd_buf *out)
{
	pd_buf_printf(out, "<p>%s</p>\n", why);
}

static void add_end(struct pd_buf *out)
{
	pd_buf_add_z(out, "</main>\n<footer class=\"soft\"><p>Written by pagededup " PD_VERSION ".  Nothing on this page is loaded from "
			  "elsewhere.</p></footer>\n</body>\n</html>\n");
}

/* --- the page --- */

static int flush_html(struct report *r)
{
	size_t n = r->html.n;
	if (n && fwrite(r->html.p, 1, n, r->out.f) != n)
		return pd_fail_errno(&r->err, "cannot write the report");
	pd_buf_clear(&r->html);
	return PD_OK;
}

struct side {
	struct pd_buf title, text;
};

/* Rows may come from another folder than the dumps are in now. */
static int fetch_side(struct report *r, const struct pd_buf *id, struct side *out, struct pd_err *e)
{
	struct pd_buf address = { 0 };
	if (r->removals)
		pd_apply_removals_here(r->removals, pd_buf_span(id), &address);
	else
		pd_buf_set(&address, pd_buf_span(id));
	int status = r->o->fetch(r->o->ctx, pd_buf_z(&address), &out->title, &out->text, e);
	pd_buf_release(&address);
	return status;
}

static int write_pair(struct report *r, const struct pd_report_sampled *d, const char *what, const char *what_kept, size_t number)
{
	struct side sides[2] = { 0 };
	struct pd_err e = { 0 };
	bool ok = !fetch_side(r, &d->id, &sides[0], &e) && !fetch_side(r, &d->dup_of, &sides[1], &e);
	if (!ok && e.status == PD_ERR_CHARSET) {	/* of no page, but of this machine */
		r->err = e;
	} else if (!ok) {
		pd_log_error(r->log, "%s; its text is left out", e.text);
		r->failed++;
	}
	struct page_text texts[2];
	for (int i = 0; i < 2; i++)
		texts[i] = (struct page_text){ pd_buf_span(&sides[i].title), pd_buf_span(&sides[i].text) };
	add_pair(d, &texts[0], &texts[1], ok ? NULL : e.text, what, what_kept, number, &r->html);
	for (int i = 0; i < 2; i++) {
		pd_buf_release(&sides[i].title);
		pd_buf_release(&sides[i].text);
	}
	return r->err.status ? r->err.status : flush_html(r);
}

/* They come first: of all that was found, only these want somebody's judgement. */
static int write_suspects(struct report *r)
{
	const struct pd_report_sums *s = &r->sums;
	struct pd_buf *out = &r->html;
	int status = PD_OK;
	if (!s->suspects)
		return PD_OK;
	pd_buf_printf(out, "<h2>Suspects</h2>\n<p>");
	pd_buf_count(out, s->suspects, "page");
	if (r->o->suspects_go)
		pd_buf_printf(out, " may be %s, and %s removed, because <code>--remove-suspects</code> was given.</p>\n",
			      s->suspects == 1 ? "a duplicate" : "duplicates", s->suspects == 1 ? "it is" : "they are");
	else
		pd_buf_printf(out, " may be %s, but not surely enough to be removed: %s kept, unless <code>--remove-suspects</code> is given.</p>\n",
			      s->suspects == 1 ? "a duplicate" : "duplicates", s->suspects == 1 ? "it is" : "they are");
	pd_buf_add_z(out, "<table>\n<caption>What makes them doubtful.</caption>\n<thead><tr><th scope=\"col\">reason</th>"
			  "<th scope=\"col\" class=\"n\">pages</th></tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < s->n_doubts; i++) {
		pd_buf_add_z(out, "<tr><th scope=\"row\" class=\"name\">");
		add_name(out, pd_buf_span(&s->doubts[i].name));
		pd_buf_printf(out, "</th><td class=\"n\">%" PRIu64 "</td></tr>\n", s->doubts[i].pages);
	}
	pd_buf_add_z(out, "</tbody>\n</table>\n");
	if (!r->o->with_texts || !s->suspected)
		return flush_html(r);
	pd_buf_printf(out, "<details>\n<summary>%zu of them beside the page of which they may be duplicates</summary>\n<p><del>Struck out</del>: only the suspect has it.  <ins>Underlined</ins>: only the "
		      "other page.</p>\n", s->suspected->n);
	for (size_t i = 0; i < s->suspected->n && !status; i++)
		status = write_pair(r, &s->suspected->v[i], "Suspect", "May be a duplicate of", i + 1);
	pd_buf_add_z(out, "</details>\n");
	return status;
}

static int write_pairs(struct report *r)
{
	const struct pd_report_sampled *sampled[PD_REPORT_SAMPLE_MAX];
	size_t n = pd_report_sums_sampled(&r->sums, sampled);
	int status = PD_OK;
	if (!r->o->with_texts)
		add_no_pairs("No dumps were given: with them, this shows some removed pages beside the pages kept.", &r->html);
	else if (!n)
		add_no_pairs("None: no page is removed, or none was to be shown.", &r->html);
	else
		pd_buf_add_z(&r->html, "<p>Sampled, spread over the distances.  <del>Struck out</del>: only the removed page has "
				       "it.  <ins>Underlined</ins>: only the page kept.</p>\n");
	for (size_t i = 0; i < n && r->o->with_texts && !status; i++)
		status = write_pair(r, sampled[i], "Removed", "Kept", i + 1);
	return status;
}

static int write_page(struct report *r)
{
	struct facts facts = { &r->sums, r->o->pairs ? &r->reach : NULL, r->o->sweep ? &r->sweep : NULL, r->bytes_in, r->bytes_out };
	pd_buf_add_z(&r->html, head);
	int status = write_suspects(r);
	if (!status) {
		add_numbers(&facts, &r->html);
		status = flush_html(r);
	}
	if (!status)
		status = write_pairs(r);
	if (!status)
		add_end(&r->html);
	return status ? status : flush_html(r);
}

static int report(struct report *r)
{
	const struct pd_report_options *o = r->o;
	const char *rows[] = { o->verdicts, o->pairs ? o->pairs : "-", o->sweep ? o->sweep : "-" };
	int status = pd_outfile_check(o->output, (char *const *)rows, 3, &r->err);
	if (!status)
		status = pd_outfile_check(o->output, o->in.inputs, o->in.n_inputs, &r->err);
	if (!status)
		status = copy_verdicts(r);
	if (!status)
		status = read_rows(r);
	if (!status)
		status = measure_dumps(r);
	if (!status)
		status = pd_outfile_open(&r->out, o->output, &r->err);
	if (status)
		return status;
	status = write_page(r);
	if (!status)
		return pd_outfile_commit(&r->out, &r->err);
	pd_outfile_abandon(&r->out);
	return status;
}

int pd_report_write(const struct pd_report_options *o, struct pd_log *log, struct pd_report_result *out, struct pd_err *e)
{
	struct report r = { .o = o, .log = log };
	int status = report(&r);
	*e = r.err;
	*out = (struct pd_report_result){ r.sums.clusters, r.sums.removed, r.sums.suspects, r.sums.bad || r.reach.bad || r.sweep.bad || r.failed };
	pd_report_sums_release(&r.sums);
	pd_report_sweep_release(&r.sweep);
	pd_apply_removals_free(r.removals);
	if (r.copy)
		fclose(r.copy);
	pd_buf_release(&r.copy_path);
	pd_buf_release(&r.html);
	return status;
}
