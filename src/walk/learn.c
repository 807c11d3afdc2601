/* SPDX-License-Identifier: MIT
 *
 * A walk that learns before it signs.  Pages are parsed once: the first pass gives what learning keeps of each and, where
 * rows are wanted, spools the page; the second takes them from there, in the order of the input.
 *
 * What one page gives in the first pass: 8 bytes, how long its record is; the record; the page as the spool holds it.
 */
#include <inttypes.h>

#include "walk/run.h"

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
	struct pd_worker *me = ctx;
	const char *reason = NULL;
	uint64_t record = 0;
	enum pd_skip skip = pd_pipeline_parse(&me->pipeline, &me->record, &reason);
	pd_walk_count(me, skip, reason, out);
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
	struct pd_walk_run *w = shared;
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
static int save(struct pd_walk_run *w, FILE *table)
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

static int use_table(struct pd_walk_run *w)
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

int pd_walk_learn(struct pd_walk_run *w)
{
	static const struct pd_pool_ops ops = { pd_walk_next, first_work, first_emit };
	bool rows = w->walker->row != NULL;
	struct pd_site_learn_options o = { .tmp_dir = w->o->tmp_dir,
					   .hidden_kept = !w->o->page.html.drop_hidden,
					   .samples = rows || w->o->samples,
					   .known = w->o->known };
	w->learner = pd_site_learner_new(&o);
	int status = rows ? pd_walk_spool_new(&w->spool, w->o->tmp_dir, &w->err) : PD_OK;
	if (!status)
		status = pd_walk_pool(w, &ops);
	if (!status)
		status = rows ? use_table(w) : pd_site_learner_end(w->learner, w->out.f, &w->err);
	if (!status)
		pd_walk_taught(w->learner, w->log);
	return status;
}

static int next_packed(void *shared, void *ctx)
{
	struct pd_walk_run *w = shared;
	struct pd_worker *me = ctx;
	return pd_walk_spool_next(w->spool, &me->packed, &w->err);
}

static void second_work(void *ctx, struct pd_buf *out)
{
	struct pd_worker *me = ctx;
	if (!pd_walk_spool_unpack(&me->codec, pd_buf_span(&me->packed), &me->pipeline)) {
		me->lost = true;
		return;
	}
	pd_pipeline_sign(&me->pipeline);
	pd_walk_row(me, out);
}

static int second_emit(void *shared, const struct pd_buf *out)
{
	struct pd_walk_run *w = shared;
	if (out->n && fwrite(out->p, 1, out->n, w->out.f) != out->n)
		return pd_fail_errno(&w->err, "cannot write %s", w->o->output ? w->o->output : "standard output");
	return PD_OK;
}

int pd_walk_again(struct pd_walk_run *w)
{
	static const struct pd_pool_ops ops = { next_packed, second_work, second_emit };
	int status = pd_walk_spool_rewind(w->spool, &w->err);
	if (!status)
		status = pd_walk_pool(w, &ops);
	for (int i = 0; !status && i < w->n_workers; i++)
		if (w->workers[i]->lost)
			status = pd_fail(&w->err, PD_ERR_FORMAT, "a page came back damaged from its temporary file");
	return status;
}
