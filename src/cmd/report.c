/* SPDX-License-Identifier: MIT
 * pagededup report: verdicts, pairs, dumps -> one HTML page that shows what would go. */
#include "cmd/report.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/tempfile.h"
#include "cmd/pick.h"
#include "cmd/report_dumps.h"
#include "report/page.h"

#define AT(member) .at = offsetof(struct pd_report_command, member)

static const struct pd_opt opts[] = {
	{ .type = PD_OPT_HEADING, .name = "Rows" },
	{ .type = PD_OPT_TEXT, .letter = 'V', .name = "verdicts", .arg = "FILE", AT(verdicts),
	  .help = "output of 'pagededup cluster'; required (-: stdin)" },
	{ .type = PD_OPT_TEXT, .letter = 'P', .name = "pairs", .arg = "FILE", AT(pairs),
	  .help = "output of 'pagededup match': distances, and the effect of another k" },
	{ .type = PD_OPT_TEXT, .name = "sweep", .arg = "FILE", AT(sweep),
	  .help = "output of 'pagededup eval --sweep --format=tsv', drawn as curves" },
	{ .type = PD_OPT_HEADING, .name = "Sample" },
	{ .type = PD_OPT_INT, .letter = 'n', .name = "number", .arg = "N", AT(sample), .min = 0, .max = PD_REPORT_SAMPLE_MAX,
	  .help = "pages that go, shown beside the page kept (12)" },
	{ .type = PD_OPT_INT, .name = "seed", .arg = "N", AT(seed), .min = 0, .max = 2147483647, .help = "random seed (1)" },
	{ .type = PD_OPT_HEADING, .name = "Pages" },
	PD_WALK_PAGE_OPTS,
	PD_WALK_TOPIC_OPTS,
	{ .type = PD_OPT_HEADING, .name = "Output" },
	{ .type = PD_OPT_TEXT, .letter = 'o', .name = "output", .arg = "FILE", PD_AT(output), .help = "write FILE, not stdout" },
	{ .type = PD_OPT_FLAG, .letter = 'q', .name = "quiet", PD_AT(quiet), .help = "no closing line" },
	{ .type = PD_OPT_FLAG, .name = "ignore-damaged", PD_AT(ignore_damaged),
	  .help = "exit 0 although rows or texts were left out" },
	PD_OPT_END,
};

const struct pd_usage pd_usage_report = {
	.name = "report",
	.synopsis = "[OPTION]... --verdicts=FILE [INPUT]...",
	.summary = "Write an HTML page that shows what goes: how much, from where, how near, some pages side by side.",
	.text = "INPUT: the dumps that 'pagededup fp' read, for the texts; without them there are numbers alone.",
	.example = "pagededup report --verdicts=verdicts.tsv --pairs=pairs.tsv crawl.warc.gz -o report.html",
	.opts = opts,
};

struct report_run {
	const struct pd_report_command *o;
	struct pd_log *log;
	struct pd_report_sums sums;
	struct pd_report_reach reach;
	struct pd_report_sweep sweep;
	struct pd_tables tables;
	const char *verdicts;		/* of the options, or a copy of standard input */
	struct pd_report_dumps dumps;
	struct pd_outfile out;
	struct pd_buf html;
	uint64_t failed;
	struct pd_err err;
};

static void bad_row(void *ctx, const char *why)
{
	pd_log_error(ctx, "%s; left out", why);
}

static void flush(struct report_run *r)
{
	fwrite(pd_buf_z(&r->html), 1, r->html.n, r->out.f);
	pd_buf_clear(&r->html);
}

/* --- texts --- */

struct report_side {
	struct pd_buf title, text;
};

static int fetch_side(struct report_run *r, const struct pd_buf *id, struct report_side *out, struct pd_err *e)
{
	struct pd_pick pick = { 0 };
	struct pd_buf address = { 0 };
	pd_report_dumps_here(&r->dumps, pd_buf_span(id), &address);
	int status = pd_pick_page(&pick, &r->o->walk, &r->tables, pd_buf_z(&address), NULL, NULL, 0, r->log, e);
	if (!status) {
		pd_buf_set(&out->title, pick.pipeline.blocks.meta.title);
		pd_buf_set(&out->text, pd_buf_span(&pick.pipeline.topic.text));
	}
	pd_pick_release(&pick);
	pd_buf_release(&address);
	return status;
}

static struct pd_report_text text_of(const struct report_side *s)
{
	return (struct pd_report_text){ pd_buf_span(&s->title), pd_buf_span(&s->text) };
}

static void release_side(struct report_side *s)
{
	pd_buf_release(&s->title);
	pd_buf_release(&s->text);
}

static void write_pair(struct report_run *r, const struct pd_report_drawn *d, size_t number)
{
	struct report_side gone = { { 0 } }, kept = { { 0 } };
	struct pd_err e = { 0 };
	bool ok = !fetch_side(r, &d->id, &gone, &e) && !fetch_side(r, &d->dup_of, &kept, &e);
	if (!ok) {
		pd_log_error(r->log, "%s; its text is left out", e.text);
		r->failed++;
	}
	struct pd_report_text a = text_of(&gone), b = text_of(&kept);
	pd_report_page_pair(d, &a, &b, ok ? NULL : e.text, number, &r->html);
	release_side(&gone);
	release_side(&kept);
	flush(r);
}

