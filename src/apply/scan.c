/* SPDX-License-Identifier: MIT */
#include "apply/scan.h"

#include <stdlib.h>

/* Of a dump only headers matter; block bytes are passed over. */
enum { HEAD = 1 };

void pd_apply_scan_init(struct pd_apply_scan *s, const struct pd_apply_scan_options *o)
{
	struct pd_reader_options r = { .max_block = o->max_block, .fields = o->fields };
	*s = (struct pd_apply_scan){ .o = *o, .sink = { .damage = o->damage, .ctx = o->ctx } };
	pd_source_init(&s->source, &r, &s->sink);
	s->source.max_block = HEAD;
	s->source.keep_headers = !o->keep_others || o->revisits;
}

void pd_apply_scan_release(struct pd_apply_scan *s)
{
	pd_source_release(&s->source);
	pd_record_release(&s->record);
	pd_apply_associated_release(&s->associated);
	free(s->cuts);
}

static void add_cut(struct pd_apply_scan *s, const struct pd_extent *x)
{
	s->cuts = pd_grow(s->cuts, s->n_cuts, &s->cap_cuts, sizeof *s->cuts);
	s->cuts[s->n_cuts++] = *x;
}

static void add_other(void *ctx, const struct pd_extent *x)
{
	struct pd_apply_scan *s = ctx;
	s->along++;
	add_cut(s, x);
}

static bool ask(struct pd_apply_scan *s)
{
	const struct pd_record *r = &s->record;
	struct pd_apply_removal drop = pd_apply_removals_take(s->o.removals, pd_buf_span(&r->id), pd_buf_span(&r->url));
	if (drop.other_url && s->o.other_url)
		s->o.other_url(s->o.ctx, pd_buf_z(&r->id));
	s->pages += drop.found;
	if (drop.found && s->o.page)
		s->o.page(s->o.ctx, r, drop.dup_of);
	return drop.found;
}

/* Does the record given last go? */
static bool decide(struct pd_apply_scan *s, const struct pd_extent *x)
{
	bool page = s->record.kind != PD_RECORD_OTHER || s->source.kind != PD_SOURCE_DUMP;
	bool asked = page && ask(s);
	if (s->source.kind != PD_SOURCE_DUMP || !s->source.keep_headers)
		return asked;
	if (page) {
		pd_apply_associated_page(&s->associated, &s->record, asked);
		return asked;
	}
	bool along = pd_apply_associated_other(&s->associated, &s->record, x);
	s->along += along;
	return along;
}

/* Where a cut begins in the input. */
static uint64_t where(const struct pd_extent *x)
{
	return x->stream ? x->member : x->begin;
}

static int by_place(const void *a, const void *b)
{
	const struct pd_extent *x = a, *y = b;
	if (where(x) != where(y))
		return where(x) < where(y) ? -1 : 1;
	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* Neighbours become one. */
static void join_cuts(struct pd_apply_scan *s)
{
	size_t n = 0;
	if (s->n_cuts)
		qsort(s->cuts, s->n_cuts, sizeof *s->cuts, by_place);
	for (size_t i = 0; i < s->n_cuts; i++) {
		struct pd_extent *before = n ? &s->cuts[n - 1] : NULL;
		if (!before || before->stream != s->cuts[i].stream || before->end != s->cuts[i].begin) {
			s->cuts[n++] = s->cuts[i];
			continue;
		}
		before->end = s->cuts[i].end;
		before->last = s->cuts[i].last;
	}
	s->n_cuts = n;
}

static int walk(struct pd_apply_scan *s)
{
	bool tar = s->source.kind == PD_SOURCE_TAR, open_cut = false;
	int r;
	while ((r = pd_source_next(&s->source, &s->record)) == 1 || open_cut) {
		if (open_cut)
			s->cuts[s->n_cuts - 1].end = pd_source_end(&s->source);
		open_cut = false;
		if (r != 1)
			break;
		struct pd_extent x;
		pd_source_extent(&s->source, &x);
		s->records++;
		if (!decide(s, &x))
			continue;
		s->whole |= s->source.kind == PD_SOURCE_PAGE;
		add_cut(s, &x);
		open_cut = tar;
	}
	return r;
}

static int open_input(struct pd_apply_scan *s, const char *path, const char *name, struct pd_err *e)
{
	s->n_cuts = 0;
	s->whole = false;
	s->pages = s->along = s->records = 0;
	s->associated.cut = add_other;
	s->associated.ctx = s;
	s->associated.keep = s->o.keep_others;
	s->associated.revisits = s->o.revisits;
	pd_apply_associated_clear(&s->associated);
	return pd_source_open(&s->source, path, name) < 0 ? pd_fail_errno(e, "%s: cannot open", name) : PD_OK;
}

int pd_apply_scan_input(struct pd_apply_scan *s, const char *path, const char *name, struct pd_err *e)
{
	int status = open_input(s, path, name, e);
	if (status)
		return status;
	status = walk(s);
	if (status < 0)
		status = pd_fail_errno(e, "%s: cannot read", name);
	pd_source_close(&s->source);
	if (s->whole)
		s->n_cuts = 0;
	join_cuts(s);
	return status;
}

int pd_apply_scan_revisits(struct pd_apply_scan *s, const char *path, const char *name, struct pd_err *e)
{
	struct pd_sink told = s->sink;
	int status = open_input(s, path, name, e);
	if (status)
		return status;
	s->sink.damage = NULL;		/* it is passed on as it is */
	if (s->source.kind == PD_SOURCE_DUMP || s->source.in.error)
		status = walk(s);
	if (status < 0)
		status = pd_fail_errno(e, "%s: cannot read", name);
	pd_source_close(&s->source);
	s->sink = told;
	s->n_cuts = 0;
	return status;
}
