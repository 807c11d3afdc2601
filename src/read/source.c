/* SPDX-License-Identifier: MIT
 *
 * What an input is shows in its first bytes, after decompression.  Those may be the damaged ones: then a member with a
 * record in it further on in the first window still tells that it is a dump.  Records of every kind get their ids here.
 */
#include "read/source.h"

#include <errno.h>

#include "base/err.h"
#include "read/mirror.h"

static void tell(struct pd_read_sink *sink, const struct pd_read_damage *d)
{
	sink->count++;
	if (sink->damage)
		sink->damage(sink->ctx, d);
}

void pd_read_sink_tell(struct pd_read_sink *sink, const char *file, struct pd_read_place place, const char *reason)
{
	tell(sink, &(struct pd_read_damage){ .file = file, .offset = place.offset, .stream = place.stream, .reason = reason });
}

void pd_read_sink_tell_whole(struct pd_read_sink *sink, const char *file, const char *reason)
{
	tell(sink, &(struct pd_read_damage){ .file = file, .whole = true, .reason = reason });
}

void pd_read_source_how(struct pd_read_source *s, const struct pd_read_file *f)
{
	s->found = f->found;
}

void pd_read_source_init(struct pd_read_source *s, const struct pd_reader_options *o, struct pd_read_sink *sink)
{
	*s = (struct pd_read_source){ .max_block = o->max_block, .all_text = o->all_text, .sink = sink };
	pd_read_input_init(&s->in);
	pd_read_member_init(&s->member);
	pd_read_jsonl_init(&s->jsonl, &o->fields, o->max_block);
}

void pd_read_source_release(struct pd_read_source *s)
{
	pd_read_tar_release(&s->tar);
	pd_read_jsonl_release(&s->jsonl);
	pd_read_input_release(&s->in);
	pd_read_member_release(&s->member);
	pd_buf_release(&s->reason);
}

void pd_read_source_close(struct pd_read_source *s)
{
	pd_read_tar_close(&s->tar);
	pd_read_input_close(&s->in);
}

/* --- what it is --- */

/* HEAD: enough for a header's first lines.  EMPTY: members without a byte that may come first. */
enum { HEAD = 8192, EMPTY = 64 };

static bool begins_dump(struct pd_span head)
{
	return pd_read_format_warc.begins(head, false) || pd_read_format_arc.begins(head, false);
}

/* Without what may stand before a record in its member. */
static struct pd_span bare(struct pd_span s)
{
	if (s.n >= 3 && memcmp(s.p, "\xef\xbb\xbf", 3) == 0)
		s = pd_span(s.p + 3, s.n - 3);
	while (s.n && (!s.p[0] || pd_ascii_space(s.p[0])))
		s = pd_span(s.p + 1, s.n - 1);
	return s;
}

static bool begins_line(struct pd_span head)
{
	return head.n && head.p[0] == '{';
}

static void open_dump(struct pd_read_source *s, const struct pd_read_format *format)
{
	s->kind = PD_SOURCE_DUMP;
	s->member.begins = begins_dump;
	pd_read_dump_open(&s->dump, &s->member, format, s->max_block);
	s->dump.keep_header = s->keep_headers;
	s->dump.keep_block = s->keep_blocks;
}

static void open_jsonl(struct pd_read_source *s)
{
	s->kind = PD_SOURCE_JSONL;
	s->member.begins = begins_line;
	pd_read_jsonl_open(&s->jsonl, &s->member);
}

static const struct pd_read_format *format_of(struct pd_span head)
{
	return pd_read_format_arc.begins(head, false) ? &pd_read_format_arc : &pd_read_format_warc;
}

/* Opens the first member that has something in it, or that is broken. */
static struct pd_span first_bytes(struct pd_read_member *m)
{
	for (int i = 0; i < EMPTY && pd_read_member_next(m) == 1; i++) {
		struct pd_span s = pd_read_member_peek(m, HEAD);
		if (s.n || m->state == PD_MEMBER_BROKEN)
			return s;
	}
	return pd_span("", 0);
}

static bool looks_jsonl(struct pd_read_source *s, struct pd_span head)
{
	if (!head.n || (!memchr("{#/ntf[\"\xef", head.p[0], 9) && !pd_ascii_space(head.p[0])))
		return false;
	head = pd_read_member_peek(&s->member, PD_INPUT_WINDOW);
	return pd_read_jsonl_looks(&s->jsonl, head, s->member.state == PD_MEMBER_MORE);
}

