/* SPDX-License-Identifier: MIT
 * pagededup estimate: a sample of the dumps -> what a whole run would find, take and need. */
#include <stdlib.h>

#include "base/threads.h"
#include "cmd/walk.h"
#include "inspect/inspect.h"

/* LIMIT: seconds after which a sample of slow pages is ended. */
enum { LIMIT = 10 };

struct estimate_options {
	struct pd_walk_options walk;	/* first: the options of pages are parsed into it */
	int sample;
};

static const struct pd_opt opts[] = {
	{ .type = PD_OPT_HEADING, .name = "Sample" },
	{ .type = PD_OPT_INT, .name = "sample", .arg = "N", .at = offsetof(struct estimate_options, sample), .min = 16, .max = 20000,
	  .help = "sample about N pages (1000)" },
	{ .type = PD_OPT_INT, .letter = 'j', .name = "jobs", .arg = "N", PD_AT(jobs), .min = 1, .max = 1024,
	  .help = "threads of the run that is estimated (all cores)" },
	PD_WALK_INPUT_OPTS, PD_WALK_TOPIC_OPTS, PD_WALK_SIGN_OPTS, PD_OPT_END,
};

static const struct pd_usage usage = {
	.name = "estimate",
	.synopsis = "[OPTION]... [INPUT]...",
	.summary = "Estimate from a sample how many pages the dumps hold, of what kind, and what a run costs.",
	.text = "INPUT: as for 'pagededup fp'; give the options that the run will have.",
	.example = "pagededup estimate crawl-*.warc.gz",
	.opts = opts,
};

struct estimate_run {
	const struct estimate_options *o;
	struct pd_tables tables;
	struct pd_pipeline pipeline;
	struct pd_record record;
	struct pd_read_sampler *sampler;
	struct pd_estimate estimate;
	struct pd_err err;
};

static int open_all(struct estimate_run *r, struct pd_reader_options *in)
{
	int status = pd_tables_open(&r->tables, &r->o->walk.page, &r->err);
	if (!status)
		status = pd_pipeline_init(&r->pipeline, &r->o->walk.page, &r->tables, &r->err);
	if (!status)
		status = pd_read_sampler_open(&r->sampler, in, r->o->sample, &r->err);
	return status;
}

static int add_page(struct estimate_run *r)
{
	const char *reason;
	struct pd_estimate *e = &r->estimate;
	enum pd_skip skip = pd_pipeline_run(&r->pipeline, &r->record, &reason);
	if (skip == PD_SKIP_FAILED)
		return pd_fail(&r->err, r->pipeline.err.status, "%s", r->pipeline.err.text);
	e->records++;
	e->damaged += skip == PD_SKIP_DAMAGED;
	if (skip)
		return PD_OK;
	pd_read_sampler_stats(r->sampler, &e->sample);
	pd_estimate_add(e, &r->pipeline, e->sample.place);
	return PD_OK;
}

static int sample(struct estimate_run *r)
{
	struct pd_estimate *e = &r->estimate;
	double cpu = pd_thread_seconds(), started = pd_wall_seconds();
	int status;
	while ((status = pd_read_sampler_next(r->sampler, &r->record, &r->err)) == 1) {
		status = add_page(r);
		if (status < 0)
			break;
		if (pd_wall_seconds() - started > LIMIT) {
			e->limit = LIMIT;
			break;
		}
	}
	pd_read_sampler_stats(r->sampler, &e->sample);
	e->cpu_seconds = pd_thread_seconds() - cpu - e->sample.seek_seconds;
	e->damaged += e->sample.damaged;
	e->bits = r->o->walk.page.sign.bits;
	e->sketch = r->o->walk.page.sketch;
	int cores = pd_cores();
	e->threads = r->o->walk.jobs && r->o->walk.jobs < cores ? r->o->walk.jobs : cores;
	return status < 0 ? status : PD_OK;
}

static void on_damage(void *ctx, const struct pd_read_damage *d)
{
	pd_read_damage_tell(d, "left out", ctx);
}

static void print_estimate(struct estimate_run *r)
{
	struct pd_buf out = { 0 };
	pd_estimate_print(&r->estimate, &out);
	fwrite(out.p, 1, out.n, stdout);
	pd_buf_release(&out);
}

static void release(struct estimate_run *r)
{
	pd_read_sampler_free(r->sampler);
	pd_pipeline_release(&r->pipeline);
	pd_tables_release(&r->tables);
	pd_record_release(&r->record);
	pd_estimate_release(&r->estimate);
}

static int run_estimate(int argc, char **argv)
{
	struct estimate_options o = { .sample = 1000 };
	struct pd_log log;
	int first;
	pd_log_init(&log, "estimate");
	int code = pd_walk_parse(&usage, PD_METHOD_SIGNS, argc, argv, &o.walk, &first, &log);
	if (code)
		return code - 1;
	struct pd_reader_options in = { .inputs = argv + first,
					.n_inputs = argc - first,
					.files_from = o.walk.files_from,
					.stdin_name = o.walk.name,
					.max_block = o.walk.page.max_page + PD_BLOCK_ROOM,
					.fields = o.walk.fields,
					.all_text = o.walk.all_text,
					.damage = on_damage,
					.damage_ctx = &log };
	struct estimate_run r = { .o = &o };
	int status = open_all(&r, &in);
	if (!status)
		status = sample(&r);
	if (!status)
		print_estimate(&r);
	pd_log_many_end(&log);
	code = status ? pd_command_failed(&log, &r.err) : r.estimate.damaged && !r.estimate.n ? PD_EXIT_DAMAGED : PD_EXIT_DONE;
	release(&r);
	return code;
}

const struct pd_command pd_cmd_estimate = { "Inspecting and measuring", &usage, run_estimate };
