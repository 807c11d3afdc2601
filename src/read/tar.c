/* SPDX-License-Identifier: MIT
 * The only place that includes libarchive, which is given the bytes of our own members: so what is compressed, how it
 * breaks and what it may cost is the same as for every other input. */
#include "read/tar.h"

#include <archive.h>
#include <archive_entry.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/hash.h"

enum { PIECE = 1 << 16, HEADER = 512, CHECKSUM = 148 };

static la_ssize_t pull(struct archive *a, void *ctx, const void **bytes)
{
	struct pd_read_tar *t = ctx;
	pd_read_member_skip(t->m, t->given);
	t->given = 0;
	for (;;) {
		struct pd_span s = pd_read_member_peek(t->m, 1);
		if (s.n) {
			*bytes = s.p;
			t->given = s.n;
			return (la_ssize_t)s.n;
		}
		int r = t->m->state == PD_MEMBER_BROKEN ? PD_ERR_INPUT : pd_read_member_next(t->m);
		if (r == 1)
			continue;
		t->stopped = r < 0 ? t->m->reason : NULL;
		return 0;
	}
}

void pd_read_tar_open(struct pd_read_tar *t, struct pd_read_member *m, size_t max_block)
{
	pd_read_tar_close(t);
	t->m = m;
	t->max_block = max_block;
	t->archive = pd_have(archive_read_new());
	archive_read_support_format_tar(t->archive);
	t->done = archive_read_open(t->archive, t, NULL, pull, NULL) != ARCHIVE_OK;
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
	pd_buf_clear(&t->reason);
}

void pd_read_tar_release(struct pd_read_tar *t)
{
	pd_read_tar_close(t);
	pd_buf_release(&t->name);
	pd_buf_release(&t->reason);
}

static int damage(struct pd_read_tar *t, const char *reason)
{
	const char *more = t->stopped ? t->stopped : archive_error_string(t->archive);
	int64_t at = archive_read_header_position(t->archive);
	pd_buf_clear(&t->reason);
	pd_buf_add_z(&t->reason, reason);
	if (more)
		pd_buf_printf(&t->reason, ": %s", more);
	t->place = (struct pd_read_place){ at > 0 ? (uint64_t)at : t->begin, pd_read_member_packed(t->m) };
	return PD_ERR_INPUT;
}

/* Names are bytes; only those that a pax header gives in UTF-8 have to be asked for in UTF-8. */
static const char *path_of(struct archive_entry *entry)
{
	const char *path = archive_entry_pathname_utf8(entry);
	return path ? path : archive_entry_pathname(entry);
}

static void set_name(struct pd_read_tar *t, const char *path)
{
	pd_buf_clear(&t->name);
	pd_buf_add_z(&t->name, path);
	while (!pd_map_add(&t->names, pd_hash64(t->name.p, t->name.n)))
		pd_buf_printf(&t->name, "!%lld", (long long)archive_read_header_position(t->archive));
}

static int read_block(struct pd_read_tar *t, struct pd_record *out)
{
	while (out->block.n < t->max_block && out->block.n < out->length) {
		size_t room = t->max_block - out->block.n;
		char *at = pd_buf_reserve(&out->block, room < PIECE ? room : PIECE);
		la_ssize_t n = archive_read_data(t->archive, at, room < PIECE ? room : PIECE);
		if (n < 0) {
			t->done = true;
			return damage(t, "tar archive cut or damaged");
		}
		if (!n)
			break;
		out->block.n += (size_t)n;
		out->block.p[out->block.n] = 0;
	}
	out->cut = out->block.n < out->length;
	return 1;
}

static int read_file(struct pd_read_tar *t, struct archive_entry *entry, const char *path, struct pd_record *out)
{
	int64_t size = archive_entry_size(entry);
	pd_record_clear(out);
	t->begin = (uint64_t)archive_read_header_position(t->archive);
	t->ended = false;
	out->kind = PD_RECORD_PAYLOAD;
	pd_buf_add_z(&out->url, path);
	set_name(t, path);
	out->length = size > 0 ? (uint64_t)size : 0;
	return read_block(t, out);
}

/* No entry: the end, or a place that is no header. */
static int no_entry(struct pd_read_tar *t, int status)
{
	if (status == ARCHIVE_RETRY) {
		bool told = t->lost;
		t->lost = true;
		return told ? 1 : damage(t, "damaged tar header");
	}
	t->done = true;
	return status == ARCHIVE_EOF && !t->stopped ? 0 : damage(t, "tar archive cut or damaged");
}

/* The file given last ends where the next entry begins, be it a file or not; where the archive is cut before that, with
 * all that is left. */
static void note_end(struct pd_read_tar *t)
{
	int64_t at = archive_read_header_position(t->archive);
	if (!t->ended)
		t->end = at > 0 && (uint64_t)at > t->begin ? (uint64_t)at : UINT64_MAX;
	t->ended = true;
}

int pd_read_tar_next(struct pd_read_tar *t, struct pd_record *out)
{
	struct archive_entry *entry;
	while (!t->done) {
		int status = archive_read_next_header(t->archive, &entry);
		note_end(t);
		if (status != ARCHIVE_OK && status != ARCHIVE_WARN) {
			int r = no_entry(t, status);
			if (r <= 0)
				return r;
			continue;
		}
		t->lost = false;
		const char *path = path_of(entry);
		if (path && archive_entry_filetype(entry) == AE_IFREG && !archive_entry_hardlink(entry))
			return read_file(t, entry, path, out);
	}
	return 0;
}

/* The checksum is that of the header with spaces in its own place, in octal; some wrote it over signed characters. */
bool pd_read_tar_looks(struct pd_span head)
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
