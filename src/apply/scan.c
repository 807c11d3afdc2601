/* SPDX-License-Identifier: MIT */
#include "apply/scan.h"

#include <stdlib.h>

#include "base/file.h"
#include "base/hash.h"
#include "read/dump.h"
#include "read/warc.h"

/* --- revisits that stay --- */

/* One in the file: this, and the id. */
struct stays {
	uint64_t original;
	uint64_t n;
};

static void note_removed(struct pd_apply_revisits *r, uint64_t id)
{
	pd_map_add(&r->removed, id);
}

static void note_revisit(struct pd_apply_revisits *r, uint64_t original, struct pd_span id)
{
	struct stays s = { original, id.n };
	if (!original || r->err.status)
		return;
	if (!r->stay)
		r->stay = pd_tempfile_open(r->tmp_dir, &r->err);
	if (r->stay && (fwrite(&s, sizeof s, 1, r->stay) != 1 || fwrite(id.p, 1, id.n, r->stay) != id.n))
		pd_fail_errno(&r->err, "cannot write a temporary file");
}

int pd_apply_revisits_end(struct pd_apply_revisits *r, void (*orphan)(void *ctx, const char *id), void *ctx, struct pd_err *e)
{
	struct pd_buf id = { 0 };
	struct stays s;
	if (r->err.status) {
		*e = r->err;
		return e->status;
	}
	if (!r->stay || !r->removed.n)
		return PD_OK;
	if (fflush(r->stay) || fseeko(r->stay, 0, SEEK_SET) < 0)
		return pd_fail_errno(e, "cannot write a temporary file");
	bool ok = true;
	while (ok && fread(&s, sizeof s, 1, r->stay) == 1) {
		pd_buf_clear(&id);
		ok = fread(pd_buf_reserve(&id, s.n), 1, s.n, r->stay) == s.n;
		id.p[s.n] = 0;
		if (ok && pd_map_has(&r->removed, s.original))
			orphan(ctx, id.p);
	}
	pd_buf_release(&id);
	return ok && !ferror(r->stay) ? PD_OK : pd_fail_errno(e, "cannot read a temporary file");
}

void pd_apply_revisits_release(struct pd_apply_revisits *r)
{
	pd_map_release(&r->removed);
	if (r->stay)
		fclose(r->stay);
}

/* --- records that go along --- */

/* What a header says of other records; views into it. */
struct ties {
	struct pd_span type, own, refers_url, refers_date;
	uint64_t names[PD_APPLY_ASSOCIATED_NAMES];
	int n_names;
	uint64_t refers_to;
};

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
	while (pd_read_warc_field(&header, &name, &value)) {
		if (pd_span_ieq(name, "WARC-Type"))
			t->type = pd_span_trim(value);
		else if (pd_span_ieq(name, "WARC-Record-ID"))
			t->own = value;
		else if (pd_span_ieq(name, "WARC-Concurrent-To"))
			add_name(t, pd_apply_hash_field(value));
		else if (pd_span_ieq(name, "WARC-Refers-To"))
			t->refers_to = pd_apply_hash_field(value);
		else if (pd_span_ieq(name, "WARC-Refers-To-Target-URI"))
			t->refers_url = value;
		else if (pd_span_ieq(name, "WARC-Refers-To-Date"))
			t->refers_date = value;
	}
}

/* --- ids of what goes --- */

static bool is_removed(const struct pd_apply_associated *o, uint64_t id)
{
	return id && pd_map_has(&o->ids, id);
}

static void remove_other(struct pd_apply_associated *o, struct pd_apply_neighbour *other)
{
	if (o->keep)
		return;
	other->removed = true;
	o->cut(o->ctx, &other->extent);
}

/* An id goes: what names it, or is it, may go along. */
static void look_back(struct pd_apply_associated *o, uint64_t id)
{
	uint64_t from = o->n > PD_APPLY_ASSOCIATED_BACK ? o->n - PD_APPLY_ASSOCIATED_BACK : 0;
	for (uint64_t i = from; i < o->n; i++) {
		struct pd_apply_neighbour *other = &o->ring[i % PD_APPLY_ASSOCIATED_BACK];
		for (int k = 0; k < other->n_names && k < PD_APPLY_ASSOCIATED_NAMES; k++)
			other->n_removed += other->names[k] == id;
		bool all = other->n_names && other->n_removed == other->n_names;
		if (!other->removed && (all || other->own == id))
			remove_other(o, other);
	}
}