static void write_pairs(struct report_run *r)
{
	const struct pd_report_drawn *drawn[PD_REPORT_SAMPLE_MAX];
	size_t n = pd_report_sums_drawn(&r->sums, drawn);
	if (!r->o->with_texts)
		pd_report_page_no_pairs("No dumps were given: with them, this shows the texts of some pages beside those kept.", &r->html);
	else if (!n)
		pd_report_page_no_pairs("None: no page goes, or none was to be shown.", &r->html);
	for (size_t i = 0; i < n && r->o->with_texts; i++)
		write_pair(r, drawn[i], i + 1);
}

/* --- the run --- */

static int read_rows(struct report_run *r)
{
	struct pd_report_reading verdicts = { r->verdicts, bad_row, r->log }, pairs = { r->o->pairs, bad_row, r->log };
	struct pd_report_reading sweep = { r->o->sweep, bad_row, r->log };
	r->sums.seed = (uint64_t)r->o->seed;
	r->sums.want = (size_t)r->o->sample;
	int status = pd_report_sums_read(&r->sums, &verdicts, &r->err);
	if (!status && r->o->pairs)
		status = pd_report_reach_read(&r->reach, &pairs, &r->err);
	if (!status && r->o->sweep)
		status = pd_report_sweep_read(&r->sweep, &sweep, &r->err);
	return status;
}

/* A dump that cannot be read makes the report poorer, not impossible. */
static int read_dumps(struct report_run *r)
{
	const struct pd_report_command *o = r->o;
	struct pd_err e;
	r->dumps.bytes_in = o->bytes_in;
	r->dumps.bytes_out = o->bytes_out;
	if (!o->with_texts || o->bytes_in)
		return PD_OK;
	int status = pd_report_dumps_measure(&r->dumps, o, r->verdicts, &e);
	if (status == PD_ERR_USAGE)
		return pd_fail(&r->err, status, "%s", e.text);
	if (status) {
		pd_log_error(r->log, "%s; the bytes of the dumps are left out", e.text);
		r->failed++;
	}
	return PD_OK;
}

static int report(struct report_run *r)
{
	const struct pd_report_command *o = r->o;
	const char *rows[] = { o->verdicts, o->pairs ? o->pairs : "-", o->sweep ? o->sweep : "-" };
	int status = pd_outfile_check(o->walk.output, (char *const *)rows, 3, &r->err);
	if (!status)
		status = pd_outfile_check(o->walk.output, o->inputs, o->n_inputs, &r->err);
	if (!status && o->with_texts)
		status = pd_report_dumps_copy(&r->dumps, &r->verdicts, o->walk.tmp_dir, &r->err);
	if (!status)
		status = read_rows(r);
	if (!status)
		status = read_dumps(r);
	if (!status)
		status = pd_tables_open(&r->tables, &o->walk.page, &r->err);
	if (!status)
		status = pd_outfile_open(&r->out, o->walk.output, &r->err);
	if (status)
		return status;
	struct pd_report_facts facts = { &r->sums, o->pairs ? &r->reach : NULL, o->sweep ? &r->sweep : NULL,
					 r->dumps.bytes_in, r->dumps.bytes_out };
	pd_report_page_begin(&facts, &r->html);
	flush(r);
	write_pairs(r);
	pd_report_page_end(&r->html);
	flush(r);
	return pd_outfile_commit(&r->out, &r->err);
}

static int close_run(const struct report_run *r)
{
	bool damaged = r->sums.bad || r->reach.bad || r->sweep.bad || r->failed;
	struct pd_buf line = { 0 };
	pd_buf_count(&line, r->sums.clusters, "cluster");
	pd_buf_add_z(&line, ", ");
	pd_buf_count(&line, r->sums.gone, "duplicate");
	pd_log_note(r->log, "%s%s%s", line.p, r->o->walk.output ? "; open in a browser: " : "", r->o->walk.output ? r->o->walk.output : "");
	pd_buf_release(&line);
	return damaged && !r->o->walk.ignore_damaged ? PD_EXIT_DAMAGED : PD_EXIT_DONE;
}

int pd_report_run(const struct pd_report_command *o, struct pd_log *log)
{
	struct report_run r = { .o = o, .log = log, .verdicts = o->verdicts, .out = { .slot = -1 } };
	int status = report(&r), code = status ? pd_command_failed(log, &r.err) : close_run(&r);
	pd_report_sums_release(&r.sums);
	pd_report_sweep_release(&r.sweep);
	pd_report_dumps_release(&r.dumps);
	pd_tables_release(&r.tables);
	pd_buf_release(&r.html);
	return code;
}

static int from_stdin(const char *path)
{
	return path && !strcmp(path, "-");
}

int pd_cmd_report(int argc, char **argv)
{
	struct pd_report_command o = { .sample = PD_REPORT_SAMPLE, .seed = 1 };
	struct pd_log log;
	struct pd_err e;
	int first;
	pd_log_init(&log, "report");
	int code = pd_walk_parse(&pd_usage_report, argc, argv, &o.walk, &first, &log);
	if (code)
		return code - 1;
	if (!o.verdicts)
		pd_fail(&e, PD_ERR_USAGE, "missing required option --verdicts=FILE");
	else if (from_stdin(o.verdicts) + from_stdin(o.pairs) + from_stdin(o.sweep) > 1)
		pd_fail(&e, PD_ERR_USAGE, "verdicts, pairs and settings cannot both come from standard input");
	else
		e.status = PD_OK;
	if (e.status)
		return pd_command_failed(&log, &e);
	log.quiet = o.walk.quiet;
	o.inputs = argv + first;
	o.n_inputs = argc - first;
	o.with_texts = o.n_inputs > 0;
	return pd_report_run(&o, &log);
}
