/* SPDX-License-Identifier: MIT
 *
 * One thread at a time reads records, all of them make rows, and what they made is written in the order of the input: the pool
 * (base/threads.h) sees to that.
 */
#include "walk/walk.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/outfile.h"
#include "base/threads.h"
#include "base/tsv.h"
#include "rows/shingles.h"
#include "walk/counts.h"
#include "walk/inputs.h"
#include "walk/spool.h"
#include "write/page_rows.h"

struct worker {
	struct pd_pipeline pipeline;
	struct pd_record record;
	struct pd_json *json;
	struct walk *walk;
	struct pd_buf events;		/* that came before the record */
	struct pd_walk_counts counts;
	struct pd_buf shingles, id;
	struct pd_buf packed;		/* the page that came back from the spool */
	struct pd_walk_codec codec;
	bool lost;			/* one did not */
};

struct walk {
	const struct pd_walker *walker;
	const struct pd_walk_options *o;
	struct pd_log *log;
	struct pd_tables tables;
	struct pd_reader *reader;
	struct pd_buf events;		/* since the last record was read, see inputs.h */
	struct pd_walk_inputs inputs;
	struct pd_outfile out;
	struct pd_shingles_writer shingles;	/* where they are wanted */
	struct worker **workers;
	int n_workers;
	struct pd_err err;
	struct pd_walk_progress progress;
	double read_seconds;
	uint64_t aliases;
	/* where something is learned first */
	struct pd_site_learner *learner;
	struct pd_walk_spool *spool;		/* of pages that are signed afterwards; NULL: none are */
};

/* As many names of one file are told; all are counted. */
enum { ALIASES_TOLD = 100 };

static const struct pd_span none = { "", 0 };

static void on_damage(void *ctx, const struct pd_read_damage *d)
{
	struct walk *w = ctx;
	struct pd_buf where = { 0 };
	pd_read_damage_tell(d, "left out", w->log);
	pd_read_damage_where(d, &where);
	pd_walk_event_left_out(&w->events, PD_WALK_DAMAGE, PD_SKIP_DAMAGED, pd_buf_span(&where), none, none, pd_span_z(d->reason));
	pd_buf_release(&where);
}

static void on_input(void *ctx, const char *label)
{
	struct walk *w = ctx;
	pd_walk_event_input(&w->events, pd_span_z(label));
}

static void on_alias(void *ctx, const char *path)
{
	struct walk *w = ctx;
	static const char words[] = "another name of a file that was read already";
	if (w->aliases++ < ALIASES_TOLD)
		pd_log_note(w->log, "%s: %s; left out", path, words);
	pd_walk_event_left_out(&w->events, PD_WALK_ALIAS, PD_SKIP_NONE, pd_span_z(path), none, none, pd_span_z(words));
}

