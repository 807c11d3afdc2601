/* SPDX-License-Identifier: MIT
 *
 * Between two calls the reading position is either at the start of a record or at the end of what the current member
 * has left: `advance` sees to that after every record, and so finds out whether a record was alone in its member.
 */
#include "read/warc.h"

/* FIT: blocks up to this length are looked at to their end, and TRAILER bytes further, before they are believed. */
enum { HEADER_MAX = 1 << 18, SCAN = 1 << 16, FIT = 1 << 19, TRAILER = 16 };

void pd_warc_open(struct pd_warc *w, struct pd_member *m, size_t max_block)
{
	*w = (struct pd_warc){ .m = m, .max_block = max_block };
}

static struct pd_place here(const struct pd_warc *w)
{
	return (struct pd_place){ pd_member_offset(w->m), w->m->gzip };
}

/* Between records: what lies in a member that no record began in yet is named by the member. */
static struct pd_place between(const struct pd_warc *w)
{
	return w->m->gzip && !w->begun ? (struct pd_place){ w->m->start, false } : here(w);
}

/* The record being read, should it turn out to be the only one of its member. */
static bool only_one(const struct pd_warc *w)
{
	return w->m->gzip && w->begun == 1 && !w->spanned;
}

static int damage(struct pd_warc *w, struct pd_place place, const char *reason)
{
	w->place = place;
	w->reason = reason;
	return PD_ERR_INPUT;
}

/* The record being read is lost; one word about its member is enough. */
static int lose(struct pd_warc *w, const char *reason)
{
	w->told = true;
	return damage(w, only_one(w) ? (struct pd_place){ w->member, false } : w->begin, reason);
}

static bool at_record(struct pd_warc *w)
{
	struct pd_span s = pd_member_peek(w->m, 8);
	return s.n && memcmp(s.p, "WARC/", s.n < 5 ? s.n : 5) == 0;
}

/* Line ends after a record (two are due, none or many are seen), and what some writers pad with. */
static void skip_padding(struct pd_member *m)
{
	for (;;) {
		struct pd_span s = pd_member_peek(m, 1);
		size_t i = 0;
		while (i < s.n && (!s.p[i] || pd_ascii_space(s.p[i])))
			i++;
		pd_member_skip(m, i);
		if (i < s.n || !s.n)
			return;
	}
}

/* To the next line that begins a record, or to the end of the member. */
static void skip_junk(struct pd_warc *w)
{
	for (;;) {
		struct pd_span s = pd_member_peek(w->m, SCAN);
		ptrdiff_t at = pd_warc_find(s);
		if (at >= 0) {
			pd_member_skip(w->m, (size_t)at);
			return;
		}
		bool more = w->m->state == PD_MEMBER_MORE;
		pd_member_skip(w->m, more ? s.n - 8 : s.n);
		if (!more)
			return;
	}
}

static void advance(struct pd_warc *w)
{
	skip_padding(w->m);
	if (at_record(w) || !pd_member_peek(w->m, 1).n)
		return;
	struct pd_place from = between(w);
	skip_junk(w);
	/* Junk that ends in damage, or follows it, is the same damage. */
	if (w->told || w->m->state == PD_MEMBER_BROKEN)
		return;
	w->junk = true;
	w->junk_at = from;
}

/* Opens the next member; the current one has nothing left. */
static int next_member(struct pd_warc *w)
{
	struct pd_member *m = w->m;
	if (m->state == PD_MEMBER_BROKEN) {
		struct pd_place at = between(w);
		pd_member_resync(m);
		if (!w->told)
			return damage(w, at, m->reason);
	}
	int r = pd_member_next(m);
	if (r < 0) {
		damage(w, (struct pd_place){ m->in->offset, false }, m->reason);
		pd_member_resync(m);
		return r;
	}
	w->begun = 0;
	w->told = false;
	if (r > 0)
		advance(w);
	return r;
}

/* The window ends inside the record, with `have` bytes of it left: 1 when the next member goes on with it. */
static int more(struct pd_warc *w, size_t have)
{
	struct pd_member *m = w->m;
	if (m->state == PD_MEMBER_BROKEN) {
		pd_member_skip(m, have);
		return lose(w, m->reason);
	}
	int r = pd_member_next(m);
	if (r <= 0) {
		lose(w, r ? "record cut by junk between gzip members" : "record cut by the end of the file");
		pd_member_skip(m, have);
		return PD_ERR_INPUT;
	}
	struct pd_span s = pd_member_peek(m, have + 5);
	if (s.n < have + 5 || memcmp(s.p + have, "WARC/", 5) != 0) {
		w->spanned = true;
		return 1;
	}
	lose(w, "record cut by the end of its gzip member");
	pd_member_skip(m, have);
	w->begun = 0;
	w->told = false;
	return PD_ERR_INPUT;
}

