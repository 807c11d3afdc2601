/* SPDX-License-Identifier: MIT */
#include "walk/run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "write/fp_row.h"

/* As many names of one file are told; all are counted. */
enum { ALIASES_TOLD = 100 };

static const struct pd_span none = { "", 0 };

static void on_damage(void *ctx, const struct pd_damage *d)
{
	struct pd_walk_run *w = ctx;
	struct pd_buf where = { 0 };
	pd_damage_tell(d, "left out", w->log);
	pd_damage_where(d, &where);
	pd_walk_event_left_out(&w->events, PD_WALK_DAMAGE, PD_SKIP_DAMAGED, pd_buf_span(&where), none, none, pd_span_z(d->reason));
	pd_buf_release(&where);
}

static void on_input(void *ctx, const char *label)
{
	struct pd_walk_run *w = ctx;
	pd_walk_event_input(&w->events, pd_span_z(label));
}

static void on_alias(void *ctx, const char *path)
{
	struct pd_walk_run *w = ctx;
	static const char words[] = "another name of a file that was read already";
	if (w->aliases++ < ALIASES_TOLD)
		pd_log_note(w->log, "%s: %s; left out", path, words);
	pd_walk_event_left_out(&w->events, PD_WALK_ALIAS, PD_SKIP_NONE, pd_span_z(path), none, none, pd_span_z(words));
}

int pd_walk_next(void *shared, void *ctx)
{
	struct pd_walk_run *w = shared;
	struct pd_worker *me = ctx;
	double t = w->o->stats ? pd_thread_seconds() : 0;
	if (me->pipeline.err.status)
		return me->pipeline.err.status;
	int r = pd_reader_next(w->reader, &me->record, &w->err);
	if (w->o->stats)
		w->read_seconds += pd_thread_seconds() - t;
	if (r == 1) {
		pd_buf_set(&me->events, pd_buf_span(&w->events));
		pd_buf_clear(&w->events);
	}
	return r;
}

void pd_walk_count(struct pd_worker *me, enum pd_skip skip, const char *reason, struct pd_buf *out)
{
	const struct pd_record *r = &me->record;
	struct pd_span type = me->pipeline.page.content_type;
	if (skip == PD_SKIP_FAILED)
		return;
	pd_buf_add_span(out, pd_buf_span(&me->events));
	me->counts.skipped[skip]++;
	if (skip == PD_SKIP_DAMAGED)
		pd_log_error(me->walk->log, "%s: %s; left out", pd_buf_z(&r->id), reason ? reason : "damaged");
	if (!skip)
		pd_walk_event_page(out);
	else
		pd_walk_event_left_out(out, PD_WALK_LEFT_OUT, skip, pd_buf_span(&r->id), pd_buf_span(&r->url),
				       skip != PD_SKIP_KIND && type.n ? type : pd_buf_span(&r->content_type), pd_span_z(reason ? reason : ""));
}

void pd_walk_row(struct pd_worker *me, struct pd_buf *out)
{
	double t = me->pipeline.timed ? pd_thread_seconds() : 0;
	me->counts.without_fingerprint += !me->pipeline.signature.present;
	me->counts.stubs[me->pipeline.stub] += !me->pipeline.match_stubs;
	me->walk->walker->row(&me->pipeline, me->json, &me->walk->tables, out);
	if (me->pipeline.timed)
		me->pipeline.seconds[PD_PHASE_ROW] += pd_thread_seconds() - t;
}

static void work(void *ctx, struct pd_buf *out)
{
	struct pd_worker *me = ctx;
	const char *reason = NULL;
	enum pd_skip skip = pd_pipeline_run(&me->pipeline, &me->record, &reason);
	pd_walk_count(me, skip, reason, out);
	if (!skip)
		pd_walk_row(me, out);
}

int pd_walk_emit(void *shared, const struct pd_buf *out)
{
	struct pd_walk_run *w = shared;
	struct pd_span row = pd_buf_span(out);
	bool page = pd_walk_inputs_take(&w->inputs, &row, w->log);
	pd_walk_progress(&w->progress, w->reader, w->log, page);
	if (row.n && fwrite(row.p, 1, row.n, w->out.f) != row.n)
		return pd_fail_errno(&w->err, "cannot write %s", w->o->output ? w->o->output : "standard output");
	return PD_OK;
}

static void worker_free(struct pd_worker *me)
{
	if (!me)
		return;
	pd_pipeline_release(&me->pipeline);
	pd_record_release(&me->record);
	pd_json_free(me->json);
	pd_buf_release(&me->packed);
	pd_buf_release(&me->events);
	pd_walk_codec_release(&me->codec);
	free(me);
}

static int make_workers(struct pd_walk_run *w)
{
	w->n_workers = w->o->jobs ? w->o->jobs : pd_cores();
	w->workers = pd_zalloc((size_t)w->n_workers * sizeof *w->workers);
	for (int i = 0; i < w->n_workers; i++) {
		struct pd_worker *me = w->workers[i] = pd_zalloc(sizeof *me);
		me->walk = w;
		me->json = pd_json_new();
		int status = pd_pipeline_init(&me->pipeline, &w->o->page, &w->tables, &w->err);
		if (status)
			return status;
		me->pipeline.timed = w->o->stats != NULL;
	}
	return PD_OK;
}

/* Who forgot an input would wait for the program as it waits for him. */
static void tell_waiting(struct pd_walk_run *w, char **inputs, int n_inputs)
{
	bool reads = !n_inputs && !w->o->files_from;
	for (int i = 0; i < n_inputs; i++)
		reads |= strcmp(inputs[i], "-") == 0;
	reads |= w->o->files_from && strcmp(w->o->files_from, "-") == 0;
	if (reads && isatty(STDIN_FILENO))
		pd_log_note(w->log, "reading standard input from the terminal; Ctrl-D ends it, Ctrl-C the program");
}

