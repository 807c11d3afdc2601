/* SPDX-License-Identifier: MIT
 * pagededup sample: pairs sampled by distance, on a page where a person labels them. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/tsv.h"
#include "cmd/walk.h"
#include "group/sample.h"
#include "inspect/inspect.h"
#include "report/report.h"

struct sample_options {
	struct pd_walk_options walk;	/* first: the options of pages are parsed into it */
	int number, max_k, seed;
};

#define AT(member) .at = offsetof(struct sample_options, member)

static const struct pd_opt opts[] = {
	{ .type = PD_OPT_HEADING, .name = "Sample" },
	{ .type = PD_OPT_INT, .letter = 'n', .name = "number", .arg = "N", AT(number), .min = 1, .max = 10000, .help = "pairs to sample (200)" },
	{ .type = PD_OPT_INT, .letter = 'k', .name = "distance", .arg = "N", AT(max_k), .min = 0, .max = PD_BITS_MAX,
	  .help = "only pairs of distance up to N (all)" },
	{ .type = PD_OPT_INT, .name = "seed", .arg = "N", AT(seed), .min = 0, .max = 2147483647, .help = "random seed (1)" },
	{ .type = PD_OPT_HEADING, .name = "Pages" },
	PD_WALK_PAGE_OPTS,
	PD_WALK_TOPIC_OPTS,
	{ .type = PD_OPT_HEADING, .name = "Output" },
	{ .type = PD_OPT_TEXT, .letter = 'o', .name = "output", .arg = "FILE", PD_AT(output), .help = "write FILE, not stdout" },
	{ .type = PD_OPT_FLAG, .letter = 'q', .name = "quiet", PD_AT(quiet), .help = "print no summary line" },
	{ .type = PD_OPT_FLAG, .name = "ignore-damaged", PD_AT(ignore_damaged), .help = "exit 0 even if pairs were left out" },
	PD_OPT_END,
};

static const struct pd_usage usage = {
	.name = "sample",
	.synopsis = "[OPTION]... [PAIRS]...",
	.summary = "Sample pairs by distance into an HTML page for labelling by hand, for 'pagededup eval'.",
	.text = "PAIRS holds rows of 'pagededup match', best with a large -k and --no-verify; none, or -: stdin.\n"
		"The dumps are read again for the texts.",
	.example = "pagededup sample -n 100 -o label.html pairs.tsv",
	.opts = opts,
};

static const char columns[] = "# pagededup labels 1 |\n#id_a\tid_b\tlabel\tdistance\tweight\turl_a\turl_b";

struct sample_run {
	const struct sample_options *o;
	struct pd_log *log;
	struct pd_sample sample;
	struct pd_tables tables;
	struct pd_outfile out;
	uint64_t written, failed;
	struct pd_err err;
};

/* What the label page needs of a page, copied out of its pipeline. */
struct sample_text {
	struct pd_buf title, url, text;
};

static int fetch_page(struct sample_run *r, struct pd_span id, struct sample_text *out)
{
	struct pd_pick pick;
	char *z = pd_strndup(id.p, id.n);
	struct pd_err e = { 0 };
	int status = pd_pick_page(&pick, &r->o->walk, &r->tables, z, NULL, NULL, 0, r->log, &e);
	if (status)
		pd_log_error(r->log, "%s; the pair is left out", e.text);
	if (!status) {
		pd_buf_set(&out->title, pick.pipeline.blocks.meta.title);
		pd_buf_set(&out->url, pick.pipeline.page.url);
		pd_buf_set(&out->text, pd_buf_span(&pick.pipeline.topic.text));
	}
	pd_pick_release(&pick);
	free(z);
	return status;
}

static struct pd_label_text label_text(const struct sample_text *t)
{
	return (struct pd_label_text){ pd_buf_span(&t->title), pd_buf_span(&t->url), pd_buf_span(&t->text) };
}

static void release_text(struct sample_text *t)
{
	pd_buf_release(&t->title);
	pd_buf_release(&t->url);
	pd_buf_release(&t->text);
}

/* "distance weight url_a url_b" */
static void add_rest(const struct pd_sampled_pair *d, const struct pd_span *f, struct pd_buf *rest)
{
	if (d->stratum)
		pd_buf_printf(rest, "%d", d->stratum - 1);
	else
		pd_buf_add_c(rest, '-');
	pd_buf_printf(rest, "\t%.6g\t", d->weight);
	pd_buf_add_span(rest, f[2]);
	pd_buf_add_c(rest, '\t');
	pd_buf_add_span(rest, f[3]);
}

