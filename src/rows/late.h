/* SPDX-License-Identifier: MIT
 *
 * Rows whose texts stay in their files until it is known which of them are in pairs: one row in ten, as a rule.  Keys are all that is
 * held of the others, and nothing of them is spooled.
 *
 * That is done where nothing but pairs needs a text: files that are there to be read again, rows in the order of their ids, no
 * sketch to verify by, no method, no scope.  Rows of text files are parsed by threads, piece by piece, where they are plain: rows like
 * those before, in order.  What is not plain (headers, remarks, rows that cannot be read) is left to who reads line after line.
 */
#ifndef PD_ROWS_LATE_H
#define PD_ROWS_LATE_H

#include <sys/stat.h>

#include "base/fields.h"
#include "base/memory.h"
#include "base/tsv.h"
#include "rows/keyfile.h"
#include "sign/sketch.h"

/* Offsets below 2^40, of five bytes each. */
struct pd_rows_offsets {
	uint32_t *low;
	uint8_t *high;
};

static inline uint64_t pd_rows_offset(const struct pd_rows_offsets *o, size_t i)
{
	return (uint64_t)o->high[i] << 32 | o->low[i];
}

/* Which column of a file is which, as struct pd_tsv_reader has it. */
struct pd_late_columns {
	size_t row;		/* from this one on */
	int n, order[PD_TSV_COLUMNS_MAX];
};

/* A file, and the rows that it has from `row` on. */
struct pd_late_file {
	const char *path;
	size_t row;
	struct pd_keyfile *keys;	/* NULL: text */
	struct stat st;			/* of text: it must not change meanwhile */
	struct pd_late_columns *columns;
	size_t n_columns, cap_columns;
};

struct pd_rows_late {
	struct pd_late_file *file;
	size_t n, cap;
	struct pd_rows_offsets at;	/* of a row's line in its file of text */
	struct pd_array low, high;
	struct pd_array there, before, text;	/* of struct pd_rows, and its spool */
};

struct pd_late_file *pd_late_file_add(struct pd_rows_late *l, const char *path, size_t row);
void pd_rows_late_free(struct pd_rows_late *l);

/* --- plain rows --- */

/* What plain rows have in common. */
struct pd_plain {
	const char *path;
	int fd;
	int column[PD_FP_COLUMNS];	/* in the file; -1: it has none */
	size_t least;			/* columns of a row */
	int bits;			/* of fingerprints */
	char params[16];
	struct pd_sketch_options sketch;	/* the kind that is counted; minima 0: none */
	bool no_verify;			/* sketches are counted, and rows with a text digest alone are plain */
};

/* Rows that begin in a stretch of the file, as they were parsed. */
struct pd_plain_piece {
	bool failed;			/* the file could not be read */
	bool plain;			/* else nothing of what follows but `from` and `to` is filled */
	uint64_t from, to;		/* bytes of the file: whole lines */
	size_t lines, rows, prints, digests;
	uint64_t sketched, others;	/* rows with a sketch of that kind, and of others */
	const uint64_t *print, *digest;	/* keys */
	const uint32_t *at;		/* by row: where it begins, from `from` on */
	const uint8_t *kind;		/* by row: PD_PLAIN_… */
	struct pd_span first, last;	/* ids */
};

enum { PD_PLAIN_NONE, PD_PLAIN_PRINT, PD_PLAIN_DIGEST };

/* A thread's memory. */
struct pd_plain_worker {
	const struct pd_plain *plain;
	uint64_t from, to;		/* lines that begin here are parsed */
	struct pd_buf text, print, digest, at, kind;
};

/* Parses and packs into `out`; pd_plain_unpack has what was packed, which stays in `out`. */
void pd_plain_parse(struct pd_plain_worker *w, struct pd_buf *out);
struct pd_plain_piece pd_plain_unpack(const struct pd_buf *out);
void pd_plain_worker_release(struct pd_plain_worker *w);
/* Bytes of a file; fewer only at its end.  False: errno says why. */
bool pd_plain_read(int fd, uint64_t from, uint64_t to, struct pd_buf *out);

#endif
