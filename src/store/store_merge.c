/* SPDX-License-Identifier: MIT */
#include "store/store_merge.h"

#include <stdlib.h>

#include "base/threads.h"
#include "store/segment_write.h"

enum {
	FANOUT = 4,
	TWICE = 2,
	BEHIND = 4 * FANOUT	/* segments that wait while one merge runs, before adding waits for it */
};

/* Segments from .. to - 1 become `result`. */
struct pd_store_merge {
	struct pd_task *task;		/* NULL: done at once */
	struct pd_segment *segments;	/* of their own, read in the background */
	size_t from, to;
	struct pd_segment_job job;
	uint64_t *gone;
	uint64_t first, last;		/* pages that it holds have numbers first .. last */
	struct pd_manifest_segment result;
	int status;
	struct pd_err err;
};

static void merge_run(void *ctx)
{
	struct pd_store_merge *m = ctx;
	struct pd_segment_part *parts = pd_zalloc((m->job.n_parts + 1) * sizeof *parts);
	for (size_t i = 0; !m->status && i < m->job.n_parts; i++)
		m->status = pd_part_of_segment(&parts[i], &m->segments[i], &m->err);
	m->job.parts = parts;
	if (!m->status)
		m->status = pd_segment_write(&m->job, &m->result, &m->err);
	free(parts);
}

static void merge_free(struct pd_store_merge *m)
{
	for (size_t i = 0; i < m->job.n_parts; i++)
		pd_segment_close(&m->segments[i]);
	free(m->segments);
	free(m->gone);
	free(m);
}

static int merge_begin(struct pd_store *s, size_t from, size_t to, bool background, struct pd_err *e)
{
	struct pd_store_merge *m = pd_zalloc(sizeof *m);
	int status = PD_OK;
	*m = (struct pd_store_merge){ .from = from, .to = to };
	m->segments = pd_zalloc((to - from + 1) * sizeof *m->segments);
	for (size_t i = from; !status && i < to; i++, m->job.n_parts++)
		status = pd_store_open_segment(s, i, &m->segments[i - from], e);
	if (status) {
		merge_free(m);
		return status;
	}
	m->job.io = &s->io;
	m->job.file = s->m.next_file++;
	m->job.bits = s->m.bits;
	m->job.k = s->m.k;
	m->job.gone = m->gone = pd_gone_all(&s->gone, &m->job.n_gone);
	m->first = from ? s->segments[from].f.first : 0;
	m->last = to < s->m.n_segments ? s->segments[to].f.first - 1 : s->recent.n ? s->recent.numbers[0] - 1 : s->m.next - 1;
	s->merge = m;
	if (background)
		m->task = pd_task_start(merge_run, m);
	if (!m->task)
		merge_run(m);
	return PD_OK;
}

void pd_store_merge_abandon(struct pd_store *s)
{
	if (!s->merge)
		return;
	pd_task_join(s->merge->task);
	merge_free(s->merge);
	s->merge = NULL;
}

/* What a change makes durable, and what it makes superfluous. */
struct change {
	uint64_t old_log, old_gone;	/* 0: stays */
	uint64_t *old_segments;
	size_t n_old;
};

static int unlink_file(struct pd_store *s, const char *kind, uint64_t file, struct pd_err *e)
{
	char name[PD_IO_NAME_MAX];
	pd_store_name(s, kind, file, name, NULL);
	return file ? pd_io_unlink(&s->io, name, e) : PD_OK;
}

/* New files are written and synced; now they are the store. */
static int install(struct pd_store *s, const struct change *c, struct pd_err *e)
{
	int status = pd_io_sync_dir(&s->io, e);
	if (!status)
		status = pd_manifest_save(&s->m, &s->io, e);
	if (!status)
		s->dirty = false;
	if (!status)
		status = unlink_file(s, "log", c->old_log, e);
	if (!status)
		status = unlink_file(s, "gone", c->old_gone, e);
	for (size_t i = 0; !status && i < c->n_old; i++)
		status = unlink_file(s, "seg", c->old_segments[i], e);
	return status;
}