static void add_id(struct pd_apply_associated *o, uint64_t id)
{
	if (id && o->revisits)
		note_removed(o->revisits, id);
	if (id && pd_map_add(&o->ids, id))
		look_back(o, id);
}

/* --- records --- */

static void clear_associated(struct pd_apply_associated *o)
{
	pd_map_clear(&o->ids, 0);
	o->n = o->beside = 0;
	o->page_removed = false;
	o->page_url = 0;
}

static void release_associated(struct pd_apply_associated *o)
{
	pd_map_release(&o->ids);
}

/* Those before it that name nothing and have its URL. */
static void remove_beside(struct pd_apply_associated *o)
{
	uint64_t from = o->n > PD_APPLY_ASSOCIATED_BACK ? o->n - PD_APPLY_ASSOCIATED_BACK : 0;
	for (uint64_t i = o->beside > from ? o->beside : from; i < o->n; i++) {
		struct pd_apply_neighbour *other = &o->ring[i % PD_APPLY_ASSOCIATED_BACK];
		if (!other->removed && !other->n_names && other->url == o->page_url)
			remove_other(o, other);
	}
}

static void note_capture(struct pd_apply_associated *o, const struct pd_record *r, const struct ties *t, bool page_goes)
{
	o->page_removed = page_goes;
	o->page_url = pd_apply_hash_field(pd_buf_span(&r->url));
	if (page_goes) {
		add_id(o, pd_apply_hash_field(t->own));
		add_id(o, pd_apply_hash_capture(pd_buf_span(&r->url), pd_buf_span(&r->fetch_time)));
		for (int i = 0; i < t->n_names && i < PD_APPLY_ASSOCIATED_NAMES; i++)
			add_id(o, t->names[i]);
		if (o->page_url)
			remove_beside(o);
	}
	o->beside = o->n;
}

static void meet_page(struct pd_apply_associated *o, const struct pd_record *r, bool page_goes)
{
	struct ties t = { 0 };
	if (page_goes)
		read_ties(pd_buf_span(&r->header), &t);
	note_capture(o, r, &t, page_goes);
}

static bool revisit_is_removed(struct pd_apply_associated *o, const struct pd_record *r, const struct ties *t)
{
	uint64_t original = t->refers_to ? t->refers_to : pd_apply_hash_capture(t->refers_url, t->refers_date);
	bool along = !o->keep && is_removed(o, original);
	if (o->kept && pd_apply_kept_is_removed(o->kept, original)) {
		o->refers_to = original;
		along = true;
	}
	if (!along && o->revisits)
		note_revisit(o->revisits, original, pd_buf_span(&r->id));
	note_capture(o, r, t, along);
	return along;
}

static bool is_associated(const struct pd_apply_associated *o, const struct pd_apply_neighbour *other)
{
	if (is_removed(o, other->own) || (other->n_names && other->n_removed == other->n_names))
		return true;
	return !other->n_names && o->page_removed && other->url && other->url == o->page_url;
}

static bool other_is_removed(struct pd_apply_associated *o, const struct pd_record *r, const struct pd_read_extent *extent)
{
	struct ties t;
	o->refers_to = 0;
	read_ties(pd_buf_span(&r->header), &t);
	if (pd_span_ieq(t.type, "revisit"))
		return revisit_is_removed(o, r, &t);
	if (!pd_span_ieq(t.type, "request") && !pd_span_ieq(t.type, "metadata"))
		return false;
	add_name(&t, t.refers_to);
	struct pd_apply_neighbour other = { .extent = *extent, .own = pd_apply_hash_field(t.own), .n_names = t.n_names,
				  .url = pd_apply_hash_field(pd_buf_span(&r->url)) };
	memcpy(other.names, t.names, sizeof t.names);
	for (int i = 0; i < t.n_names && i < PD_APPLY_ASSOCIATED_NAMES; i++)
		other.n_removed += is_removed(o, t.names[i]);
	if (!o->keep && is_associated(o, &other))
		return true;
	o->ring[o->n++ % PD_APPLY_ASSOCIATED_BACK] = other;
	return false;
}

/* --- one input --- */

/* Of a dump only headers matter; block bytes are passed over. */
enum { HEAD = 1 };