static int read_header(struct pd_warc *w, struct pd_span *header)
{
	size_t seen = 0;
	for (size_t want = 2048;;) {
		struct pd_span s = pd_member_peek(w->m, want);
		if (s.n > HEADER_MAX)
			s.n = HEADER_MAX;
		size_t n = pd_warc_header_end(s, &seen);
		if (n) {
			*header = pd_span(s.p, n);
			return 1;
		}
		if (s.n >= HEADER_MAX) {
			pd_member_skip(w->m, 5);
			return lose(w, "no end of the WARC header within 256 KiB");
		}
		if (s.n >= want)
			want = 2 * s.n < HEADER_MAX ? 2 * s.n : HEADER_MAX;
		else if (more(w, s.n) < 0)
			return PD_ERR_INPUT;
	}
}

/* Is this what follows a block: line ends or padding, then a record, or nothing? */
static bool plain_end(struct pd_span after)
{
	size_t i = 0;
	while (i < after.n && (!after.p[i] || pd_ascii_space(after.p[i])))
		i++;
	size_t n = after.n - i < 5 ? after.n - i : 5;
	return !n || memcmp(after.p + i, "WARC/", n) == 0;
}

/* Does Content-Length lead to where a record can end?  A wrong one would swallow the records that follow, so what can
 * be seen is looked at: where it does not end as a record does, no other record may begin inside it. */
static bool fits(struct pd_warc *w, size_t header, uint64_t length)
{
	const struct pd_input *in = w->m->in;
	if (!w->m->gzip && in->regular && length > in->size - in->offset - header)
		return false;
	if (length > FIT)
		return true;
	struct pd_span s = pd_member_peek(w->m, header + (size_t)length + TRAILER);
	if (s.n < header + length)
		return w->m->gzip;
	struct pd_span block = pd_span(s.p + header, (size_t)length);
	size_t rest = s.n - header - block.n;
	return plain_end(pd_span(block.p + block.n, rest < TRAILER ? rest : TRAILER)) || pd_warc_find(block) < 0;
}

/* What is wrong with the header, or NULL. */
static const char *implausible(struct pd_warc *w, const struct pd_warc_header *h, size_t header, uint64_t *length)
{
	if (!pd_span_trim(h->type).n)
		return "WARC header without WARC-Type";
	if (!h->content_length.p)
		return "WARC header without Content-Length";
	if (!pd_span_u64(pd_span_trim(h->content_length), length) || *length > INT64_MAX)
		return "implausible Content-Length in the WARC header";
	if (fits(w, header, *length))
		return NULL;
	return "Content-Length leads past the end of the file or into another record";
}

static int read_block(struct pd_warc *w, struct pd_record *out)
{
	bool wanted = out->kind != PD_RECORD_OTHER;
	for (uint64_t left = out->length; left;) {
		struct pd_span s = pd_member_peek(w->m, 1);
		if (!s.n) {
			if (more(w, 0) < 0)
				return PD_ERR_INPUT;
			continue;
		}
		size_t take = s.n < left ? s.n : (size_t)left;
		size_t room = wanted ? w->max_block - out->block.n : 0;
		pd_buf_add(&out->block, s.p, take < room ? take : room);
		pd_member_skip(w->m, take);
		left -= take;
	}
	out->cut = wanted && out->block.n < out->length;
	return 1;
}

static int read_record(struct pd_warc *w, struct pd_record *out)
{
	struct pd_span header;
	struct pd_warc_header h;
	uint64_t length = 0;
	if (read_header(w, &header) < 0)
		return PD_ERR_INPUT;
	pd_warc_parse(header, &h);
	pd_warc_fill(&h, out);
	const char *wrong = implausible(w, &h, header.n, &length);
	pd_member_skip(w->m, header.n);
	if (wrong)
		return lose(w, wrong);
	out->length = length;
	return read_block(w, out);
}

/* After the record: its place, unless its member turns out to be broken right behind it. */
static int settle(struct pd_warc *w)
{
	struct pd_member *m = w->m;
	advance(w);
	bool alone = only_one(w) && !pd_member_peek(m, 1).n;
	if (alone && m->state == PD_MEMBER_BROKEN)
		return lose(w, m->reason);
	w->place = alone ? (struct pd_place){ w->member, false } : w->begin;
	w->told = false;
	return 1;
}

int pd_warc_next(struct pd_warc *w, struct pd_record *out)
{
	while (w->junk || !at_record(w)) {
		if (w->junk) {
			w->junk = false;
			return damage(w, w->junk_at, "junk between records");
		}
		int r = next_member(w);
		if (r <= 0)
			return r;
	}
	w->begin = here(w);
	w->member = w->m->start;
	w->begun++;
	w->spanned = false;
	int r = read_record(w, out);
	if (r == 1)
		return settle(w);
	advance(w);
	return r;
}