/* Segments from .. to - 1 give way to one, or to none when nothing was left. */
static int replace_segments(struct pd_store *s, size_t from, size_t to, struct pd_manifest_segment by, struct pd_err *e)
{
	struct pd_segment fresh = { 0 };
	size_t stays = by.rows ? 1 : 0;
	for (size_t i = from; i < to; i++)
		pd_segment_close(&s->segments[i]);
	if (stays)
		pd_manifest_put(&s->m, from, to, by);
	else
		pd_manifest_cut(&s->m, from, to);
	size_t behind = s->m.n_segments - from - stays;
	s->segments = pd_realloc(s->segments, (s->m.n_segments + (to - from) + 2) * sizeof *s->segments);
	memmove(s->segments + from + stays, s->segments + to, behind * sizeof *s->segments);
	int status = stays ? pd_store_open_segment(s, from, &fresh, e) : PD_OK;
	if (stays)
		s->segments[from] = fresh;
	return status;
}

/* The list of what is gone, without numbers of first .. last that `done` names; ends up in a file of its own. */
static int shorten_gone(struct pd_store *s, const uint64_t *all, size_t n, uint64_t first, uint64_t last, const uint64_t *done,
			size_t n_done, struct pd_err *e)
{
	uint64_t *stay = pd_alloc((n + 1) * sizeof *stay);
	size_t n_stay = 0, d = 0;
	for (size_t i = 0; i < n; i++) {
		while (d < n_done && done[d] < all[i])
			d++;
		bool left = all[i] >= first && all[i] <= last && d < n_done && done[d] == all[i];
		if (!left)
			stay[n_stay++] = all[i];
	}
	uint64_t file = n_stay ? s->m.next_file++ : 0;
	int status = n_stay ? pd_gone_write(&s->io, file, stay, n_stay, e) : PD_OK;
	struct pd_gone fresh = { 0 };
	if (!status)
		status = pd_store_open_gone(s, file, &fresh, e);
	if (!status) {
		pd_gone_release(&s->gone);
		s->gone = fresh;
		s->m.gone = file;
	}
	free(stay);
	return status;
}

static int merge_install(struct pd_store *s, struct pd_store_merge *m, struct pd_err *e)
{
	struct change c = { .old_gone = s->m.gone, .n_old = m->to - m->from };
	size_t n;
	uint64_t *all = pd_gone_all(&s->gone, &n);
	c.old_segments = pd_alloc(c.n_old * sizeof *c.old_segments);
	for (size_t i = 0; i < c.n_old; i++)
		c.old_segments[i] = s->m.segments[m->from + i].file;
	int status = shorten_gone(s, all, n, m->first, m->last, m->gone, m->job.n_gone, e);
	if (!status)
		status = replace_segments(s, m->from, m->to, m->result, e);
	if (!status)
		status = install(s, &c, e);
	free(c.old_segments);
	free(all);
	return status;
}

static int merge_end(struct pd_store *s, struct pd_err *e)
{
	struct pd_store_merge *m = s->merge;
	pd_task_join(m->task);
	m->task = NULL;
	int status = m->status;
	if (status && e)
		*e = m->err;
	if (!status)
		status = merge_install(s, m, e);
	s->merge = NULL;
	merge_free(m);
	return status;
}

static int class_of(uint64_t rows)
{
	int c = 0;
	for (; rows >= FANOUT; rows /= FANOUT)
		c++;
	return c;
}

/* Where the segments begin that are to be merged, up to the youngest; n_segments: none are.  A small segment counts with
 * the largest that is younger: it will be merged with it. */
