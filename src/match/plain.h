/* SPDX-License-Identifier: MIT
 *
 * Rows of text files, parsed by threads in pieces, if they are plain: rows like the ones before.  Other lines
 * (headers, comments, unreadable rows) are left to the reader by lines.  Rows stay in the file, or are made in the
 * form of the spool (rows.h), by the same functions for both readers.
 */
#ifndef PD_MATCH_PLAIN_H
#define PD_MATCH_PLAIN_H

#include "row/tsv.h"
#include "row/columns.h"
#include "sign/sketch.h"

/* A row in the spool: the sketch, the hash of the content digest, a byte for the kind of the sketch; the columns,
 * beginning with the id; then, if there are any, the values of methods, and the newline.  A row is addressed by its
 * columns; the data before them is found from there. */
void pd_spooled_begin(struct pd_buf *out, const uint64_t *sketch, size_t words, struct pd_span content_digest, int kind);

/* The common properties of plain rows. */
struct pd_plain {
	const char *path;
	int fd;
	int column[PD_FP_COLUMNS]; /* index in the file; -1: it has none */
	size_t least;		   /* columns of a row */
	int bits;		   /* of fingerprints */
	char params[16];
	struct pd_sketch_options sketch; /* the kind that is compared or counted; minima 0: none */
	bool spooled;			 /* rows are made in the form of the spool; otherwise they stay in the file */
	int kind;			 /* of these sketches, as the spool names it */
	bool ascending;			 /* rows that do not come in the order of their ids are not plain, */
	bool prints_alone;		 /* nor rows with only a sketch or a text digest */
};

/* Rows that begin in a stretch of the file, as they were parsed. */
struct pd_plain_piece {
	bool failed;	   /* the file could not be read */
	bool plain;	   /* otherwise only `from` and `to` below are filled */
	bool ascends;	   /* ids, from row to row */
	uint64_t from, to; /* bytes of the file: complete lines */
	size_t lines, rows, fingerprints, digests;
	uint64_t sketched, others;	/* rows with a sketch of that kind, and of others */
	const uint64_t *print, *digest; /* keys */
	const uint32_t *at;		/* by row: where its columns begin, in the file from `from` on, or in `spooled` */
	const uint8_t *kind;		/* by row: PD_PLAIN_… */
	struct pd_span first, last;	/* ids */
	struct pd_span spooled;
};

enum { PD_PLAIN_NONE, PD_PLAIN_PRINT, PD_PLAIN_DIGEST };

/* A thread's memory. */
struct pd_plain_worker {
	const struct pd_plain *plain;
	uint64_t from, to; /* lines that begin here are parsed */
	struct pd_buf text, print, digest, at, kind;
	struct pd_buf *out; /* at work */
};

/* Parse and pack into `out` (`worker`: a struct pd_plain_worker); pd_plain_unpack returns the packed data, which stays in `out`. */
void pd_plain_parse(void *worker, struct pd_buf *out);
struct pd_plain_piece pd_plain_unpack(const struct pd_buf *out);
void pd_plain_worker_release(struct pd_plain_worker *w);
/* Read bytes of a file; fewer only at its end. False: errno has the reason. */
bool pd_plain_read(int fd, uint64_t from, uint64_t to, struct pd_buf *out);

#endif