void pd_apply_scan_init(struct pd_apply_scan *s, const struct pd_apply_scan_options *o)
{
	struct pd_reader_options r = { .max_block = o->max_block, .fields = o->fields };
	*s = (struct pd_apply_scan){ .o = *o, .sink = { .damage = o->damage, .ctx = o->ctx } };
	pd_read_source_init(&s->source, &r, &s->sink);
	s->source.max_block = HEAD;
	s->source.keep_headers = !o->keep_others || o->revisits || o->kept;
}

void pd_apply_scan_release(struct pd_apply_scan *s)
{
	pd_read_source_release(&s->source);
	pd_record_release(&s->record);
	release_associated(&s->associated);
	pd_buf_release(&s->texts);
	pd_buf_release(&s->begun);
	free(s->cuts);
}

static void add_cut(struct pd_apply_scan *s, const struct pd_read_extent *x)
{
	s->cuts = pd_grow(s->cuts, s->n_cuts, &s->cap_cuts, sizeof *s->cuts);
	s->cuts[s->n_cuts++] = (struct pd_apply_cut){ .x = *x, .codec = s->source.member.codec };
}

static void add_other(void *ctx, const struct pd_read_extent *x)
{
	struct pd_apply_scan *s = ctx;
	s->along++;
	add_cut(s, x);
}

static bool is_warc(const struct pd_apply_scan *s)
{
	return s->source.kind == PD_SOURCE_DUMP && s->source.dump.format == &pd_read_format_warc;
}

/* The record given last is removed; a revisit stands in its place. */
static void begin_revisit(struct pd_apply_scan *s, struct pd_span dup_of, uint64_t refers_to)
{
	if (!s->o.kept || !is_warc(s))
		return;
	pd_apply_revisit_begin(s->o.kept, &s->record, dup_of, refers_to, &s->begun);
	s->revisits++;
}

static bool page_is_removed(struct pd_apply_scan *s)
{
	const struct pd_record *r = &s->record;
	struct pd_apply_removal drop = pd_apply_removals_take(s->o.removals, pd_buf_span(&r->id), pd_buf_span(&r->url));
	if (drop.other_url && s->o.other_url)
		s->o.other_url(s->o.ctx, pd_buf_z(&r->id));
	s->pages += drop.found;
	if (drop.found && s->o.page)
		s->o.page(s->o.ctx, r, drop.dup_of);
	if (drop.found)
		begin_revisit(s, drop.dup_of, 0);
	return drop.found;
}

/* Does the record given last go? */
static bool record_is_removed(struct pd_apply_scan *s, const struct pd_read_extent *x)
{
	bool page = s->record.kind != PD_RECORD_OTHER || s->source.kind != PD_SOURCE_DUMP;
	bool asked = page && page_is_removed(s);
	if (s->source.kind != PD_SOURCE_DUMP || !s->source.keep_headers)
		return asked;
	if (page) {
		meet_page(&s->associated, &s->record, asked);
		return asked;
	}
	bool along = other_is_removed(&s->associated, &s->record, x);
	if (along && s->associated.refers_to)
		begin_revisit(s, pd_span(NULL, 0), s->associated.refers_to);
	else
		s->along += along;
	return along;
}

/* Where a cut begins in the input. */
static uint64_t place_of(const struct pd_read_extent *x)
{
	return x->stream ? x->member : x->begin;
}