static void write_pair(struct sample_run *r, const struct pd_sampled_pair *d, struct pd_buf *html)
{
	struct sample_text a = { { 0 } }, b = { { 0 } };
	struct pd_buf rest = { 0 };
	struct pd_span f[4], line = pd_span_z(d->text);
	pd_tsv_fields(line, f, 4);
	if (fetch_page(r, f[0], &a) || fetch_page(r, f[1], &b)) {
		r->failed++;
	} else {
		struct pd_label_pair pair = { pd_span(f[0].p, f[0].n + 1 + f[1].n), { NULL, 0 }, label_text(&a), label_text(&b) };
		add_rest(d, f, &rest);
		pair.rest = pd_buf_span(&rest);
		pd_label_page_pair(html, &pair, ++r->written);
	}
	release_text(&a);
	release_text(&b);
	pd_buf_release(&rest);
}

static void flush_html(struct sample_run *r, struct pd_buf *html)
{
	fwrite(pd_buf_z(html), 1, html->n, r->out.f);
	pd_buf_clear(html);
}

static void write_page(struct sample_run *r)
{
	struct pd_buf html = { 0 };
	uint64_t name = (uint64_t)r->o->seed;
	for (size_t i = 0; i < r->sample.n; i++)
		name = pd_hash64_seed(&r->sample.pairs[i].order, sizeof name, name);
	pd_label_page_begin(&html, columns, name);
	for (size_t i = 0; i < r->sample.n && !r->err.status; i++) {
		write_pair(r, &r->sample.pairs[i], &html);
		flush_html(r, &html);
	}
	pd_label_page_end(&html);
	flush_html(r, &html);
	pd_buf_release(&html);
}

static int sample(struct sample_run *r, char **paths, int n_paths)
{
	struct pd_sample_options d = { .paths = paths,
				     .n_paths = n_paths,
				     .want = (size_t)r->o->number,
				     .max_k = r->o->max_k,
				     .seed = (uint64_t)r->o->seed,
				     .bad_row = pd_log_bad_row,
				     .ctx = r->log };
	int status = pd_outfile_check(r->o->walk.output, paths, n_paths, &r->err);
	if (!status)
		status = pd_sample(&r->sample, &d, &r->err);
	if (!status && !r->sample.n)
		status = pd_fail(&r->err, PD_ERR_NOT_FOUND, "no pairs to sample");
	if (!status)
		status = pd_tables_open(&r->tables, &r->o->walk.page, &r->err);
	if (!status)
		status = pd_outfile_open(&r->out, r->o->walk.output, &r->err);
	if (status)
		return status;
	write_page(r);
	status = r->err.status;
	if (!status && !r->written)
		status = pd_fail(&r->err, PD_ERR_NOT_FOUND, "no page of any pair could be read");
	if (!status)
		return pd_outfile_commit(&r->out, &r->err);
	pd_outfile_abandon(&r->out);
	return status;
}

static int run_sample(int argc, char **argv)
{
	struct sample_options o = { .number = 200, .max_k = PD_BITS_MAX, .seed = 1 };
	struct pd_log log;
	int first;
	pd_log_init(&log, "sample");
	int code = pd_walk_parse(&usage, PD_METHOD_SIGNS, argc, argv, &o.walk, &first, &log);
	if (code)
		return code - 1;
	struct sample_run r = { .o = &o, .log = &log, .out = { .slot = -1 } };
	int status = sample(&r, argv + first, argc - first);
	if (!status)
		pd_log_note(&log, "%" PRIu64 " of %" PRIu64 " pairs%s%s", r.written, r.sample.seen, o.walk.output ? "; open in a browser: " : "",
			    o.walk.output ? o.walk.output : "");
	code = status ? pd_command_failed(&log, &r.err) :
	       (r.failed || r.sample.bad) && !o.walk.ignore_damaged ? PD_EXIT_DAMAGED : PD_EXIT_DONE;
	pd_sample_release(&r.sample);
	pd_tables_release(&r.tables);
	return code;
}

const struct pd_command pd_cmd_sample = { "Inspecting and measuring", &usage, run_sample };
