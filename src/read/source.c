/* SPDX-License-Identifier: MIT
 *
 * Records of every kind get their ids here.
 */
#include "read/source.h"

#include <errno.h>

#include "read/mirror.h"
#include "read/recognise.h"

static void tell(struct pd_sink *sink, const struct pd_damage *d)
{
	sink->count++;
	if (sink->damage)
		sink->damage(sink->ctx, d);
}

void pd_sink_tell(struct pd_sink *sink, const char *file, struct pd_place place, const char *reason)
{
	tell(sink, &(struct pd_damage){ .file = file, .offset = place.offset, .stream = place.stream, .reason = reason });
}

void pd_sink_tell_whole(struct pd_sink *sink, const char *file, const char *reason)
{
	tell(sink, &(struct pd_damage){ .file = file, .whole = true, .reason = reason });
}

void pd_source_how(struct pd_source *s, const struct pd_file *f)
{
	s->found = f->found;
}

void pd_source_init(struct pd_source *s, const struct pd_reader_options *o, struct pd_sink *sink)
{
	*s = (struct pd_source){ .max_block = o->max_block, .all_text = o->all_text, .sink = sink };
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
	pd_buf_release(&s->reason);
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
	else if (!r && pd_jsonl_useless(&s->jsonl))
		pd_sink_tell_whole(s->sink, s->label, pd_jsonl_useless(&s->jsonl));
	return r;
}

/* The URL of a file is its path, or what the path of a mirror tells. */
static void set_url(struct pd_source *s, const char *path, struct pd_record *out)
{
	pd_buf_clear(&out->url);
	s->mirrored = pd_mirror_url(pd_span_z(path), &out->url);
	if (!s->mirrored)
		pd_buf_add_z(&out->url, path);
}

static int next_file(struct pd_source *s, struct pd_record *out)
{
	int r = pd_tar_next(&s->tar, out);
	if (r == 1) {
		pd_buf_printf(&out->id, "%s!%s", s->label, pd_buf_z(&s->tar.name));
		pd_buf_set(&s->reason, pd_buf_span(&out->url));
		set_url(s, pd_buf_z(&s->reason), out);
		out->html_only = !s->all_text;
	} else if (r < 0 && !s->in.error)
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
	set_url(s, s->label, out);
	out->kind = PD_RECORD_PAYLOAD;
	out->html_only = s->found && !s->all_text;
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

/* What cannot be read was told. */
static int next_none(struct pd_source *s, struct pd_record *out)
{
	return 0;
}

int pd_source_next(struct pd_source *s, struct pd_record *out)
{
	static int (*const next[])(struct pd_source *s, struct pd_record *out) = {
		[PD_SOURCE_DUMP] = next_dump,
		[PD_SOURCE_JSONL] = next_line,
		[PD_SOURCE_TAR] = next_file,
		[PD_SOURCE_PAGE] = next_page,
		[PD_SOURCE_NONE] = next_none,
	};
	s->mirrored = false;
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
	case PD_SOURCE_PAGE:
	case PD_SOURCE_NONE: *out = (struct pd_extent){ .end = UINT64_MAX }; break;
	}
}

uint64_t pd_source_end(const struct pd_source *s)
{
	return s->tar.end;
}
