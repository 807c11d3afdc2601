/* SPDX-License-Identifier: MIT
 *
 * What an input is shows in its first bytes.  Those may be the damaged ones: then a gzip member with a record further
 * on in the first window still tells that it is a dump.
 */
#include "read/source.h"

#include <errno.h>

enum { HEAD = 2048 };

void pd_sink_tell(struct pd_sink *sink, const char *file, uint64_t offset, bool stream, const char *reason)
{
	struct pd_damage d = { file, offset, stream, reason };
	sink->count++;
	if (sink->damage)
		sink->damage(sink->ctx, &d);
}

void pd_source_init(struct pd_source *s, size_t max_block, struct pd_sink *sink)
{
	*s = (struct pd_source){ .max_block = max_block, .sink = sink };
	pd_input_init(&s->in);
	pd_member_init(&s->member);
}

void pd_source_release(struct pd_source *s)
{
	pd_input_release(&s->in);
	pd_member_release(&s->member);
}

void pd_source_close(struct pd_source *s)
{
	pd_input_close(&s->in);
}

static void unknown(struct pd_source *s, const char *reason)
{
	s->kind = PD_SOURCE_UNKNOWN;
	s->reason = reason;
}

/* Says what the bytes are, plain or out of a member; false when they are no dump of any kind. */
static bool known_head(struct pd_source *s, struct pd_span head)
{
	s->kind = PD_SOURCE_WARC;
	if (pd_warc_looks(head))
		return true;
	switch (pd_magic(head)) {
	case PD_MAGIC_ARC: unknown(s, "ARC dumps are not supported by this version"); return true;
	case PD_MAGIC_ZSTD: unknown(s, "zstd-compressed dumps are not supported by this version"); return true;
	case PD_MAGIC_LZ4: unknown(s, "lz4-compressed dumps are not supported by this version"); return true;
	default: return false;
	}
}

/* Sets `kind`; true when the input is to be read as gzip. */
static bool recognise(struct pd_source *s)
{
	struct pd_span head = pd_input_peek(&s->in, HEAD);
	bool gzip = pd_looks_gzip(head);
	if (known_head(s, gzip ? pd_member_head(&s->member, head, HEAD) : head))
		return gzip;
	head = pd_input_peek(&s->in, PD_INPUT_WINDOW);
	if (pd_member_find(&s->member, head, 1) >= 0) {
		s->kind = PD_SOURCE_WARC;
		return true;
	}
	s->kind = PD_SOURCE_PAGE;
	return gzip;
}

static void begin(struct pd_source *s, bool gzip)
{
	pd_member_open(&s->member, &s->in, gzip);
	pd_warc_open(&s->warc, &s->member, s->max_block);
	s->done = false;
}

int pd_source_open(struct pd_source *s, const char *path, const char *label)
{
	s->label = label;
	if (pd_input_open(&s->in, path) < 0)
		return PD_ERR_SYSTEM;
	begin(s, recognise(s));
	return PD_OK;
}

int pd_source_open_at(struct pd_source *s, const char *path, const char *label, uint64_t offset)
{
	s->label = label;
	if (pd_input_open(&s->in, path) < 0)
		return PD_ERR_SYSTEM;
	if (pd_input_seek(&s->in, offset) < 0)
		return PD_ERR_NOT_FOUND;
	struct pd_span head = pd_input_peek(&s->in, 16);
	enum pd_magic magic = pd_magic(head);
	if (magic != PD_MAGIC_GZIP && magic != PD_MAGIC_WARC)
		return PD_ERR_NOT_FOUND;
	s->kind = PD_SOURCE_WARC;
	begin(s, magic == PD_MAGIC_GZIP);
	return PD_OK;
}

static int next_warc(struct pd_source *s, struct pd_record *out)
{
	struct pd_warc *w = &s->warc;
	for (;;) {
		int r = pd_warc_next(w, out);
		if (s->in.error || !r)
			return 0;
		if (r == 1) {
			pd_buf_clear(&out->id);
			pd_buf_printf(&out->id, "%s:%s%llu", s->label, w->place.stream ? "+" : "",
				      (unsigned long long)w->place.offset);
			return 1;
		}
		pd_sink_tell(s->sink, s->label, w->place.offset, w->place.stream, w->reason);
	}
}

/* The bytes of the current member, as far as they are wanted. */
static void add_member(struct pd_source *s, struct pd_record *out)
{
	const struct pd_input *in = &s->in;
	for (;;) {
		struct pd_span got = pd_member_peek(&s->member, 1);
		size_t room = s->max_block - out->block.n;
		if (!got.n)
			return;
		pd_buf_add(&out->block, got.p, got.n < room ? got.n : room);
		out->length += got.n;
		pd_member_skip(&s->member, got.n);
		if (!s->member.gzip && out->length > s->max_block && in->size > out->length) {
			out->length = in->size;
			return;
		}
	}
}

static int next_page(struct pd_source *s, struct pd_record *out)
{
	struct pd_member *m = &s->member;
	int r;
	pd_record_clear(out);
	pd_buf_add_z(&out->id, s->label);
	pd_buf_add_z(&out->url, s->label);
	out->kind = PD_RECORD_PAYLOAD;
	while ((r = pd_member_next(m)) == 1) {
		add_member(s, out);
		if (m->state == PD_MEMBER_BROKEN) {
			pd_sink_tell(s->sink, s->label, m->start, false, m->reason);
			return 0;
		}
	}
	if (s->in.error)
		return 0;
	if (r < 0)
		pd_sink_tell(s->sink, s->label, s->in.offset, false, "junk after the compressed page");
	out->cut = out->block.n < out->length;
	return 1;
}

int pd_source_next(struct pd_source *s, struct pd_record *out)
{
	int r = 0;
	if (!s->done && s->kind == PD_SOURCE_WARC)
		r = next_warc(s, out);
	else if (!s->done && s->kind == PD_SOURCE_PAGE)
		r = next_page(s, out);
	else if (!s->done)
		pd_sink_tell(s->sink, s->label, 0, false, s->reason);
	s->done = r != 1 || s->kind != PD_SOURCE_WARC;
	if (!s->in.error)
		return r;
	errno = s->in.error;
	return PD_ERR_SYSTEM;
}
