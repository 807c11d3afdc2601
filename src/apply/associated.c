/* SPDX-License-Identifier: MIT */
#include "apply/associated.h"

#include <stdlib.h>

#include "base/file.h"

/* ==== kept revisits of removed records ==== */

/* A revisit in the temporary file: this, and the id. */
struct orphan {
	uint64_t original;
	uint64_t n;
};

static void note_revisit(struct pd_apply_orphans *r, uint64_t original, struct pd_span id)
{
	struct orphan s = { original, id.n };
	if (!original || r->err.status)
		return;
	if (!r->revisits)
		r->revisits = pd_tempfile_open(r->tmp_dir, &r->err);
	if (r->revisits && (fwrite(&s, sizeof s, 1, r->revisits) != 1 || fwrite(id.p, 1, id.n, r->revisits) != id.n))
		pd_fail_errno(&r->err, "cannot write a temporary file");
}

int pd_apply_orphans_end(struct pd_apply_orphans *r, void (*orphan)(void *ctx, const char *id), void *ctx, struct pd_err *e)
{
	pd_local_buf id = { 0 };
	struct orphan s;
	if (r->err.status) {
		*e = r->err;
		return e->status;
	}
	if (!r->revisits || !r->removed.n)
		return PD_OK;
	if (fflush(r->revisits) || fseeko(r->revisits, 0, SEEK_SET) < 0)
		return pd_fail_errno(e, "cannot write a temporary file");
	bool ok = true;
	while (ok && fread(&s, sizeof s, 1, r->revisits) == 1) {
		pd_buf_clear(&id);
		ok = fread(pd_buf_reserve(&id, s.n), 1, s.n, r->revisits) == s.n;
		id.p[s.n] = 0;
		if (ok && pd_map_has(&r->removed, s.original))
			orphan(ctx, id.p);
	}
	return ok && !ferror(r->revisits) ? PD_OK : pd_fail_errno(e, "cannot read a temporary file");
}

void pd_apply_orphans_release(struct pd_apply_orphans *r)
{
	pd_map_release(&r->removed);
	if (r->revisits)
		fclose(r->revisits);
}

/* ==== records removed with a page ==== */

/* The references of a header to other records; views into it. */
struct references {
	struct pd_span type, own, refers_url, refers_date;
	uint64_t names[PD_APPLY_ASSOCIATED_NAMES];
	int n_names;
	uint64_t refers_to;
};

static void add_reference(struct references *t, uint64_t id)
{
	if (id && t->n_names < PD_APPLY_ASSOCIATED_NAMES)
		t->names[t->n_names] = id;
	t->n_names += id != 0;
}

static void read_references(struct pd_span header, struct references *t)
{
	struct pd_span name, value;
	*t = (struct references){ 0 };
	while (pd_read_warc_field(&header, &name, &value)) {
		if (pd_span_ieq(name, "WARC-Type"))
			t->type = pd_span_trim(value);
		else if (pd_span_ieq(name, "WARC-Record-ID"))
			t->own = value;
		else if (pd_span_ieq(name, "WARC-Concurrent-To"))
			add_reference(t, pd_apply_hash_id(value));
		else if (pd_span_ieq(name, "WARC-Refers-To"))
			t->refers_to = pd_apply_hash_id(value);
		else if (pd_span_ieq(name, "WARC-Refers-To-Target-URI"))
			t->refers_url = value;
		else if (pd_span_ieq(name, "WARC-Refers-To-Date"))
			t->refers_date = value;
	}
}

static bool is_removed(const struct pd_apply_associated *o, uint64_t id)
{
	return id && pd_map_has(&o->ids, id);
}

static void add_other(struct pd_apply_associated *o, uint64_t own, const uint64_t *causes, int n, bool named)
{
	o->others = pd_grow(o->others, o->n_others, &o->cap_others, sizeof *o->others);
	struct pd_apply_other *other = &o->others[o->n_others++];
	*other = (struct pd_apply_other){ .own = own, .n_causes = n, .named = named };
	for (int i = 0; i < n; i++)
		other->cause[i] = causes[i];
}

/* Add a record of the ring to `others`: a removed record names its id, or it names only removed records, or it is next
 * to one. */
static void add_neighbour(struct pd_apply_associated *o, const struct pd_apply_neighbour *n)
{
	bool all = n->n_names && n->n_removed == n->n_names;
	if (all)
		add_other(o, n->own, n->names, n->n_names, false);
	else if (is_removed(o, n->own))
		add_other(o, n->own, &n->own, 1, true);
	else
		add_other(o, n->own, &o->page_cause, o->page_cause != 0, false);
}

static void remove_neighbour(struct pd_apply_associated *o, struct pd_apply_neighbour *n)
{
	if (o->keep)
		return;
	n->removed = true;
	add_neighbour(o, n);
	o->cut(o->ctx, &n->extent);
}

bool pd_apply_associated_keep_doubtful(struct pd_apply_associated *o)
{
	bool any = false;
	for (bool more = true; more;) {
		more = false;
		for (size_t i = 0; i < o->n_others; i++) {
			struct pd_apply_other *other = &o->others[i];
			bool cause_kept = false;
			for (int k = 0; k < other->n_causes && !cause_kept; k++)
				cause_kept = pd_map_has(other->named ? &o->named : &o->remaining, other->cause[k]);
			if (other->kept || !cause_kept)
				continue;
			other->kept = any = true;
			more |= other->own && pd_map_add(&o->remaining, other->own);
		}
	}
	return any;
}

