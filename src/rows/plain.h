/* SPDX-License-Identifier: MIT
 *
 * Rows of text files, parsed by threads, piece by piece, where they are plain: rows like those before.  What is not plain (headers,
 * remarks, rows that cannot be read) is left to who reads line after line.
 */
#ifndef PD_ROWS_PLAIN_H
#define PD_ROWS_PLAIN_H

#include "base/fields.h"
#include "base/tsv.h"
#include "sign/sketch.h"

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
