/* SPDX-License-Identifier: MIT
 *
 * The key file (`match --save`, pd_rows_save): rows that were read once, in a form that is faster to read
 * (docs/performance.md).  All data is in separate columns, little-endian, with a checksum for each;
 * docs/format-keys.md specifies it byte by byte.
 */
#ifndef PD_ROWS_KEYFILE_H
#define PD_ROWS_KEYFILE_H

#include "base/buf.h"
#include "base/err.h"

struct pd_unpacker;

#define PD_KEYFILE_MAGIC "\x89PDK\r\n\x1a\n"
#define PD_KEYFILE_VERSION 3 /* 1: rows of five columns; 2: rows without the content digest */
#define PD_KEYFILE_BLOCK 256 /* rows compressed together */

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "key files are written as they lie in memory: little-endian");

/* Columns of a row's line, with their escapes: id, url, fetch_time, text_bytes, quality, content_digest, terms,
 * confidence, languages, subject.  Rows of key files of version 1 have the first five, those of version 2 all except
 * content_digest. */
enum pd_row_field {
	PD_ROW_ID,
	PD_ROW_URL,
	PD_ROW_FETCH_TIME,
	PD_ROW_TEXT_BYTES,
	PD_ROW_QUALITY,
	PD_ROW_CONTENT_DIGEST,
	PD_ROW_TERMS,
	PD_ROW_CONFIDENCE,
	PD_ROW_LANGUAGES,
	PD_ROW_SUBJECT,
	PD_ROW_FIELDS
};

/* The fields of a row that pairs carry: its first fields. */
#define PD_ROW_VIEWED (PD_ROW_CONTENT_DIGEST + 1)

enum pd_keyfile_section {
	PD_KEYFILE_PARAMS,	/* text: "must …", "params …", "sketch …", "total …", a line each */
	PD_KEYFILE_PRINT_ROWS,	/* u32: rows with a fingerprint, ascending */
	PD_KEYFILE_PRINTS,	/* u64: their fingerprints */
	PD_KEYFILE_DIGEST_ROWS, /* u32: rows with a text digest alone */
	PD_KEYFILE_DIGESTS,	/* u64, two each */
	PD_KEYFILE_SKETCHED,	/* u8 by row: 1 when it has a sketch */
	PD_KEYFILE_SKETCHES,	/* u64: the words of the rows that have one */
	PD_KEYFILE_ROW_AT,	/* u64 by row, and the end: where its line begins in the rows' text */
	PD_KEYFILE_BLOCK_AT,	/* u64 by block, and the end: where its frame begins in the last section */
	PD_KEYFILE_ROWS,	/* zstd frames, one for each block of rows */
	PD_KEYFILE_SECTIONS
};

struct pd_keyfile_place {
	uint64_t offset, length, checksum;
};

struct pd_keyfile_header {
	char magic[8];
	uint32_t version, header_bytes;
	uint64_t file_bytes, rows, fingerprints, digests;
	uint32_t bits, sketch_words;
	struct pd_keyfile_place section[PD_KEYFILE_SECTIONS];
	uint64_t checksum; /* sum of all before it */
};

/* An opened file: mapped, every checksum found right, every number within its bounds. */
struct pd_keyfile {
	struct pd_keyfile_header h;
	const char *map;
	size_t map_bytes;
	bool is_file; /* that `map` is of */
	struct pd_span params;
	const uint32_t *print_row, *digest_row;
	const uint64_t *fingerprints, *digests, *sketches, *row_at, *block_at;
	const uint8_t *sketched;
};

/* Return whether a file begins like one.  False for a file that cannot be read, or read only once.  "-": standard
 * input, from which nothing is consumed. */
bool pd_keyfile_is(const char *path);
/* PD_ERR_FORMAT: damaged, and where; PD_ERR_VERSION: newer.  Standard input is copied into a temporary file first, unless
 * it is one. */
int pd_keyfile_open(struct pd_keyfile *k, const char *path, const char *tmp_dir, int threads, struct pd_err *e);
/* Open the bytes of a key file in memory, which the caller keeps.  PD_ERR_FORMAT: damaged, with the position;
 * PD_ERR_VERSION: newer. */
int pd_keyfile_check(struct pd_keyfile *k, struct pd_span bytes, const char *name, struct pd_err *e);
/* The identity of a key file: the checksum of its header, which contains those of its sections.  Nothing more is
 * read. */
int pd_keyfile_digest(const char *path, uint64_t *digest, struct pd_err *e);
/* The text of a block of rows; `out` is cleared. */
int pd_keyfile_block(const struct pd_keyfile *k, struct pd_unpacker *u, size_t block, const char *name, struct pd_buf *out,
		     struct pd_err *e);
/* The same, before any row was read; then the columns of one row: {NULL, 0} for columns that the file does not have. */
int pd_keyfile_unpack(const struct pd_keyfile *k, struct pd_unpacker *u, size_t block, const char *name, struct pd_buf *out,
		      struct pd_err *e);
int pd_keyfile_row(const struct pd_keyfile *k, const struct pd_buf *block, uint64_t row, const char *name,
		   struct pd_span f[PD_ROW_FIELDS], struct pd_err *e);
void pd_keyfile_close(struct pd_keyfile *k);

#endif
