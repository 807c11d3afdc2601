/* SPDX-License-Identifier: MIT */
#include "apply/others.h"

#include <stdlib.h>

#include "base/hash.h"
#include "read/warc.h"

enum { FIRST_IDS = 1 << 8 };

/* What a header says of other records; views into it. */
struct ties {
	struct pd_span type, own, refers_url, refers_date;
	uint64_t names[PD_OTHERS_NAMES];
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
	if (id && t->n_names < PD_OTHERS_NAMES)
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

static size_t slot_of(const struct pd_others *o, uint64_t id)
{
	size_t i = id & (o->cap_ids - 1);
	while (o->ids[i] && o->ids[i] != id)
		i = (i + 1) & (o->cap_ids - 1);
	return i;
}

static void grow_ids(struct pd_others *o)
{
	uint64_t *old = o->ids;
	size_t cap = o->cap_ids;
	if (2 * (o->n_ids + 1) <= cap)
		return;
	o->cap_ids = cap ? 2 * cap : FIRST_IDS;
	o->ids = pd_zalloc(o->cap_ids * sizeof *o->ids);
	for (size_t i = 0; i < cap; i++)
		if (old[i])
			o->ids[slot_of(o, old[i])] = old[i];
	free(old);
}

static bool goes(const struct pd_others *o, uint64_t id)
{
	return id && o->cap_ids && o->ids[slot_of(o, id)];
}

static void take_along(struct pd_others *o, struct pd_other *other)
{
	other->gone = true;
	o->cut(o->ctx, &other->extent);
}

/* An id goes: what names it, or is it, may go along. */
static void look_back(struct pd_others *o, uint64_t id)
{
	uint64_t from = o->n > PD_OTHERS_BACK ? o->n - PD_OTHERS_BACK : 0;
	for (uint64_t i = from; i < o->n; i++) {
		struct pd_other *other = &o->ring[i % PD_OTHERS_BACK];
		for (int k = 0; k < other->n_names && k < PD_OTHERS_NAMES; k++)
			other->n_gone += other->names[k] == id;
		bool all = other->n_names && other->n_gone == other->n_names;
		if (!other->gone && (all || other->own == id))
			take_along(o, other);
	}
}

static void add_id(struct pd_others *o, uint64_t id)
{
	if (!id || goes(o, id))
		return;
	grow_ids(o);
	o->ids[slot_of(o, id)] = id;
	o->n_ids++;
	look_back(o, id);
}

/* --- records --- */

void pd_others_clear(struct pd_others *o)
{
	if (o->cap_ids)
		memset(o->ids, 0, o->cap_ids * sizeof *o->ids);
	o->n_ids = 0;
	o->n = o->beside = 0;
	o->page_gone = false;
	o->page_url = 0;
}

void pd_others_release(struct pd_others *o)
{
	free(o->ids);
}

/* Those before it that name nothing and have its URL. */
static void take_beside(struct pd_others *o)
{
	uint64_t from = o->n > PD_OTHERS_BACK ? o->n - PD_OTHERS_BACK : 0;
	for (uint64_t i = o->beside > from ? o->beside : from; i < o->n; i++) {
		struct pd_other *other = &o->ring[i % PD_OTHERS_BACK];
		if (!other->gone && !other->n_names && other->url == o->page_url)
			take_along(o, other);
	}
}

static void note_page(struct pd_others *o, const struct pd_record *r, const struct ties *t, bool page_goes)
{
	o->page_gone = page_goes;
	o->page_url = hash(pd_buf_span(&r->url));
	if (page_goes) {
		add_id(o, hash(t->own));
		add_id(o, hash_capture(pd_buf_span(&r->url), pd_buf_span(&r->fetch_time)));
		for (int i = 0; i < t->n_names && i < PD_OTHERS_NAMES; i++)
			add_id(o, t->names[i]);
		if (o->page_url)
			take_beside(o);
	}
	o->beside = o->n;
}

void pd_others_page(struct pd_others *o, const struct pd_record *r, bool page_goes)
{
	struct ties t = { 0 };
	if (page_goes)
		read_ties(pd_buf_span(&r->header), &t);
	note_page(o, r, &t, page_goes);
}

static bool revisit(struct pd_others *o, const struct pd_record *r, const struct ties *t)
{
	uint64_t original = t->refers_to ? t->refers_to : hash_capture(t->refers_url, t->refers_date);
	bool along = goes(o, original);
	note_page(o, r, t, along);
	return along;
}

static bool goes_along(const struct pd_others *o, const struct pd_other *other)
{
	if (goes(o, other->own) || (other->n_names && other->n_gone == other->n_names))
		return true;
	return !other->n_names && o->page_gone && other->url && other->url == o->page_url;
}

bool pd_others_other(struct pd_others *o, const struct pd_record *r, const struct pd_extent *extent)
{
	struct ties t;
	read_ties(pd_buf_span(&r->header), &t);
	if (pd_span_ieq(t.type, "revisit"))
		return revisit(o, r, &t);
	if (!pd_span_ieq(t.type, "request") && !pd_span_ieq(t.type, "metadata"))
		return false;
	add_name(&t, t.refers_to);
	struct pd_other other = { .extent = *extent, .own = hash(t.own), .n_names = t.n_names,
				  .url = hash(pd_buf_span(&r->url)) };
	memcpy(other.names, t.names, sizeof t.names);
	for (int i = 0; i < t.n_names && i < PD_OTHERS_NAMES; i++)
		other.n_gone += goes(o, t.names[i]);
	if (goes_along(o, &other))
		return true;
	o->ring[o->n++ % PD_OTHERS_BACK] = other;
	return false;
}