/* By what the input begins with.  tar first: a path in it may begin with anything; then JSON, whose lines may hold what
 * looks like a WARC header without its first line. */
static bool by_head(struct pd_read_source *s, struct pd_span head)
{
	if (pd_read_tar_looks(head)) {
		s->kind = PD_SOURCE_TAR;
		pd_read_tar_open(&s->tar, &s->member, s->max_block);
	} else if (looks_jsonl(s, head)) {
		open_jsonl(s);
	} else if (pd_read_format_warc.looks(head)) {
		open_dump(s, &pd_read_format_warc);
	} else if (pd_read_format_arc.looks(head)) {
		open_dump(s, &pd_read_format_arc);
	} else {
		return false;
	}
	return true;
}

/* A compressed dump whose first bytes, the magic ones, are damaged. */
static bool by_later_member(struct pd_read_source *s)
{
	static const enum pd_codec codecs[] = { PD_CODEC_GZIP, PD_CODEC_ZSTD, PD_CODEC_LZ4 };
	struct pd_span window = pd_read_input_peek(&s->in, PD_INPUT_WINDOW);
	for (size_t i = 0; i < sizeof codecs / sizeof *codecs; i++) {
		s->member.codec = codecs[i];
		if (pd_read_member_find(&s->member, window, 1) < 0)
			continue;
		pd_read_member_open(&s->member, &s->in, codecs[i]);
		open_dump(s, format_of(pd_buf_span(&s->member.probe)));
		return true;
	}
	s->member.codec = PD_CODEC_NONE;
	return false;
}

/* A compressed dump whose first member is damaged, or is something else. */
static bool by_next_member(struct pd_read_source *s)
{
	struct pd_read_input *in = &s->in;
	uint64_t at = in->offset;
	pd_read_input_back(in, s->member.start + 1);
	bool found = pd_read_member_find(&s->member, pd_read_input_peek(in, PD_INPUT_WINDOW), 0) >= 0;
	pd_read_input_skip(in, (size_t)(at - in->offset));
	if (found)
		open_dump(s, format_of(pd_buf_span(&s->member.probe)));
	return found;
}

static void take_dictionary(struct pd_read_source *s)
{
	struct pd_read_place place = { s->in.offset, false };
	const char *wrong = pd_read_member_dictionary(&s->member);
	if (wrong && !s->in.error)
		pd_read_sink_tell(s->sink, s->label, place, wrong);
}

/* What is packed in a way that is not read here. */
struct foreign {
	const char *magic, *name, *tool;	/* tool NULL: it is no stream that another program could turn into one of ours */
};

static const struct foreign *foreign_of(struct pd_span head)
{
	static const struct foreign all[] = {
		{ "\xfd"
		  "7zXZ",
		  "xz", "xz -dc" },
		{ "BZh", "bzip2", "bzip2 -dc" },
		{ "LZIP", "lzip", "lzip -dc" },
		{ "\x1f\x9d", "compress", "gzip -dc" },
		{ "PK\3\4", "zip", NULL },
		{ "7z\xbc\xaf", "7z", NULL },
	};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		size_t n = strlen(all[i].magic);
		if (head.n <= n + 8 || memcmp(head.p, all[i].magic, n) != 0)
			continue;
		/* Words may begin like this one. */
		return strcmp(all[i].name, "bzip2") != 0 || memcmp(head.p + 4, "1AY&SY", 6) == 0 ? &all[i] : NULL;
	}
	return NULL;
}

static bool ends_like(const char *label, const char *const *ends)
{
	for (int i = 0; ends[i]; i++) {
		size_t n = strlen(ends[i]), m = strlen(label);
		if (m > n && pd_span_ieq(pd_span(label + m - n, n), ends[i]))
			return true;
	}
	return false;
}

/* A zip file whose first member is one that the format WACZ has. */
static bool is_wacz(const struct pd_read_source *s, struct pd_span head)
{
	static const char *const parts[] = { "archive/", "indexes/", "pages/", "datapackage", NULL }, *const ends[] = { ".wacz", NULL };
	for (int i = 0; parts[i] && head.n > 64; i++)
		if (memcmp(head.p + 30, parts[i], strlen(parts[i])) == 0)
			return true;
	return ends_like(s->label, ends);
}

