/* SPDX-License-Identifier: MIT
 *
 * Records of every kind get their ids here.
 */
#include "read/source.h"

#include <errno.h>

#include "read/recognise.h"

void pd_sink_tell(struct pd_sink *sink, const char *file, struct pd_place place, const char *reason)
{
	struct pd_damage d = { file, place.offset, place.stream, reason };
	sink->count++;
	if (sink->damage)
		sink->damage(sink->ctx, &d);
}

void pd_source_init(struct pd_source *s, const struct pd_reader_options *o, struct pd_sink *sink)
{
	*s = (struct pd_source){ .max_block = o->max_block, .sink = sink };
	pd_input_init(&s->in);
	pd_member_init(&s->member);
	pd_jsonl_init(&s->jsonl, &o->fields, o->max_block);
}

void pd_source_release(struct pd_source *s)
{
	pd_tar_release(&s->tar);
	pd_jsonl_release(&s->jsonl);
	pd_input_release(&s->in);
	pd_member_release(&s->member);
}

void pd_source_close(struct pd_source *s)
{
	pd_tar_close(&s->tar);
	pd_input_close(&s->in);
}

int pd_source_open(struct pd_source *s, const char *path, const char *label)
{
	s->label = label;
	s->done = false;
	if (pd_input_open(&s->in, path) < 0)
		return PD_ERR_SYSTEM;
	pd_source_recognise(s);
	return PD_OK;
}

int pd_source_open_at(struct pd_source *s, const char *path, const char *label, uint64_t offset)
{
	s->label = label;
	s->done = false;
	if (pd_input_open(&s->in, path) < 0)
		return PD_ERR_SYSTEM;
	bool found = pd_source_recognise_at(s, offset);
	errno = s->in.error;
	return s->in.error ? PD_ERR_SYSTEM : found ? PD_OK : PD_ERR_NOT_FOUND;
}

static void set_id(struct pd_source *s, struct pd_place place, struct pd_record *out)
{
	pd_buf_clear(&out->id);
	pd_buf_printf(&out->id, "%s:%s%llu", s->label, place.stream ? "+" : "", (unsigned long long)place.offset);
}

/* A record, or a damage told: 1; 0 the end; PD_ERR_INPUT: go on. */
static int next_dump(struct pd_source *s, struct pd_record *out)
{
	int r = pd_dump_next(&s->dump, out);
	if (r == 1)
		set_id(s, s->dump.place, out);
	else if (r < 0 && !s->in.error)
		pd_sink_tell(s->sink, s->label, s->dump.place, s->dump.reason);
	return r;
}

static int next_line(struct pd_source *s, struct pd_record *out)
{
	int r = pd_jsonl_next(&s->jsonl, out);
	if (r == 1)
		set_id(s, s->jsonl.place, out);
	else if (r < 0 && !s->in.error)
		pd_sink_tell(s->sink, s->label, s->jsonl.place, s->jsonl.reason);
	return r;
}

static int next_file(struct pd_source *s, struct pd_record *out)
{
	int r = pd_tar_next(&s->tar, out);
	if (r == 1)
		pd_buf_printf(&out->id, "%s!%s", s->label, pd_buf_z(&s->tar.name));
	else if (r < 0 && !s->in.error)
		pd_sink_tell(s->sink, s->label, s->tar.place, pd_buf_z(&s->tar.reason));
	return r;
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
		if (!pd_member_packed(&s->member) && out->length > s->max_block && in->size > out->length) {
			out->length = in->size;
			return;
		}
	}
}

/* The input is the page; recognising it has opened its first member. */
static int next_page(struct pd_source *s, struct pd_record *out)
{
	struct pd_member *m = &s->member;
	int r;
	pd_record_clear(out);
	pd_buf_add_z(&out->id, s->label);
	pd_buf_add_z(&out->url, s->label);
	out->kind = PD_RECORD_PAYLOAD;
	s->done = true;
	do {
		add_member(s, out);
		if (m->state == PD_MEMBER_BROKEN) {
			pd_sink_tell(s->sink, s->label, (struct pd_place){ m->start, false }, m->reason);
			return 0;
		}
	} while ((r = pd_member_next(m)) == 1);
	if (s->in.error)
		return 0;
	if (r < 0)
		pd_sink_tell(s->sink, s->label, (struct pd_place){ s->in.offset, false }, "junk after the compressed page");
	out->cut = out->block.n < out->length;
	return 1;
}

int pd_source_next(struct pd_source *s, struct pd_record *out)
{
	static int (*const next[])(struct pd_source *s, struct pd_record *out) = {
		[PD_SOURCE_DUMP] = next_dump,
		[PD_SOURCE_JSONL] = next_line,
		[PD_SOURCE_TAR] = next_file,
		[PD_SOURCE_PAGE] = next_page,
	};
	int r = s->done ? 0 : PD_ERR_INPUT;
	while (r < 0 && !s->in.error)
		r = next[s->kind](s, out);
	s->done |= r == 0;
	if (!s->in.error)
		return r;
	errno = s->in.error;
	return PD_ERR_SYSTEM;
}

/* Lines and files in a compressed stream say nothing of members: any may have a part in them. */
static void in_stream(const struct pd_source *s, uint64_t begin, uint64_t end, struct pd_extent *out)
{
	bool packed = pd_member_packed(&s->member);
	*out = (struct pd_extent){ .begin = begin, .end = end, .stream = packed, .member = s->head, .last = UINT64_MAX };
}

void pd_source_extent(const struct pd_source *s, struct pd_extent *out)
{
	switch (s->kind) {
	case PD_SOURCE_DUMP: pd_dump_extent(&s->dump, out); break;
	case PD_SOURCE_JSONL: in_stream(s, s->jsonl.place.offset, pd_member_offset(&s->member), out); break;
	case PD_SOURCE_TAR: in_stream(s, s->tar.begin, s->tar.begin, out); break;
	case PD_SOURCE_PAGE: *out = (struct pd_extent){ .end = UINT64_MAX }; break;
	}
}

uint64_t pd_source_end(const struct pd_source *s)
{
	return s->tar.end;
}
