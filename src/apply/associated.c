/* SPDX-License-Identifier: MIT */
#include "apply/associated.h"

#include "base/hash.h"
#include "read/warc.h"

/* What a header says of other records; views into it. */
struct ties {
	struct pd_span type, own, refers_url, refers_date;
	uint64_t names[PD_APPLY_ASSOCIATED_NAMES];
	int n_names;
	uint64_t refers_to;
};

static uint64_t hash(struct pd_span s)
{
	s = pd_span_trim(s);
	return s.n ? pd_hash64(s.p, s.n) | 1 : 0;
}

/* A capture by its URL and time: what a revisit may refer to without an id. */
static uint64_t hash_capture(struct pd_span url, struct pd_span date)
{
	url = pd_span_trim(url);
	return url.n && date.n ? pd_hash64_seed(url.p, url.n, hash(date)) | 1 : 0;
}

static void add_name(struct ties *t, uint64_t id)
{
	if (id && t->n_names < PD_APPLY_ASSOCIATED_NAMES)
		t->names[t->n_names] = id;
	t->n_names += id != 0;
}

static void read_ties(struct pd_span header, struct ties *t)
{
	struct pd_span name, value;
	*t = (struct ties){ 0 };
	while (pd_warc_field(&header, &name, &value)) {
		if (pd_span_ieq(name, "WARC-Type"))
			t->type = pd_span_trim(value);
		else if (pd_span_ieq(name, "WARC-Record-ID"))
			t->own = value;
		else if (pd_span_ieq(name, "WARC-Concurrent-To"))
			add_name(t, hash(value));
		else if (pd_span_ieq(name, "WARC-Refers-To"))
			t->refers_to = hash(value);
		else if (pd_span_ieq(name, "WARC-Refers-To-Target-URI"))
			t->refers_url = value;
		else if (pd_span_ieq(name, "WARC-Refers-To-Date"))
			t->refers_date = value;
	}
}

/* --- ids of what goes --- */

static bool goes(const struct pd_apply_associated *o, uint64_t id)
{
	return id && pd_map_has(&o->ids, id);
}

static void take_along(struct pd_apply_associated *o, struct pd_apply_neighbour *other)
{
	if (o->keep)
		return;
	other->gone = true;
	o->cut(o->ctx, &other->extent);
}

/* An id goes: what names it, or is it, may go along. */
static void look_back(struct pd_apply_associated *o, uint64_t id)
{
	uint64_t from = o->n > PD_APPLY_ASSOCIATED_BACK ? o->n - PD_APPLY_ASSOCIATED_BACK : 0;
	for (uint64_t i = from; i < o->n; i++) {
		struct pd_apply_neighbour *other = &o->ring[i % PD_APPLY_ASSOCIATED_BACK];
		for (int k = 0; k < other->n_names && k < PD_APPLY_ASSOCIATED_NAMES; k++)
			other->n_gone += other->names[k] == id;
		bool all = other->n_names && other->n_gone == other->n_names;
		if (!other->gone && (all || other->own == id))
			take_along(o, other);
	}
}

static void add_id(struct pd_apply_associated *o, uint64_t id)
{
	if (id && o->revisits)
		pd_apply_revisits_removed(o->revisits, id);
	if (id && pd_map_add(&o->ids, id))
		look_back(o, id);
}

/* --- records --- */

void pd_apply_associated_clear(struct pd_apply_associated *o)
{
	pd_map_clear(&o->ids, 0);
	o->n = o->beside = 0;
	o->page_gone = false;
	o->page_url = 0;
}

void pd_apply_associated_release(struct pd_apply_associated *o)
{
	pd_map_release(&o->ids);
}

/* Those before it that name nothing and have its URL. */
static void take_beside(struct pd_apply_associated *o)
{
	uint64_t from = o->n > PD_APPLY_ASSOCIATED_BACK ? o->n - PD_APPLY_ASSOCIATED_BACK : 0;
	for (uint64_t i = o->beside > from ? o->beside : from; i < o->n; i++) {
		struct pd_apply_neighbour *other = &o->ring[i % PD_APPLY_ASSOCIATED_BACK];
		if (!other->gone && !other->n_names && other->url == o->page_url)
			take_along(o, other);
	}
}

static void note_page(struct pd_apply_associated *o, const struct pd_record *r, const struct ties *t, bool page_goes)
{
	o->page_gone = page_goes;
	o->page_url = hash(pd_buf_span(&r->url));
	if (page_goes) {
		add_id(o, hash(t->own));
		add_id(o, hash_capture(pd_buf_span(&r->url), pd_buf_span(&r->fetch_time)));
		for (int i = 0; i < t->n_names && i < PD_APPLY_ASSOCIATED_NAMES; i++)
			add_id(o, t->names[i]);
		if (o->page_url)
			take_beside(o);
	}
	o->beside = o->n;
}

void pd_apply_associated_page(struct pd_apply_associated *o, const struct pd_record *r, bool page_goes)
{
	struct ties t = { 0 };
	if (page_goes)
		read_ties(pd_buf_span(&r->header), &t);
	note_page(o, r, &t, page_goes);
}

static bool revisit(struct pd_apply_associated *o, const struct pd_record *r, const struct ties *t)
{
	uint64_t original = t->refers_to ? t->refers_to : hash_capture(t->refers_url, t->refers_date);
	bool along = !o->keep && goes(o, original);
	if (!along && o->revisits)
		pd_apply_revisits_stays(o->revisits, original, pd_buf_span(&r->id));
	note_page(o, r, t, along);
	return along;
}

static bool goes_along(const struct pd_apply_associated *o, const struct pd_apply_neighbour *other)
{
	if (goes(o, other->own) || (other->n_names && other->n_gone == other->n_names))
		return true;
	return !other->n_names && o->page_gone && other->url && other->url == o->page_url;
}

bool pd_apply_associated_other(struct pd_apply_associated *o, const struct pd_record *r, const struct pd_extent *extent)
{
	struct ties t;
	read_ties(pd_buf_span(&r->header), &t);
	if (pd_span_ieq(t.type, "revisit"))
		return revisit(o, r, &t);
	if (!pd_span_ieq(t.type, "request") && !pd_span_ieq(t.type, "metadata"))
		return false;
	add_name(&t, t.refers_to);
	struct pd_apply_neighbour other = { .extent = *extent, .own = hash(t.own), .n_names = t.n_names,
				  .url = hash(pd_buf_span(&r->url)) };
	memcpy(other.names, t.names, sizeof t.names);
	for (int i = 0; i < t.n_names && i < PD_APPLY_ASSOCIATED_NAMES; i++)
		other.n_gone += goes(o, t.names[i]);
	if (!o->keep && goes_along(o, &other))
		return true;
	o->ring[o->n++ % PD_APPLY_ASSOCIATED_BACK] = other;
	return false;
}
