/* SPDX-License-Identifier: MIT
 *
 * A zip archive -> the records of every file in it.  Each file is a separate input: a dump is read as outside an
 * archive, anything else is a page, as in tar.  A WACZ is such an archive: its dumps are in archive/, and its list of
 * pages is skipped.  In a file the archive's directory is used; from a pipe members are read in their order.
 *
 * A name that occurs twice gets the number of the member: PATH!NUMBER.
 */
#include "read/formats.h"

#include <stdlib.h>

#ifndef PD_WITHOUT_libarchive
#include <archive.h>
#include <archive_entry.h>

static la_ssize_t give(struct archive *a, void *ctx, const void **bytes)
{
	struct pd_read_zip *z = ctx;
	pd_read_input_skip(z->in, z->given);
	struct pd_span s = pd_read_input_peek(z->in, 1);
	*bytes = s.p;
	z->given = s.n;
	return (la_ssize_t)s.n;
}

static la_int64_t seek(struct archive *a, void *ctx, la_int64_t offset, int whence)
{
	struct pd_read_zip *z = ctx;
	uint64_t from = whence == SEEK_END ? z->in->size : whence == SEEK_CUR ? z->in->offset + z->given : 0;
	z->given = 0;
	if ((offset < 0 && (uint64_t)-offset > from) || pd_read_input_seek(z->in, from + (uint64_t)offset) < 0)
		return ARCHIVE_FATAL;
	return (la_int64_t)z->in->offset;
}

void pd_read_zip_close(struct pd_read_zip *z)
{
	if (z->open)
		z->nested->close(z->part);
	z->open = false;
	archive_read_free(z->archive);
	z->archive = NULL;
	z->given = 0;
	pd_map_release(&z->names);
}

void pd_read_zip_open(struct pd_read_source *s)
{
	struct pd_read_zip *z = &s->zip;
	pd_read_zip_close(z);
	s->kind = PD_SOURCE_ZIP;
	z->in = &s->in;
	z->number = 0;
	z->archive = PD_RETRY(archive_read_new());
	archive_read_support_format_zip_streamable(z->archive);
	if (s->in.regular) {
		archive_read_support_format_zip_seekable(z->archive);
		archive_read_set_seek_callback(z->archive, seek);
	}
	archive_read_set_read_callback(z->archive, give);
	archive_read_set_callback_data(z->archive, z);
	z->done = archive_read_open1(z->archive) != ARCHIVE_OK;
}

static void note_error(struct pd_read_zip *z, const char *what)
{
	const char *why = archive_error_string(z->archive);
	pd_buf_clear(&z->reason);
	pd_buf_printf(&z->reason, "%s%s%s", what, why ? ": " : "", why ? why : "");
}

/* As pd_read_input.pull.  A wrong checksum is reported with the last bytes. */
static size_t pull(void *ctx, char *to, size_t n)
{
	struct pd_read_zip *z = ctx;
	while (!z->left && !z->reason.n) {
		const void *piece;
		la_int64_t offset;
		size_t got = 0;
		int r = archive_read_data_block(z->archive, &piece, &got, &offset);
		if (r == ARCHIVE_EOF)
			return 0;
		if (r != ARCHIVE_OK) {
			note_error(z, "cannot be unpacked whole from the zip archive");
			if (z->part)
				z->part->in.broken = true;
		}
		z->piece = piece;
		z->left = r == ARCHIVE_OK || r == ARCHIVE_WARN ? got : 0;
	}
	n = n < z->left ? n : z->left;
	if (!n)
		return 0;
	memcpy(to, z->piece, n);
	z->piece += n;
	z->left -= n;
	return n;
}