/* A dump in another wrapping must not pass for a page of another type: it is told when somebody named it, or when it is named
 * like a dump.  What else lies in folders (downloads) is no page, and that is all. */
static bool refuse_foreign(struct pd_read_source *s)
{
	static const char *const dumps[] = { ".wacz", ".warc.xz", ".warc.bz2", ".arc.xz", ".arc.bz2", ".wet.xz", ".jsonl.xz", ".jsonl.bz2",
					     ".tar.xz", ".tar.bz2", ".warc.zip", ".warc.lz", NULL };
	struct pd_span head = pd_read_input_peek(&s->in, HEAD);
	const struct foreign *f = foreign_of(head);
	if (!f || (s->found && !ends_like(s->label, dumps)))
		return false;
	pd_buf_clear(&s->reason);
	if (f->tool)
		pd_buf_printf(&s->reason, "%s is not supported; try: %s %s | pagededup fp", f->name, f->tool, s->in.fd > 0 ? s->label : "");
	else if (f->magic[0] == 'P' && is_wacz(s, head))
		pd_buf_add_z(&s->reason, "WACZ (zip): unpack it and give archive/*.warc.gz");
	else
		pd_buf_printf(&s->reason, "%s is not supported: unpack it and give the folder", f->name);
	pd_read_sink_tell_whole(s->sink, s->label, s->reason.p);
	s->kind = PD_SOURCE_NONE;
	return true;
}

static void recognise(struct pd_read_source *s)
{
	struct pd_read_member *m = &s->member;
	pd_read_member_open(m, &s->in, pd_read_member_codec(pd_read_input_peek(&s->in, HEAD)));
	m->begins = begins_dump;
	if (m->codec == PD_CODEC_ZSTD)
		take_dictionary(s);
	s->head = s->in.offset;
	if (by_head(s, first_bytes(m)))
		return;
	if (!pd_read_member_packed(m) && refuse_foreign(s))
		return;
	if (!(pd_read_member_packed(m) ? by_next_member(s) : by_later_member(s)))
		s->kind = PD_SOURCE_PAGE;
}

static bool recognise_at(struct pd_read_source *s, uint64_t offset)
{
	struct pd_read_member *m = &s->member;
	if (pd_read_input_seek(&s->in, offset) < 0)
		return false;
	enum pd_codec codec = pd_read_member_codec(pd_read_input_peek(&s->in, HEAD));
	if (codec == PD_CODEC_ZSTD) {
		pd_read_input_seek(&s->in, 0);
		pd_read_member_open(m, &s->in, codec);
		take_dictionary(s);
		pd_read_input_seek(&s->in, offset);
	}
	pd_read_member_open(m, &s->in, codec);
	m->begins = begins_dump;
	if (pd_read_member_next(m) != 1)
		return false;
	struct pd_span head = bare(pd_read_member_peek(m, HEAD));
	if (begins_dump(head) || m->state == PD_MEMBER_BROKEN)
		open_dump(s, format_of(head));
	else if (!pd_read_member_packed(m) && begins_line(head))
		open_jsonl(s);
	else
		return false;
	return true;
}

/* --- opening, and records --- */

int pd_read_source_open(struct pd_read_source *s, const char *path, const char *label)
{
	s->label = label;
	s->done = false;
	if (pd_read_input_open(&s->in, path) < 0)
		return PD_ERR_SYSTEM;
	recognise(s);
	return PD_OK;
}

int pd_read_source_open_at(struct pd_read_source *s, const char *path, const char *label, uint64_t offset)
{
	s->label = label;
	s->done = false;
	if (pd_read_input_open(&s->in, path) < 0)
		return PD_ERR_SYSTEM;
	bool found = recognise_at(s, offset);
	errno = s->in.error;
	return s->in.error ? PD_ERR_SYSTEM : found ? PD_OK : PD_ERR_NOT_FOUND;
}

static void set_id(struct pd_read_source *s, struct pd_read_place place, struct pd_record *out)
{
	pd_buf_clear(&out->id);
	pd_buf_printf(&out->id, "%s:%s%llu", s->label, place.stream ? "+" : "", (unsigned long long)place.offset);
}

/* A record, or a damage told: 1; 0 the end; PD_ERR_INPUT: go on. */
static int next_dump(struct pd_read_source *s, struct pd_record *out)
{
	int r = pd_read_dump_next(&s->dump, out);
	if (r == 1)
		set_id(s, s->dump.place, out);
	else if (r < 0 && !s->in.error)
		pd_read_sink_tell(s->sink, s->label, s->dump.place, s->dump.reason);
	return r;
}

