/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>

#include "base/columns.h"
#include "base/hash.h"
#include "base/page_id.h"
#include "base/params.h"
#include "base/tsv.h"
#include "apply/drops_table.h"

enum { FIRST_TABLE = 1 << 8 };

static struct pd_span base_of(struct pd_span path)
{
	const char *slash = path.n ? memrchr(path.p, '/', path.n) : NULL;
	return slash ? pd_span(slash + 1, (size_t)(path.p + path.n - slash) - 1) : path;
}

static struct pd_span key_of(const struct pd_drops *d, const struct drop_table *t, uint32_t file)
{
	struct pd_span name = d->files[file].name;
	return t == &d->by_base ? base_of(name) : name;
}

/* Where `key` stands, or should. */
static uint32_t *slot_of(const struct pd_drops *d, const struct drop_table *t, struct pd_span key)
{
	size_t i = pd_hash64(key.p, key.n) & (t->cap - 1);
	while (t->v[i] && !pd_span_eq(key_of(d, t, t->v[i] - 1), key))
		i = (i + 1) & (t->cap - 1);
	return &t->v[i];
}

static void grow_table(const struct pd_drops *d, struct drop_table *t)
{
	struct drop_table old = *t;
	if (2 * (t->n + 1) <= t->cap)
		return;
	t->cap = old.cap ? 2 * old.cap : FIRST_TABLE;
	t->v = pd_zalloc(t->cap * sizeof *t->v);
	for (size_t i = 0; i < old.cap; i++)
		if (old.v[i])
			*slot_of(d, t, key_of(d, t, old.v[i] - 1)) = old.v[i];
	free(old.v);
}

uint32_t pd_drops_file(const struct pd_drops *d, struct pd_span name)
{
	return d->by_name.cap ? *slot_of(d, &d->by_name, name) - 1 : PD_NO_FILE;
}

static uint32_t add_file(struct pd_drops *d, struct pd_span name)
{
	grow_table(d, &d->by_name);
	uint32_t *slot = slot_of(d, &d->by_name, name);
	if (*slot)
		return *slot - 1;
	d->files = pd_grow(d->files, d->n_files, &d->cap_files, sizeof *d->files);
	d->files[d->n_files] = (struct drop_file){ .name = pd_arena_copy(&d->arena, name), .base_next = PD_NO_FILE };
	*slot = (uint32_t)++d->n_files;
	d->by_name.n++;
	return *slot - 1;
}

uint32_t pd_drops_by_base(const struct pd_drops *d, struct pd_span path)
{
	return d->by_base.cap ? *slot_of(d, &d->by_base, base_of(path)) - 1 : PD_NO_FILE;
}

/* A file that holds pages can be known by its base name. */
static uint32_t add_container(struct pd_drops *d, struct pd_span name)
{
	uint32_t file = add_file(d, name);
	if (d->files[file].container)
		return file;
	d->files[file].container = true;
	grow_table(d, &d->by_base);
	uint32_t *slot = slot_of(d, &d->by_base, base_of(name));
	d->by_base.n += !*slot;
	d->files[file].base_next = *slot - 1;
	*slot = file + 1;
	return file;
}

uint32_t pd_drops_url(struct pd_span url)
{
	return url.n ? (uint32_t)pd_hash64(url.p, url.n) | 1 : 0;
}

static void add_at(struct pd_drops *d, const struct pd_page_id *id, uint32_t file, uint32_t url, struct pd_span dup_of, bool keep)
{
	d->at = pd_grow(d->at, d->n_at, &d->cap_at, sizeof *d->at);
	d->at[d->n_at] = (struct drop_at){ (id->stream ? PD_DROP_STREAM : 0) | id->offset, file, url };
	if (keep) {
		d->dup_of = pd_grow(d->dup_of, d->n_at, &d->cap_dup_of, sizeof *d->dup_of);
		d->dup_of[d->n_at] = pd_arena_copy(&d->arena, dup_of);
	}
	d->n_at++;
	d->files[file].any = true;
}