static size_t merge_class(const struct pd_manifest *m)
{
	size_t best = m->n_segments, n = 0;
	int most = -1;
	for (size_t i = m->n_segments; i-- > 0;) {
		int c = class_of(m->segments[i].rows);
		if (c > most)
			n = 0;
		most = c > most ? c : most;
		if (++n >= FANOUT && (i == 0 || class_of(m->segments[i - 1].rows) > most))
			best = i;
	}
	return best;
}

/* At the end of a run there is time for more: a segment that is not over TWICE as large as all younger ones together goes
 * with them.  Every segment that is left is asked for every question; merging costs half a microsecond a page. */
static size_t merge_small(const struct pd_manifest *m)
{
	size_t best = m->n_segments;
	uint64_t younger = 0;
	for (size_t i = m->n_segments; i-- > 0;) {
		if (m->segments[i].rows <= TWICE * younger)
			best = i;
		younger += m->segments[i].rows;
	}
	return best;
}

static size_t merge_from(const struct pd_manifest *m, bool closing)
{
	size_t a = merge_class(m), b = closing ? merge_small(m) : m->n_segments;
	return a < b ? a : b;
}

static int flush(struct pd_store *s, struct pd_err *e)
{
	struct pd_segment_part part;
	struct pd_manifest_segment made;
	struct change c = { .old_log = s->m.log, .old_gone = s->m.gone };
	size_t n;
	uint64_t *all = pd_gone_all(&s->gone, &n);
	struct pd_segment_job job = { .io = &s->io, .file = s->m.next_file++, .bits = s->m.bits, .k = s->m.k, .n_parts = 1,
				      .parts = &part, .gone = all, .n_gone = n };
	pd_part_of_recent(&part, &s->recent, pd_sketch_words(&s->sketch));
	int status = pd_segment_write(&job, &made, e);
	pd_part_release(&part);
	uint64_t first = s->recent.n ? s->recent.numbers[0] : UINT64_MAX;
	if (!status)
		status = shorten_gone(s, all, n, first, UINT64_MAX, all, n, e);
	free(all);
	s->m.log = s->m.next_file++;
	if (!status)
		status = pd_store_write_log(s, s->m.log, e);
	if (!status)
		s->log_synced = s->log.size;
	if (!status && made.rows)
		status = replace_segments(s, s->m.n_segments, s->m.n_segments, made, e);
	pd_recent_release(&s->recent);
	pd_recent_init(&s->recent, s->m.bits, s->m.k);
	return status ? status : install(s, &c, e);
}

/* A log that is long takes its time whenever the store is opened. */
static bool log_is_long(const struct pd_store *s, bool closing)
{
	size_t most = s->limits.recent ? s->limits.recent : PD_RECENT_MAX, left = s->limits.left ? s->limits.left : PD_RECENT_LEFT;
	return s->recent.n > (closing ? left : most) || s->log.size > PD_RECENT_BYTES;
}

int pd_store_tend(struct pd_store *s, bool closing, struct pd_err *e)
{
	int status = log_is_long(s, closing) ? flush(s, e) : PD_OK;
	bool wait = closing || s->m.n_segments > BEHIND;
	while (!status) {
		size_t from = merge_from(&s->m, closing);
		if (s->merge && !wait && !pd_task_done(s->merge->task))
			break;
		if (s->merge)
			status = merge_end(s, e);
		else if (from < s->m.n_segments)
			status = merge_begin(s, from, s->m.n_segments, true, e);
		else
			break;
	}
	return status;
}

int pd_store_compact(struct pd_store *s, struct pd_err *e)
{
	int status = s->merge ? merge_end(s, e) : PD_OK;
	if (!status && (s->recent.n || s->log.size > PD_LOG_HEAD))
		status = flush(s, e);
	if (status || (s->m.n_segments < 2 && !s->m.gone))
		return status;
	if (s->m.n_segments)
		status = merge_begin(s, 0, s->m.n_segments, false, e);
	return status || !s->merge ? status : merge_end(s, e);
}