static int by_place(const void *a, const void *b)
{
	const struct pd_read_extent *x = &((const struct pd_apply_cut *)a)->x, *y = &((const struct pd_apply_cut *)b)->x;
	if (place_of(x) != place_of(y))
		return place_of(x) < place_of(y) ? -1 : 1;
	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* Neighbours become one, unless something stands in their place. */
static void join_cuts(struct pd_apply_scan *s)
{
	size_t n = 0;
	if (s->n_cuts)
		qsort(s->cuts, s->n_cuts, sizeof *s->cuts, by_place);
	for (size_t i = 0; i < s->n_cuts; i++) {
		struct pd_apply_cut *before = n ? &s->cuts[n - 1] : NULL, *cut = &s->cuts[i];
		if (!before || before->text_n || cut->text_n || before->x.stream != cut->x.stream || before->x.end != cut->x.begin) {
			s->cuts[n++] = *cut;
			continue;
		}
		before->x.end = cut->x.end;
		before->x.last = cut->x.last;
	}
	s->n_cuts = n;
}

static int scan_records(struct pd_apply_scan *s)
{
	bool tar = s->source.kind == PD_SOURCE_TAR, open_cut = false;
	int r;
	while ((r = pd_read_source_next(&s->source, &s->record)) == 1 || open_cut) {
		if (open_cut)
			s->cuts[s->n_cuts - 1].x.end = pd_read_source_end(&s->source);
		open_cut = false;
		if (r != 1)
			break;
		struct pd_read_extent x;
		pd_read_source_extent(&s->source, &x);
		s->records++;
		size_t text_at = s->begun.n;
		if (!record_is_removed(s, &x))
			continue;
		s->whole |= s->source.kind == PD_SOURCE_PAGE;
		add_cut(s, &x);
		s->cuts[s->n_cuts - 1].text_at = text_at;
		s->cuts[s->n_cuts - 1].text_n = s->begun.n - text_at;
		open_cut = tar;
	}
	return r;
}

/* The bytes that cut `i` and those that share members with it stand for; the number of these cuts. */
static size_t original_range(struct pd_apply_scan *s, size_t i, const char *path, const char *name, uint64_t *begin, uint64_t *end,
			     int *status, struct pd_err *e)
{
	const struct pd_read_extent *x = &s->cuts[i].x;
	uint64_t last;
	*begin = place_of(x);
	*end = x->end;
	if (!x->stream)
		return 1;
	size_t n = pd_apply_cuts_sharing(s->cuts + i, s->n_cuts - i, &last);
	*status = pd_apply_member_end(&s->source, path, name, last, end, e);
	return n;
}

/* Each revisit names the bytes that it stands for. */
static int end_revisits(struct pd_apply_scan *s, const char *path, const char *name, struct pd_err *e)
{
	struct pd_buf digest = { 0 };
	uint64_t begin, end;
	int status = PD_OK;
	for (size_t i = 0; i < s->n_cuts && s->revisits && !status;) {
		size_t n = original_range(s, i, path, name, &begin, &end, &status, e);
		pd_buf_clear(&digest);
		if (!status && s->cuts[i].text_n)
			status = pd_apply_digest_range(path, begin, end - begin, &digest, e);
		for (struct pd_apply_cut *cut = &s->cuts[i]; !status && cut < &s->cuts[i + n]; cut++) {
			if (!cut->text_n)
				continue;
			struct pd_span text = pd_span(s->begun.p + cut->text_at, cut->text_n);
			cut->text_at = s->texts.n;
			pd_buf_add_span(&s->texts, text);
			pd_apply_revisit_end(path, begin, end - begin, pd_buf_span(&digest), &s->texts);
			cut->text_n = s->texts.n - cut->text_at;
		}
		i += n;
	}
	pd_buf_release(&digest);
	return status;
}

static int open_scan(struct pd_apply_scan *s, const char *path, const char *name, struct pd_err *e)
{
	s->n_cuts = 0;
	s->whole = false;
	s->pages = s->along = s->records = s->revisits = 0;
	pd_buf_clear(&s->texts);
	pd_buf_clear(&s->begun);
	s->associated.cut = add_other;
	s->associated.ctx = s;
	s->associated.kept = s->o.kept;
	s->associated.keep = s->o.keep_others || s->o.kept;
	s->associated.revisits = s->o.revisits;
	clear_associated(&s->associated);
	return pd_read_source_open(&s->source, path, name) < 0 ? pd_fail_errno(e, "%s: cannot open", name) : PD_OK;
}

int pd_apply_scan_input(struct pd_apply_scan *s, const char *path, const char *name, struct pd_err *e)
{
	int status = open_scan(s, path, name, e);
	if (status)
		return status;
	status = scan_records(s);
	if (status < 0)
		status = pd_fail_errno(e, "%s: cannot read", name);
	pd_read_source_close(&s->source);
	if (s->whole)
		s->n_cuts = 0;
	join_cuts(s);
	return status ? status : end_revisits(s, path, name, e);
}

int pd_apply_scan_revisits(struct pd_apply_scan *s, const char *path, const char *name, struct pd_err *e)
{
	struct pd_read_sink told = s->sink;
	int status = open_scan(s, path, name, e);
	if (status)
		return status;
	s->sink.damage = NULL;		/* it is passed on as it is */
	if (s->source.kind == PD_SOURCE_DUMP || s->source.in.error)
		status = scan_records(s);
	if (status < 0)
		status = pd_fail_errno(e, "%s: cannot read", name);
	pd_read_source_close(&s->source);
	s->sink = told;
	join_cuts(s);
	return status ? status : end_revisits(s, path, name, e);
}