static void add_whole(struct pd_drops *d, struct pd_span id, uint32_t url, struct pd_span dup_of, bool keep)
{
	uint32_t file = add_file(d, id);
	d->n_whole += !d->files[file].whole;
	d->files[file].whole = d->files[file].any = true;
	d->files[file].url = url;
	if (!keep)
		return;
	while (d->cap_whole <= file)
		d->whole_dup_of = pd_grow(d->whole_dup_of, d->cap_whole, &d->cap_whole, sizeof *d->whole_dup_of);
	d->whole_dup_of[file] = pd_arena_copy(&d->arena, dup_of);
}

/* What stands before an exclamation mark may be the name of an archive. */
static void add_archives(struct pd_drops *d, struct pd_span id, bool goes)
{
	for (size_t i = 1; i < id.n; i++) {
		if (id.p[i] != '!')
			continue;
		uint32_t file = add_container(d, pd_span(id.p, i));
		d->files[file].any |= goes;
	}
}

/* One page of the rows. */
static void add_page(struct pd_drops *d, struct pd_span id, struct pd_span url, struct pd_span dup_of, bool goes, bool keep)
{
	struct pd_page_id address = pd_page_id_parse(id);
	add_archives(d, id, goes);
	if (address.has_offset && address.offset < PD_DROP_MET) {
		uint32_t file = add_container(d, address.file);
		if (goes)
			add_at(d, &address, file, pd_drops_url(url), dup_of, keep);
		return;
	}
	if (goes)
		add_whole(d, id, pd_drops_url(url), dup_of, keep);
}

/* --- reading --- */

enum { ID, URL, IS_DUPLICATE, DUP_OF, WEIGHT, COLUMNS };
static const char *const columns[COLUMNS + 1] = { "id", "url", "is_duplicate", "dup_of", "weight", NULL };

struct drop_reader {
	struct pd_drops *d;
	const struct pd_drops_options *o;
	struct pd_tsv_reader in;
	struct pd_buf id, url;
};

/* Rows without their header say by a weight over 0 that a duplicate stays. */
static bool is_demoted(const struct drop_reader *r)
{
	struct pd_span weight = r->in.fields[WEIGHT];
	for (size_t i = 0; i < weight.n; i++)
		if (weight.p[i] >= '1' && weight.p[i] <= '9')
			return true;
	return r->d->demote;
}

static int take_row(struct drop_reader *r, struct pd_err *e)
{
	const struct pd_span *f = r->in.fields;
	bool goes = pd_span_is(f[IS_DUPLICATE], "1");
	if (!goes && !pd_span_is(f[IS_DUPLICATE], "0") && !pd_span_is(f[IS_DUPLICATE], "-"))
		return pd_fail(e, PD_ERR_FORMAT, "%s:%" PRIu64 ": is_duplicate is neither 0 nor 1", r->in.path, r->in.line_no);
	if (pd_tsv_value(f[ID], &r->id) < 0 || !r->id.n || pd_tsv_value(f[URL], &r->url) < 0)
		return pd_fail(e, PD_ERR_FORMAT, "%s:%" PRIu64 ": a row without an id that can be read", r->in.path, r->in.line_no);
	bool demoted = goes && is_demoted(r);
	r->d->demoted += demoted;
	add_page(r->d, pd_buf_span(&r->id), pd_buf_span(&r->url), f[DUP_OF], goes && !demoted, r->o->keep_dup_of);
	return PD_OK;
}

static void take_header(struct drop_reader *r)
{
	r->in.new_header = false;
	if (pd_span_is(pd_param(pd_buf_span(&r->in.header.must), "action"), "demote"))
		r->d->demote = true;
}

