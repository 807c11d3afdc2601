/* SPDX-License-Identifier: MIT
 *
 * A tar archive of pages (ustar, pax, GNU, v7), plain or compressed -> a record for each regular file; its url is the
 * member's path.  Links, folders and devices are skipped.  libarchive reads the bytes of members of member.h, so that
 * compression, damage and memory limits are the same as for other inputs.
 *
 * An archive to which files were added may have a path twice: then later ones are distinguished by the position of
 * their header, PATH!OFFSET.  For this, 16 bytes are stored for each name; all other memory is constant.
 */
#include "read/formats.h"

#ifndef PD_WITHOUT_libarchive
#include <archive.h>
#include <archive_entry.h>
#endif

enum { PIECE = 1 << 16, HEADER = 512, CHECKSUM = 148 };

#ifndef PD_WITHOUT_libarchive

static la_ssize_t pull_from_member(struct archive *a, void *ctx, const void **bytes)
{
	struct pd_read_source *s = ctx;
	struct pd_read_member *m = &s->member;
	pd_read_member_skip(m, s->tar.given);
	s->tar.given = 0;
	for (;;) {
		struct pd_span piece = pd_read_member_peek(m, 1);
		if (piece.n) {
			*bytes = piece.p;
			s->tar.given = piece.n;
			return (la_ssize_t)piece.n;
		}
		int r = m->state == PD_MEMBER_BROKEN ? PD_ERR_INPUT : pd_read_member_next(m);
		if (r == 1)
			continue;
		s->tar.stopped = r < 0 ? m->reason : NULL;
		return 0;
	}
}

void pd_read_tar_close(struct pd_read_tar *t)
{
	archive_read_free(t->archive);
	t->archive = NULL;
	t->given = 0;
	t->begin = 0;
	t->ended = false;
	t->stopped = NULL;
	t->lost = false;
	pd_map_release(&t->names);
}

void pd_read_tar_open(struct pd_read_source *s)
{
	struct pd_read_tar *t = &s->tar;
	pd_read_tar_close(t);
	s->kind = PD_SOURCE_TAR;
	t->archive = PD_RETRY(archive_read_new());
	archive_read_support_format_tar(t->archive);
	t->done = archive_read_open(t->archive, s, NULL, pull_from_member, NULL) != ARCHIVE_OK;
}

static int report(struct pd_read_source *s, const char *reason)
{
	struct pd_read_tar *t = &s->tar;
	const char *more = t->stopped ? t->stopped : archive_error_string(t->archive);
	int64_t at = archive_read_header_position(t->archive);
	pd_buf_set(&s->reason, pd_span_z(reason));
	if (more)
		pd_buf_printf(&s->reason, ": %s", more);
	pd_read_source_damage(s, (struct pd_read_place){ at > 0 ? (uint64_t)at : t->begin, pd_read_member_packed(&s->member) },
			      s->reason.p);
	return PD_ERR_INPUT;
}

const char *pd_read_entry_path(struct archive_entry *entry)
{
	const char *path = archive_entry_pathname_utf8(entry);
	return path ? path : archive_entry_pathname(entry);
}

static int read_file(struct pd_read_source *s, struct archive_entry *entry, const char *path, struct pd_record *out)
{
	struct pd_read_tar *t = &s->tar;
	int64_t size = archive_entry_size(entry);
	pd_record_clear(out);
	t->begin = (uint64_t)archive_read_header_position(t->archive);
	t->ended = false;
	out->kind = PD_RECORD_PAYLOAD;
	out->html_only = !s->all_text;
	out->length = size > 0 ? (uint64_t)size : 0;
	pd_buf_printf(&out->id, "%s!", s->label);
	size_t label = out->id.n;
	pd_buf_add_z(&out->id, path);
	while (!pd_map_add(&t->names, pd_map_key(pd_span(out->id.p + label, out->id.n - label))))
		pd_buf_printf(&out->id, "!%lld", (long long)t->begin);
	pd_read_source_set_url(s, path, out);
	size_t most = s->wants && !s->wants(s->wants_ctx, pd_buf_span(&out->id)) ? 0 : s->max_block;
	while (out->block.n < most && out->block.n < out->length) {
		size_t room = most - out->block.n;
		char *at = pd_buf_reserve(&out->block, room < PIECE ? room : PIECE);
		la_ssize_t n = archive_read_data(t->archive, at, room < PIECE ? room : PIECE);
		if (n < 0) {
			t->done = true;
			return report(s, "tar archive cut or damaged");
		}
		if (!n)
			break;
		out->block.n += (size_t)n;
		out->block.p[out->block.n] = 0;
	}
	out->cut = out->block.n < out->length;
	return 1;
}

int pd_read_tar_next(struct pd_read_source *s, struct pd_record *out)
{
	struct pd_read_tar *t = &s->tar;
	struct archive_entry *entry;
	while (!t->done) {
		int status = archive_read_next_header(t->archive, &entry);
		/* The end of the last file is the start of the next entry of any kind; if the archive is cut before that, the
		 * end of the data. */
		int64_t at = archive_read_header_position(t->archive);
		if (!t->ended)
			t->end = at > 0 && (uint64_t)at > t->begin ? (uint64_t)at : UINT64_MAX;
		t->ended = true;
		if (status == ARCHIVE_RETRY) { /* a position without a header */
			bool reported = t->lost;
			t->lost = true;
			if (!reported)
				return report(s, "damaged tar header");
			continue;
		}
		if (status != ARCHIVE_OK && status != ARCHIVE_WARN) {
			t->done = true;
			return status == ARCHIVE_EOF && !t->stopped ? 0 : report(s, "tar archive cut or damaged");
		}
		t->lost = false;
		const char *path = pd_read_entry_path(entry);
		if (path && archive_entry_filetype(entry) == AE_IFREG && !archive_entry_hardlink(entry))
			return read_file(s, entry, path, out);
	}
	return 0;
}

#else

void pd_read_tar_close(struct pd_read_tar *t)
{
	t->begin = 0;
}

void pd_read_tar_open(struct pd_read_source *s)
{
	pd_read_tar_close(&s->tar);
	s->kind = PD_SOURCE_TAR;
	s->tar.done = false;
}

int pd_read_tar_next(struct pd_read_source *s, struct pd_record *out)
{
	if (s->tar.done)
		return 0;
	s->tar.done = true;
	pd_read_source_damage(s, (struct pd_read_place){ 0, pd_read_member_packed(&s->member) },
			      "a tar archive, and this program was built without libarchive; unpack it and give the folder");
	return PD_ERR_INPUT;
}

#endif

bool pd_read_is_tar(struct pd_span head)
{
	int64_t sum = 0, sum_signed = 0, said = 0;
	int i = CHECKSUM;
	if (head.n < HEADER || !head.p[0])
		return false;
	for (int k = 0; k < HEADER; k++) {
		bool own = k >= CHECKSUM && k < CHECKSUM + 8;
		sum += own ? ' ' : (unsigned char)head.p[k];
		sum_signed += own ? ' ' : (signed char)head.p[k];
	}
	while (i < CHECKSUM + 7 && head.p[i] == ' ')
		i++;
	for (; i < CHECKSUM + 8 && head.p[i] >= '0' && head.p[i] <= '7'; i++)
		said = said * 8 + (head.p[i] - '0');
	return said && (said == sum || said == sum_signed);
}