/* Return the number of the first record that is still in the ring. */
static uint64_t ring_begin(const struct pd_apply_associated *o)
{
	return o->n > PD_APPLY_ASSOCIATED_BACK ? o->n - PD_APPLY_ASSOCIATED_BACK : 0;
}

/* A record id is removed: earlier records that name it, or have it, may be removed too. */
static void add_removed_id(struct pd_apply_associated *o, uint64_t id)
{
	if (id && o->orphans)
		pd_map_add(&o->orphans->removed, id);
	if (!id || !pd_map_add(&o->ids, id))
		return;
	for (uint64_t i = ring_begin(o); i < o->n; i++) {
		struct pd_apply_neighbour *n = &o->ring[i % PD_APPLY_ASSOCIATED_BACK];
		for (int k = 0; k < n->n_names && k < PD_APPLY_ASSOCIATED_NAMES; k++)
			n->n_removed += n->names[k] == id;
		bool all = n->n_names && n->n_removed == n->n_names;
		if (!n->removed && (all || n->own == id))
			remove_neighbour(o, n);
	}
}

void pd_apply_associated_clear(struct pd_apply_associated *o)
{
	pd_map_clear(&o->ids, 0);
	pd_map_clear(&o->remaining, 0);
	pd_map_clear(&o->named, 0);
	o->n_others = 0;
	o->page_cause = 0;
	o->n = o->after_page = 0;
	o->page_removed = false;
	o->page_url = 0;
}

void pd_apply_associated_release(struct pd_apply_associated *o)
{
	pd_map_release(&o->ids);
	pd_map_release(&o->remaining);
	pd_map_release(&o->named);
	free(o->others);
}

/* Record whether a page or revisit is removed.  The records that it names are then removed or kept with it, and so are
 * the preceding records of its URL that name none. */
static void note_capture(struct pd_apply_associated *o, const struct pd_record *r, const struct references *t, bool removed)
{
	uint64_t own = pd_apply_hash_id(t->own);
	uint64_t capture = pd_apply_hash_capture(pd_buf_span(&r->url), pd_buf_span(&r->fetch_time));
	o->page_removed = removed;
	o->page_url = pd_apply_hash_id(pd_buf_span(&r->url));
	if (removed) {
		add_removed_id(o, own);
		add_removed_id(o, capture);
		for (int i = 0; i < t->n_names && i < PD_APPLY_ASSOCIATED_NAMES; i++)
			add_removed_id(o, t->names[i]);
		/* Add the preceding records that have its URL and do not name records. */
		uint64_t from = ring_begin(o);
		for (uint64_t i = o->after_page > from ? o->after_page : from; o->page_url && i < o->n; i++) {
			struct pd_apply_neighbour *n = &o->ring[i % PD_APPLY_ASSOCIATED_BACK];
			if (!n->removed && !n->n_names && n->url == o->page_url)
				remove_neighbour(o, n);
		}
	} else if (!o->keep) {
		if (own)
			pd_map_add(&o->remaining, own);
		if (capture)
			pd_map_add(&o->remaining, capture);
		for (int i = 0; i < t->n_names && i < PD_APPLY_ASSOCIATED_NAMES; i++)
			pd_map_add(&o->named, t->names[i]);
	}
	o->after_page = o->n;
}

void pd_apply_associated_page(struct pd_apply_associated *o, const struct pd_record *r, bool page_removed)
{
	struct references t = { 0 };
	if (page_removed || !o->keep)
		read_references(pd_buf_span(&r->header), &t);
	o->page_cause = 0;
	note_capture(o, r, &t, page_removed);
}

bool pd_apply_associated_other(struct pd_apply_associated *o, const struct pd_record *r, const struct pd_read_extent *extent)
{
	struct references t;
	o->refers_to = 0;
	read_references(pd_buf_span(&r->header), &t);
	if (pd_span_ieq(t.type, "revisit")) {
		uint64_t original = t.refers_to ? t.refers_to : pd_apply_hash_capture(t.refers_url, t.refers_date);
		bool removed = !o->keep && is_removed(o, original);
		if (o->kept && pd_apply_kept_removed(o->kept, original)) {
			o->refers_to = original;
			removed = true;
		}
		if (!removed && o->orphans)
			note_revisit(o->orphans, original, pd_buf_span(&r->id));
		o->page_cause = pd_apply_hash_id(t.own);
		if (removed && !o->refers_to)
			add_other(o, o->page_cause, &original, 1, false);
		size_t number = o->n_others;
		note_capture(o, r, &t, removed);
		o->last = number;
		return removed;
	}
	if (!pd_span_ieq(t.type, "request") && !pd_span_ieq(t.type, "metadata"))
		return false;
	add_reference(&t, t.refers_to);
	struct pd_apply_neighbour n = { .extent = *extent,
					.own = pd_apply_hash_id(t.own),
					.n_names = t.n_names,
					.url = pd_apply_hash_id(pd_buf_span(&r->url)) };
	memcpy(n.names, t.names, sizeof t.names);
	for (int i = 0; i < t.n_names && i < PD_APPLY_ASSOCIATED_NAMES; i++)
		n.n_removed += is_removed(o, t.names[i]);
	bool named = is_removed(o, n.own) || (n.n_names && n.n_removed == n.n_names);
	bool next_to_removed = !n.n_names && o->page_removed && n.url && n.url == o->page_url;
	if (!o->keep && (named || next_to_removed)) {
		add_neighbour(o, &n);
		o->last = o->n_others;
		return true;
	}
	o->ring[o->n++ % PD_APPLY_ASSOCIATED_BACK] = n;
	return false;
}