static int open_all(struct pd_walk_run *w, char **inputs, int n_inputs)
{
	struct pd_reader_options r = {
		.inputs = inputs,
		.n_inputs = n_inputs,
		.found = w->o->found,
		.files_from = w->o->files_from,
		.stdin_name = w->o->name,
		.max_block = w->o->page.max_page + PD_BLOCK_ROOM,
		.fields = w->o->fields,
		.all_text = w->o->all_text,
		.measure = w->log->progress,
		.damage = on_damage,
		.input = on_input,
		.alias = on_alias,
		.damage_ctx = w,
	};
	int status = pd_tables_open(&w->tables, &w->o->page, &w->err);
	if (!status)
		status = make_workers(w);
	/* Before the inputs are looked at: what it writes is none of them. */
	if (!status)
		status = pd_outfile_open(&w->out, w->o->output, &w->err);
	if (!status)
		status = pd_walk_inputs_open(&w->inputs, w->o->left_out, &w->err);
	if (!status)
		status = pd_reader_open(&w->reader, &r, &w->err);
	if (!status)
		tell_waiting(w, inputs, n_inputs);
	return status;
}

int pd_walk_pool(struct pd_walk_run *w, const struct pd_pool_ops *ops)
{
	int status = pd_pool_run(ops, w, (void **)w->workers, w->n_workers);
	for (int i = 0; i < w->n_workers; i++) {
		const struct pd_err *e = &w->workers[i]->pipeline.err;
		if (e->status)
			return pd_fail(&w->err, e->status, "%s", e->text);
	}
	return status;
}

static void sum_up(struct pd_walk_run *w, struct pd_walk_counts *sum)
{
	*sum = (struct pd_walk_counts){ };
	for (int i = 0; i < w->n_workers; i++) {
		const struct pd_worker *me = w->workers[i];
		for (int s = 0; s < PD_SKIP_COUNT; s++)
			sum->skipped[s] += me->counts.skipped[s];
		sum->without_fingerprint += me->counts.without_fingerprint;
		for (int s = 0; s < PD_STUBS; s++)
			sum->stubs[s] += me->counts.stubs[s];
		for (int p = 0; p < PD_PHASES; p++)
			sum->seconds[p] += me->pipeline.seconds[p];
	}
	sum->seconds[PD_PHASE_READ] = w->read_seconds;
	sum->barren = w->inputs.barren;
	sum->elapsed = pd_wall_seconds() - w->progress.started;
	if (w->reader)
		pd_reader_stats(w->reader, &sum->input);
}

static int run(struct pd_walk_run *w, struct pd_walk_counts *sum)
{
	static const struct pd_pool_ops ops = { pd_walk_next, work, pd_walk_emit };
	struct pd_buf text = { 0 };
	int status = w->o->learn ? pd_walk_learn(w) : PD_OK;
	if (!status && w->walker->header) {
		w->walker->header(&w->tables, &text);
		fwrite(text.p, 1, text.n, w->out.f);
	}
	if (!status && w->walker->row)
		status = w->spool ? pd_walk_again(w) : pd_walk_pool(w, &ops);
	if (!status)
		status = pd_walk_inputs_end(&w->inputs, pd_buf_span(&w->events), w->log, &w->err);
	sum_up(w, sum);
	if (!status && w->walker->total) {
		pd_buf_clear(&text);
		pd_walk_total(sum, &text);
		fwrite(text.p, 1, text.n, w->out.f);
	}
	pd_buf_release(&text);
	return status;
}

int pd_walk(const struct pd_walker *walker, const struct pd_walk_options *o, char **inputs, int n_inputs, struct pd_log *log,
	    struct pd_err *e)
{
	struct pd_walk_run w = { .walker = walker, .o = o, .log = log, .out = { .slot = -1 } };
	struct pd_walk_counts sum = { 0 };
	log->progress = o->progress < 0 ? isatty(STDERR_FILENO) : o->progress;
	pd_walk_progress_start(&w.progress);
	char *standard = (char *)"-";
	bool reads_standard = !n_inputs && !o->files_from;
	int status = pd_outfile_check(o->output, reads_standard ? &standard : inputs, reads_standard ? 1 : n_inputs, &w.err);
	if (!status)
		status = open_all(&w, inputs, n_inputs);
	if (!status)
		status = run(&w, &sum);
	pd_log_progress(log, NULL);
	if (!status)
		status = pd_outfile_commit(&w.out, &w.err);
	else if (w.out.f)
		pd_outfile_abandon(&w.out);
	if (!status && o->stats)
		status = pd_walk_stats(&sum, o->stats, &w.err);
	if (status)
		*e = w.err;
	else
		status = pd_walk_close(&sum, log) && !o->ignore_damaged ? PD_WALK_DAMAGED : PD_OK;
	pd_reader_free(w.reader);
	pd_walk_inputs_release(&w.inputs);
	pd_buf_release(&w.events);
	for (int i = 0; i < w.n_workers; i++)
		worker_free(w.workers[i]);
	free(w.workers);
	pd_site_learner_free(w.learner);
	pd_walk_spool_free(w.spool);
	pd_tables_release(&w.tables);
	return status;
}

static void fp_row(struct pd_pipeline *p, struct pd_json *j, const struct pd_tables *t, struct pd_buf *out)
{
	pd_fp_row(p, t->params, out);
}

const struct pd_walker pd_walk_fp = { .header = pd_fp_header, .row = fp_row, .total = true };
