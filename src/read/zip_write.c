/* SPDX-License-Identifier: MIT */
#include "read/zip_write.h"

#include <errno.h>
#include <stdlib.h>

#include "base/alloc.h"

struct pd_zip_writer {
	struct archive *archive;
	struct archive_entry *entry;
	FILE *to;
	uint64_t size;
};

#ifndef PD_WITHOUT_libarchive
#include <archive.h>
#include <archive_entry.h>

static la_ssize_t write_bytes(struct archive *a, void *ctx, const void *bytes, size_t n)
{
	struct pd_zip_writer *w = ctx;
	errno = 0;
	if (fwrite(bytes, 1, n, w->to) != n) {
		archive_set_error(a, errno ? errno : EIO, "cannot write");
		return -1;
	}
	w->size += n;
	return (la_ssize_t)n;
}

static int fail(struct pd_zip_writer *w, struct pd_err *e)
{
	errno = archive_errno(w->archive);
	return pd_fail_errno(e, "cannot write the zip archive");
}

struct pd_zip_writer *pd_zip_writer_new(FILE *to)
{
	struct pd_zip_writer *w = pd_zalloc(sizeof *w);
	w->to = to;
	w->archive = PD_RETRY(archive_write_new());
	w->entry = PD_RETRY(archive_entry_new());
	archive_write_set_format_zip(w->archive);
	archive_write_set_bytes_per_block(w->archive, 0); /* so that `size` is exact */
	archive_write_open(w->archive, w, NULL, write_bytes, NULL);
	return w;
}

void pd_zip_writer_free(struct pd_zip_writer *w)
{
	if (!w)
		return;
	archive_entry_free(w->entry);
	archive_write_fail(w->archive);
	archive_write_free(w->archive);
	free(w);
}

int pd_zip_writer_begin(struct pd_zip_writer *w, const char *path, uint64_t size, bool deflate, struct pd_err *e)
{
	archive_entry_clear(w->entry);
	archive_entry_set_pathname(w->entry, path);
	archive_entry_set_filetype(w->entry, AE_IFREG);
	archive_entry_set_perm(w->entry, 0644);
	archive_entry_set_size(w->entry, (la_int64_t)size);
	int set = deflate ? archive_write_zip_set_compression_deflate(w->archive)
			  : archive_write_zip_set_compression_store(w->archive);
	return set == ARCHIVE_OK && archive_write_header(w->archive, w->entry) == ARCHIVE_OK ? PD_OK : fail(w, e);
}

int pd_zip_writer_add(struct pd_zip_writer *w, struct pd_span bytes, struct pd_err *e)
{
	return bytes.n && archive_write_data(w->archive, bytes.p, bytes.n) != (la_ssize_t)bytes.n ? fail(w, e) : PD_OK;
}

int pd_zip_writer_end(struct pd_zip_writer *w, struct pd_err *e)
{
	return archive_write_close(w->archive) == ARCHIVE_OK ? PD_OK : fail(w, e);
}

uint64_t pd_zip_writer_size(const struct pd_zip_writer *w)
{
	return w->size;
}

#else

/* Without libarchive a zip archive is not read, so none is written. */
struct pd_zip_writer *pd_zip_writer_new(FILE *to)
{
	return NULL;
}

void pd_zip_writer_free(struct pd_zip_writer *w)
{
}

int pd_zip_writer_begin(struct pd_zip_writer *w, const char *path, uint64_t size, bool deflate, struct pd_err *e)
{
	return pd_fail(e, PD_ERR_USAGE, "zip is not supported by this program");
}

int pd_zip_writer_add(struct pd_zip_writer *w, struct pd_span bytes, struct pd_err *e)
{
	return PD_ERR_USAGE;
}

int pd_zip_writer_end(struct pd_zip_writer *w, struct pd_err *e)
{
	return PD_ERR_USAGE;
}

uint64_t pd_zip_writer_size(const struct pd_zip_writer *w)
{
	return 0;
}

#endif