static int read_rows(struct drop_reader *r, struct pd_err *e)
{
	int status;
	while ((status = pd_tsv_next(&r->in, e)) != 0) {
		if (status > 0 && r->in.new_header)
			take_header(r);
		if (status > 0)
			status = take_row(r, e);
		if (status == PD_ERR_FORMAT) {
			r->d->bad++;
			r->o->bad_row(r->o->ctx, e->text);
		} else if (status < 0) {
			return status;
		}
	}
	return PD_OK;
}

static int by_place(const void *x, const void *y, void *ctx)
{
	const struct pd_drops *d = ctx;
	uint32_t i = *(const uint32_t *)x, j = *(const uint32_t *)y;
	const struct drop_at *a = &d->at[i], *b = &d->at[j];
	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

static int by_place_alone(const void *x, const void *y)
{
	const struct drop_at *a = x, *b = y;
	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

/* Both arrays into the order of places. */
static void sort_both(struct pd_drops *d)
{
	uint32_t *order = pd_alloc((d->n_at + 1) * sizeof *order);
	struct drop_at *at = pd_alloc((d->n_at + 1) * sizeof *at);
	struct pd_span *dup_of = pd_alloc((d->n_at + 1) * sizeof *dup_of);
	for (size_t i = 0; i < d->n_at; i++)
		order[i] = (uint32_t)i;
	qsort_r(order, d->n_at, sizeof *order, by_place, d);
	for (size_t i = 0; i < d->n_at; i++) {
		at[i] = d->at[order[i]];
		dup_of[i] = d->dup_of[order[i]];
	}
	free(order);
	free(d->at);
	free(d->dup_of);
	d->at = at;
	d->dup_of = dup_of;
}

/* Sorts, leaves out what stands twice, and tells each file where its pages are. */
static void order(struct pd_drops *d)
{
	size_t n = 0;
	if (!d->n_at)
		return;
	if (d->dup_of)
		sort_both(d);
	else
		qsort(d->at, d->n_at, sizeof *d->at, by_place_alone);
	for (size_t i = 0; i < d->n_at; i++) {
		if (n && by_place_alone(&d->at[n - 1], &d->at[i]) == 0)
			continue;
		if (d->dup_of)
			d->dup_of[n] = d->dup_of[i];
		d->at[n++] = d->at[i];
	}
	d->n_at = n;
	for (size_t i = 0; i < n; i++) {
		struct drop_file *f = &d->files[d->at[i].file];
		if (!f->n++)
			f->first = i;
	}
}

int pd_drops_read(struct pd_drops **out, const struct pd_drops_options *o, struct pd_err *e)
{
	struct pd_drops *d = pd_zalloc(sizeof *d);
	struct drop_reader r = { .d = d,
				 .o = o,
				 .in = { .kind = "verdicts",
					 .or_kind = "answers",
					 .columns = columns,
					 .v1_columns = pd_verdicts_columns,
					 .paths = o->paths,
					 .n_paths = o->n_paths } };
	int status = read_rows(&r, e);
	pd_tsv_release(&r.in);
	pd_buf_release(&r.id);
	pd_buf_release(&r.url);
	if (status) {
		pd_drops_free(d);
		return status;
	}
	order(d);
	*out = d;
	return PD_OK;
}

void pd_drops_free(struct pd_drops *d)
{
	if (!d)
		return;
	pd_arena_release(&d->arena);
	free(d->files);
	free(d->by_name.v);
	free(d->by_base.v);
	free(d->at);
	free(d->dup_of);
	free(d->whole_dup_of);
	free(d);
}

bool pd_drops_demote(const struct pd_drops *d)
{
	return d->demote || d->demoted;
}

uint64_t pd_drops_demoted(const struct pd_drops *d)
{
	return d->demoted;
}

uint64_t pd_drops_count(const struct pd_drops *d)
{
	return d->n_at + d->n_whole;
}

uint64_t pd_drops_bad(const struct pd_drops *d)
{
	return d->bad;
}
