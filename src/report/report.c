/* SPDX-License-Identifier: MIT */
#include "report/report.h"

#include <string.h>

#include "base/outfile.h"
#include "base/tempfile.h"
#include "apply/apply.h"
#include "report/page.h"

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

static void bad_row(void *ctx, const char *why)
{
	pd_log_error(ctx, "%s; left out", why);
}

static int read_rows(struct report *r)
{
	const struct pd_report_options *o = r->o;
	struct pd_report_reading verdicts = { r->verdicts, o->tmp_dir, bad_row, r->log }, pairs = { o->pairs, NULL, bad_row, r->log };
	struct pd_report_reading sweep = { o->sweep, NULL, bad_row, r->log };
	r->sums.seed = (uint64_t)o->seed;
	r->sums.want = (size_t)o->sample;
	int status = pd_report_sums_read(&r->sums, &verdicts, &r->err);
	if (!status && o->pairs)
		status = pd_report_reach_read(&r->reach, &pairs, &r->err);
	if (!status && o->sweep)
		status = pd_report_sweep_read(&r->sweep, &sweep, &r->err);
	return status;
}

/* --- the dumps: how many of their bytes would go, and how a page of the rows is asked for --- */

/* Whoever read them first told it. */
static void told_before(void *ctx, const char *why)
{
}

static void damage_told_before(void *ctx, const struct pd_damage *damage)
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
	if (status == PD_ERR_USAGE)
		return pd_fail(&r->err, status, "%s", e.text);
	if (status) {
		pd_log_error(r->log, "%s; the bytes of the dumps are left out", e.text);
		r->failed++;
	}
	return PD_OK;
}

/* --- the page --- */

static int flush(struct report *r)
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

static int write_pair(struct report *r, const struct pd_report_sampled *d, size_t number)
{
	struct side sides[2] = { 0 };
	struct pd_err e = { 0 };
	bool ok = !fetch_side(r, &d->id, &sides[0], &e) && !fetch_side(r, &d->dup_of, &sides[1], &e);
	if (!ok) {
		pd_log_error(r->log, "%s; its text is left out", e.text);
		r->failed++;
	}
	struct pd_report_text texts[2];
	for (int i = 0; i < 2; i++)
		texts[i] = (struct pd_report_text){ pd_buf_span(&sides[i].title), pd_buf_span(&sides[i].text) };
	pd_report_page_pair(d, &texts[0], &texts[1], ok ? NULL : e.text, number, &r->html);
	for (int i = 0; i < 2; i++) {
		pd_buf_release(&sides[i].title);
		pd_buf_release(&sides[i].text);
	}
	return flush(r);
}

static int write_pairs(struct report *r)
{
	const struct pd_report_sampled *sampled[PD_REPORT_SAMPLE_MAX];
	size_t n = pd_report_sums_sampled(&r->sums, sampled);
	int status = PD_OK;
	if (!r->o->with_texts)
		pd_report_page_no_pairs("No dumps were given: with them, this shows the texts of some pages beside those kept.", &r->html);
	else if (!n)
		pd_report_page_no_pairs("None: no page goes, or none was to be shown.", &r->html);
	for (size_t i = 0; i < n && r->o->with_texts && !status; i++)
		status = write_pair(r, sampled[i], i + 1);
	return status;
}

static int write_page(struct report *r)
{
	struct pd_report_facts facts = { &r->sums, r->o->pairs ? &r->reach : NULL, r->o->sweep ? &r->sweep : NULL,
					 r->bytes_in, r->bytes_out };
	pd_report_page_begin(&facts, &r->html);
	int status = flush(r);
	if (!status)
		status = write_pairs(r);
	if (!status)
		pd_report_page_end(&r->html);
	return status ? status : flush(r);
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
	*out = (struct pd_report_result){ r.sums.clusters, r.sums.removed, r.sums.bad || r.reach.bad || r.sweep.bad || r.failed };
	pd_report_sums_release(&r.sums);
	pd_report_sweep_release(&r.sweep);
	pd_apply_removals_free(r.removals);
	if (r.copy)
		fclose(r.copy);
	pd_buf_release(&r.copy_path);
	pd_buf_release(&r.html);
	return status;
}