static int next_line(struct pd_read_source *s, struct pd_record *out)
{
	int r = pd_read_jsonl_next(&s->jsonl, out);
	if (r == 1)
		set_id(s, s->jsonl.place, out);
	else if (r < 0 && !s->in.error)
		pd_read_sink_tell(s->sink, s->label, s->jsonl.place, s->jsonl.reason);
	else if (!r && pd_read_jsonl_useless(&s->jsonl))
		pd_read_sink_tell_whole(s->sink, s->label, pd_read_jsonl_useless(&s->jsonl));
	return r;
}

/* The URL of a file is its path, or what the path of a mirror tells. */
static void set_url(struct pd_read_source *s, const char *path, struct pd_record *out)
{
	pd_buf_clear(&out->url);
	s->mirrored = pd_read_mirror_url(pd_span_z(path), &out->url);
	if (!s->mirrored)
		pd_buf_add_z(&out->url, path);
}

static int next_file(struct pd_read_source *s, struct pd_record *out)
{
	int r = pd_read_tar_next(&s->tar, out);
	if (r == 1) {
		pd_buf_printf(&out->id, "%s!%s", s->label, pd_buf_z(&s->tar.name));
		pd_buf_set(&s->reason, pd_buf_span(&out->url));
		set_url(s, pd_buf_z(&s->reason), out);
		out->html_only = !s->all_text;
	} else if (r < 0 && !s->in.error)
		pd_read_sink_tell(s->sink, s->label, s->tar.place, pd_buf_z(&s->tar.reason));
	return r;
}

/* The bytes of the current member, as far as they are wanted. */
static void add_member(struct pd_read_source *s, struct pd_record *out)
{
	const struct pd_read_input *in = &s->in;
	for (;;) {
		struct pd_span got = pd_read_member_peek(&s->member, 1);
		size_t room = s->max_block - out->block.n;
		if (!got.n)
			return;
		pd_buf_add(&out->block, got.p, got.n < room ? got.n : room);
		out->length += got.n;
		pd_read_member_skip(&s->member, got.n);
		if (!pd_read_member_packed(&s->member) && out->length > s->max_block && in->size > out->length) {
			out->length = in->size;
			return;
		}
	}
}

/* The input is the page; recognising it has opened its first member. */
static int next_page(struct pd_read_source *s, struct pd_record *out)
{
	struct pd_read_member *m = &s->member;
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
			pd_read_sink_tell(s->sink, s->label, (struct pd_read_place){ m->start, false }, m->reason);
			return 0;
		}
	} while ((r = pd_read_member_next(m)) == 1);
	if (s->in.error)
		return 0;
	if (r < 0)
		pd_read_sink_tell(s->sink, s->label, (struct pd_read_place){ s->in.offset, false }, "junk after the compressed page");
	out->cut = out->block.n < out->length;
	return 1;
}

/* What cannot be read was told. */
static int next_none(struct pd_read_source *s, struct pd_record *out)
{
	return 0;
}

int pd_read_source_next(struct pd_read_source *s, struct pd_record *out)
{
	static int (*const next[])(struct pd_read_source *s, struct pd_record *out) = {
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
static void in_stream(const struct pd_read_source *s, uint64_t begin, uint64_t end, struct pd_read_extent *out)
{
	bool packed = pd_read_member_packed(&s->member);
	*out = (struct pd_read_extent){ .begin = begin, .end = end, .stream = packed, .member = s->head, .last = UINT64_MAX };
}

void pd_read_source_extent(const struct pd_read_source *s, struct pd_read_extent *out)
{
	switch (s->kind) {
	case PD_SOURCE_DUMP: pd_read_dump_extent(&s->dump, out); break;
	case PD_SOURCE_JSONL: in_stream(s, s->jsonl.place.offset, pd_read_member_offset(&s->member), out); break;
	case PD_SOURCE_TAR: in_stream(s, s->tar.begin, s->tar.begin, out); break;
	case PD_SOURCE_PAGE:
	case PD_SOURCE_NONE: *out = (struct pd_read_extent){ .end = UINT64_MAX }; break;
	}
}

uint64_t pd_read_source_end(const struct pd_read_source *s)
{
	return s->tar.end;
}