/* Find the next file in the archive: 1; 0: the end, or nothing more can be read (then there is a reason). */
static int next_file(struct pd_read_zip *z)
{
	struct archive_entry *entry;
	pd_buf_clear(&z->reason);
	z->left = 0;
	while (!z->done) {
		int status = archive_read_next_header(z->archive, &entry);
		if (status != ARCHIVE_OK && status != ARCHIVE_WARN) {
			if (status != ARCHIVE_EOF)
				note_error(z, "zip archive cut or damaged; the rest of it is lost");
			z->done = true;
			return 0;
		}
		z->number++;
		const char *path = pd_read_entry_path(entry);
		if (!path || !*path || archive_entry_filetype(entry) != AE_IFREG)
			continue;
		pd_buf_set(&z->path, pd_span_z(path));
		return 1;
	}
	return 0;
}

int pd_read_zip_next_file(struct pd_read_source *s)
{
	struct pd_read_zip *z = &s->zip;
	if (!next_file(z))
		return 0;
	pd_buf_clear(&z->label);
	pd_buf_printf(&z->label, "%s!%s", s->label, z->path.p);
	if (!pd_map_add(&z->names, pd_map_key(pd_buf_span(&z->path))))
		pd_buf_printf(&z->label, "!%llu", (unsigned long long)z->number);
	return 1;
}

ptrdiff_t pd_read_zip_take(void *source, void *to, size_t n)
{
	return (ptrdiff_t)pull(&((struct pd_read_source *)source)->zip, to, n);
}

/* Open the next file of the archive as an input; return false if there is none. */
static bool open_part(struct pd_read_source *s)
{
	struct pd_read_zip *z = &s->zip;
	/* An id begins with the label of the file that contains the record. */
	do {
		if (!pd_read_zip_next_file(s))
			return false;
	} while ((s->wanted && strncmp(s->wanted, z->label.p, z->label.n) != 0) ||
		 pd_span_starts(pd_buf_span(&z->path), PD_READ_ZIP_ORIGINAL));
	if (!z->part) {
		struct pd_reader_options o = {
			.max_block = s->max_block, .all_text = s->all_text, .twice = s->twice, .fields = s->fields
		};
		z->part = pd_alloc(sizeof *z->part);
		z->nested->init(z->part, &o, s->sink);
		z->part->part = z->part->found = true;
	}
	struct pd_read_source *part = z->part;
	part->keep_headers = s->keep_headers;
	part->keep_blocks = s->keep_blocks;
	part->max_block = s->max_block;
	part->wanted = s->wanted;
	part->wants = s->wants;
	part->wants_ctx = s->wants_ctx;
	z->nested->open(part, pull, z, z->label.p, z->path.p);
	/* In folders, archives are books and programs more often than collections of pages, so only dumps in them are
	 * read. */
	part->done = s->found && part->kind != PD_SOURCE_DUMP;
	return z->open = true;
}

int pd_read_zip_next(struct pd_read_source *s, struct pd_record *out)
{
	struct pd_read_zip *z = &s->zip;
	for (;;) {
		if (!z->open && !open_part(s)) {
			if (z->reason.n && !s->in.error)
				pd_read_sink_tell_whole(s->sink, s->label, z->reason.p);
			return 0;
		}
		if (z->nested->next(z->part, out) == 1) {
			s->mirrored = z->part->mirrored;
			return 1;
		}
		z->nested->close(z->part);
		z->open = false;
		if (z->reason.n && !s->in.error)
			pd_read_sink_tell_whole(s->sink, z->label.p, z->reason.p);
	}
}

#else

void pd_read_zip_close(struct pd_read_zip *z)
{
}

int pd_read_zip_next_file(struct pd_read_source *s)
{
	return 0;
}

ptrdiff_t pd_read_zip_take(void *source, void *to, size_t n)
{
	return 0;
}

#endif

void pd_read_zip_release(struct pd_read_zip *z)
{
	pd_read_zip_close(z);
	if (z->part)
		z->nested->release(z->part);
	free(z->part);
	pd_buf_release(&z->path);
	pd_buf_release(&z->label);
	pd_buf_release(&z->reason);
}

bool pd_read_is_zip(struct pd_span head)
{
	return head.n >= 4 && (memcmp(head.p, "PK\3\4", 4) == 0 || memcmp(head.p, "PK\5\6", 4) == 0);
}