static int next_record(void *shared, void *ctx)
{
	struct walk *w = shared;
	struct worker *me = ctx;
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

static void count_record(struct worker *me, enum pd_skip skip, const char *reason, struct pd_buf *out)
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

/* Before the row: u32 bytes of the id and of the shingles, the id as rows have it, the shingles. */
static void add_shingles(struct worker *me, struct pd_buf *out)
{
	pd_buf_clear(&me->shingles);
	pd_buf_clear(&me->id);
	if (me->pipeline.sketch.present || me->pipeline.signature.present)
		pd_sketch_shingles(&me->pipeline.sketcher, &me->pipeline.topic, &me->shingles);
	pd_tsv_add(&me->id, me->pipeline.page.id);
	uint32_t bytes[2] = { (uint32_t)me->id.n, (uint32_t)me->shingles.n };
	pd_buf_add(out, bytes, sizeof bytes);
	pd_buf_add_span(out, pd_buf_span(&me->id));
	pd_buf_add_span(out, pd_buf_span(&me->shingles));
}

/* How many terms are a shingle is a parameter of the sketch, which need not match where it is not used. */
static int create_shingles(struct walk *w)
{
	const struct pd_sketch_options *o = &w->o->page.sketch;
	struct pd_buf must = { 0 };
	pd_buf_printf(&must, "%s sketch_shingle=%d", pd_buf_z(&w->tables.must), o->minima ? o->shingle : PD_SKETCH_DEFAULT.shingle);
	int status = pd_shingles_create(&w->shingles, w->o->shingles, pd_buf_span(&must), &w->err);
	pd_buf_release(&must);
	return status;
}

static int emit_shingles(struct walk *w, struct pd_span *rest)
{
	uint32_t bytes[2];
	memcpy(bytes, rest->p, sizeof bytes);
	struct pd_span id = pd_span(rest->p + sizeof bytes, bytes[0]), shingles = pd_span(id.p + id.n, bytes[1]);
	*rest = pd_span(shingles.p + shingles.n, rest->n - sizeof bytes - id.n - shingles.n);
	return shingles.n ? pd_shingles_add(&w->shingles, id, shingles, &w->err) : PD_OK;
}

/* What write_row made. */
static int emit_made(struct walk *w, struct pd_span row)
{
	int status = w->o->shingles && row.n ? emit_shingles(w, &row) : PD_OK;
	if (!status && row.n && fwrite(row.p, 1, row.n, w->out.f) != row.n)
		return pd_fail_errno(&w->err, "cannot write %s", w->o->output ? w->o->output : "standard output");
	return status;
}

static void write_row(struct worker *me, struct pd_buf *out)
{
	double t = me->pipeline.timed ? pd_thread_seconds() : 0;
	me->counts.without_fingerprint += me->walk->tables.fingerprints && !me->pipeline.signature.present;
	me->counts.stubs[me->pipeline.stub] += !me->pipeline.match_stubs;
	if (me->walk->o->shingles)
		add_shingles(me, out);
	me->walk->walker->row(&me->pipeline, me->json, &me->walk->tables, out);
	if (me->pipeline.timed)
		me->pipeline.seconds[PD_PHASE_ROW] += pd_thread_seconds() - t;
}

static void work(void *ctx, struct pd_buf *out)
{
	struct worker *me = ctx;
	const char *reason = NULL;
	enum pd_skip skip = pd_pipeline_run(&me->pipeline, &me->record, &reason);
	count_record(me, skip, reason, out);
	if (!skip)
		write_row(me, out);
}

static int emit_row(void *shared, const struct pd_buf *out)
{
	struct walk *w = shared;
	struct pd_span row = pd_buf_span(out);
	bool page = pd_walk_inputs_take(&w->inputs, &row, w->log);
	pd_walk_progress(&w->progress, w->reader, w->log, page);
	return emit_made(w, row);
}

static void worker_free(struct worker *me)
{
	if (!me)
		return;
	pd_pipeline_release(&me->pipeline);
	pd_record_release(&me->record);
	pd_json_free(me->json);
	pd_buf_release(&me->packed);
	pd_buf_release(&me->events);
	pd_buf_release(&me->shingles);
	pd_buf_release(&me->id);
	pd_walk_codec_release(&me->codec);
	free(me);
}

static int make_workers(struct walk *w)
{
	w->n_workers = w->o->jobs ? w->o->jobs : pd_cores();
	w->workers = pd_zalloc((size_t)w->n_workers * sizeof *w->workers);
	for (int i = 0; i < w->n_workers; i++) {
		struct worker *me = w->workers[i] = pd_zalloc(sizeof *me);
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
static void tell_waiting(struct walk *w, char **inputs, int n_inputs)
{
	bool reads = !n_inputs && !w->o->files_from;
	for (int i = 0; i < n_inputs; i++)
		reads |= strcmp(inputs[i], "-") == 0;
	reads |= w->o->files_from && strcmp(w->o->files_from, "-") == 0;
	if (reads && isatty(STDIN_FILENO))
		pd_log_note(w->log, "reading standard input from the terminal; Ctrl-D ends it, Ctrl-C the program");
}

static int open_all(struct walk *w, char **inputs, int n_inputs)
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

static int run_pool(struct walk *w, const struct pd_pool_ops *ops)
{
	int status = pd_pool_run(ops, w, (void **)w->workers, w->n_workers);
	for (int i = 0; i < w->n_workers; i++) {
		const struct pd_err *e = &w->workers[i]->pipeline.err;
		if (e->status)
			return pd_fail(&w->err, e->status, "%s", e->text);
	}
	return status;
}

/* --- where something is learned first --- */

/*
 * Pages are parsed once: the first pass gives what learning keeps of each and, where rows are wanted, spools the page; the
 * second takes them from there, in the order of the input.
 *
 * What one page gives in the first pass: 8 bytes, how long its record is; the record; the page as the spool holds it.
 */

void pd_walk_taught(const struct pd_site_learner *l, struct pd_log *log)
{
	const struct pd_site_learn_counts *c = pd_site_learner_counts(l);
	struct pd_buf line = { 0 };
	if (!c->hosts) {
		pd_log_note(log, "no page has a host, so nothing can be learned of sites; a host is known from a record's URL, or from a "
				 "path such as mirror/example.org/page.html");
		return;
	}
	pd_buf_count(&line, c->hosts, "host");
	pd_buf_printf(&line, ", %" PRIu64 " of them repeat ", c->taught);
	pd_buf_count(&line, c->lines, "line");
	pd_buf_add_z(&line, " and ");
	pd_buf_count(&line, c->paths, "path");
	pd_log_note(log, "%s", line.p);
	pd_buf_release(&line);
}

static void first_work(void *ctx, struct pd_buf *out)
{
	struct worker *me = ctx;
	const char *reason = NULL;
	uint64_t record = 0;
	enum pd_skip skip = pd_pipeline_parse(&me->pipeline, &me->record, &reason);
	count_record(me, skip, reason, out);
	if (skip)
		return;
	size_t at = out->n;
	pd_buf_add(out, &record, sizeof record);
	pd_pipeline_site(&me->pipeline, out);
	record = out->n - at - sizeof record;
	memcpy(out->p + at, &record, sizeof record);
	if (me->walk->spool)
		pd_walk_spool_pack(&me->codec, &me->pipeline, out);
}

static int first_emit(void *shared, const struct pd_buf *out)
{
	struct walk *w = shared;
	uint64_t record;
	struct pd_span rest = pd_buf_span(out);
	bool page = pd_walk_inputs_take(&w->inputs, &rest, w->log);
	pd_walk_progress(&w->progress, w->reader, w->log, page);
	if (!page)
		return PD_OK;
	memcpy(&record, rest.p, sizeof record);
	rest = pd_span(rest.p + sizeof record, rest.n - sizeof record);
	int status = pd_site_learner_add(w->learner, pd_span(rest.p, record), &w->err);
	if (!status && w->spool)
		status = pd_walk_spool_put(w->spool, pd_span(rest.p + record, rest.n - record), &w->err);
	return status;
}

/* The table into a temporary file, from there into --save-boilerplate and into the walk. */
static int save(struct walk *w, FILE *table)
{
	struct pd_outfile out;
	char piece[1 << 16];
	size_t n;
	if (!w->o->save_boilerplate)
		return PD_OK;
	if (fseeko(table, 0, SEEK_SET) < 0)
		return pd_fail_errno(&w->err, "cannot read a temporary file");
	int status = pd_outfile_open(&out, w->o->save_boilerplate, &w->err);
	if (status)
		return status;
	while ((n = fread(piece, 1, sizeof piece, table)) > 0)
		fwrite(piece, 1, n, out.f);
	if (!ferror(table))
		return pd_outfile_commit(&out, &w->err);
	pd_outfile_abandon(&out);
	return pd_fail_errno(&w->err, "cannot read a temporary file");
}

static int use_table(struct walk *w)
{
	struct pd_boilerplate *b;
	FILE *table = pd_tempfile_open(w->o->tmp_dir, &w->err);
	if (!table)
		return PD_ERR_SYSTEM;
	int status = pd_site_learner_end(w->learner, table, &w->err);
	if (!status)
		status = save(w, table);
	if (status) {
		fclose(table);
		return status;
	}
	status = pd_boilerplate_read(table, "what was learned", &b, &w->err);
	if (!status)
		pd_tables_boilerplate(&w->tables, b, w->o->save_boilerplate ? w->o->save_boilerplate : "learned");
	return status;
}

/* The table that all pages teach: into the output where that is all that is wanted; else into --save-boilerplate, if it is named,
 * and into the tables of the walk. */
static int learn_first(struct walk *w)
{
	static const struct pd_pool_ops ops = { next_record, first_work, first_emit };
	bool rows = w->walker->row != NULL;
	struct pd_site_learn_options o = { .tmp_dir = w->o->tmp_dir,
					   .hidden_kept = !w->o->page.html.drop_hidden,
					   .samples = rows || w->o->samples,
					   .known = w->o->known };
	w->learner = pd_site_learner_new(&o);
	int status = rows ? pd_walk_spool_new(&w->spool, w->o->tmp_dir, &w->err) : PD_OK;
	if (!status)
		status = run_pool(w, &ops);
	if (!status)
		status = rows ? use_table(w) : pd_site_learner_end(w->learner, w->out.f, &w->err);
	if (!status)
		pd_walk_taught(w->learner, w->log);
	return status;
}

static int next_packed(void *shared, void *ctx)
{
	struct walk *w = shared;
	struct worker *me = ctx;
	return pd_walk_spool_next(w->spool, &me->packed, &w->err);
}

static void second_work(void *ctx, struct pd_buf *out)
{
	struct worker *me = ctx;
	if (!pd_walk_spool_unpack(&me->codec, pd_buf_span(&me->packed), &me->pipeline)) {
		me->lost = true;
		return;
	}
	pd_pipeline_sign(&me->pipeline);
	write_row(me, out);
}

static int second_emit(void *shared, const struct pd_buf *out)
{
	return emit_made(shared, pd_buf_span(out));
}

static int sign_again(struct walk *w)
{
	static const struct pd_pool_ops ops = { next_packed, second_work, second_emit };
	int status = pd_walk_spool_rewind(w->spool, &w->err);
	if (!status)
		status = run_pool(w, &ops);
	for (int i = 0; !status && i < w->n_workers; i++)
		if (w->workers[i]->lost)
			status = pd_fail(&w->err, PD_ERR_FORMAT, "a page came back damaged from its temporary file");
	return status;
}

/* --- the run --- */

static void sum_up(struct walk *w, struct pd_walk_counts *sum)
{
	*sum = (struct pd_walk_counts){ };
	for (int i = 0; i < w->n_workers; i++) {
		const struct worker *me = w->workers[i];
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

static int run(struct walk *w, struct pd_walk_counts *sum)
{
	static const struct pd_pool_ops ops = { next_record, work, emit_row };
	struct pd_buf text = { 0 };
	int status = w->o->learn ? learn_first(w) : PD_OK;
	if (!status && w->o->shingles)
		status = create_shingles(w);
	if (!status && w->walker->header) {
		w->walker->header(&w->tables, &text);
		fwrite(text.p, 1, text.n, w->out.f);
	}
	if (!status && w->walker->row)
		status = w->spool ? sign_again(w) : run_pool(w, &ops);
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
	struct walk w = { .walker = walker, .o = o, .log = log, .out = { .slot = -1 }, .shingles.out.slot = -1 };
	struct pd_walk_counts sum = { 0 };
	log->progress = o->progress < 0 ? isatty(STDERR_FILENO) : o->progress;
	pd_walk_progress_start(&w.progress);
	char *standard = (char *)"-";
	bool reads_standard = !n_inputs && !o->files_from;
	int status = pd_outfile_check(o->output, reads_standard ? &standard : inputs, reads_standard ? 1 : n_inputs, &w.err);
	if (!status && o->shingles)
		status = pd_outfile_check(o->shingles, reads_standard ? &standard : inputs, reads_standard ? 1 : n_inputs, &w.err);
	if (!status)
		status = open_all(&w, inputs, n_inputs);
	if (!status)
		status = run(&w, &sum);
	pd_log_progress(log, NULL);
	pd_log_many_end(log);
	/* First what stands beside the rows: rows without it would be believed to have it. */
	if (!status && o->shingles)
		status = pd_shingles_commit(&w.shingles, &w.err);
	else
		pd_shingles_abandon(&w.shingles);
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
	pd_write_fp_row(p, t->params, out);
}

const struct pd_walker pd_walk_fp = { .header = pd_write_fp_header, .row = fp_row, .total = true };
