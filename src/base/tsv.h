/* SPDX-License-Identifier: MIT
 *
 * The files between stages: TSV, UTF-8, one record a line.
 *
 *	# pagededup fp 1 <must-match params, k=v …> | <recorded params, k=v …>
 *	#fingerprint<TAB>id<TAB>…
 *	rows
 *	# total pages=… …
 *
 * The parameter end=total in a header promises the last line: a table without it was cut.
 *
 * Values are escaped (base/escape.h).  docs/format-rows.md specifies all of it.
 */
#ifndef PD_BASE_TSV_H
#define PD_BASE_TSV_H

#include <stdio.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/escape.h"
#include "base/file.h"

#define PD_TSV_COLUMNS_MAX 64

/* Append the end of the message about a table without its last line. */
#define PD_CUT_TABLE "the table ends here, before its last line '# total': " PD_CUT_ROWS

/* A reader of such rows from several files, one after the other. */
struct pd_tsv_header {
	char kind[16]; /* fp, pairs, verdicts; "" when no header was seen */
	int version;
	struct pd_buf must;	/* the must-match parameters as written */
	struct pd_buf recorded; /* the others */
};

/* Rows that are not in a file: the caller returns their text, including header lines, piece by piece; an empty piece
 * is the end. */
struct pd_tsv_source {
	const char *name; /* a name in `paths`, this same pointer; for messages */
	struct pd_span (*more)(void *ctx);
	void *ctx;
};

struct pd_tsv_sources {
	const struct pd_tsv_source *v;
	int n;
};

/* NULL: `path` is a file's. */
const struct pd_tsv_source *pd_tsv_source_find(struct pd_tsv_sources s, const char *path);

struct pd_tsv_reader {
	/* set by the caller */
	const char *kind;    /* the kind that is expected */
	const char *or_kind; /* an acceptable alternative kind, or NULL */
	const char
		*or_else; /* appended to the message if a file contains no rows: the command that accepts such a file; NULL: none */
	const char *const *columns;    /* the requested columns, NULL at the end; their index is the index of `field` */
	const char *const *v1_columns; /* version 1's column order, NULL at the end, for rows without a header */
	const char *marked; /* comments "# WORD …<TAB>row" with this word are returned, too; NULL: skipped like other comments */
	char **paths;	    /* NULL or "-": stdin */
	int n_paths;
	struct pd_tsv_sources sources;
	bool parts; /* inputs may be parts of tables whose last line is in another part */
	/* filled by `next` */
	struct pd_tsv_header header;		   /* the last header seen */
	bool new_header;			   /* a header was read since the last call: read it, then set it false */
	struct pd_span mark;			   /* for a marked row the text after the word; {NULL, 0}: an ordinary row */
	struct pd_span line;			   /* the row unchanged, without its newline */
	struct pd_span fields[PD_TSV_COLUMNS_MAX]; /* the requested columns, escaped; {NULL, 0} if absent */
	struct pd_buf totals;			   /* "# total" lines, one after the other, without the prefix */
	const char *path;			   /* position of the row */
	uint64_t line_no;			   /* of columns the row, from 0 */
	uint64_t bytes;				   /* read so far */
	uint64_t cut; /* tables that ended before their last line; each was reported as PD_ERR_FORMAT */
	/* its own */
	FILE *f;
	struct pd_tsv_stream *stream; /* `f` is a source */
	struct pd_parquet_rows_input
		*columns_in; /* `f` has columns (base/parquet_rows.h); these are its remaining lines, with their first row */
	struct pd_span left;
	uint64_t left_row;
	struct pd_line_reader lines;
	bool end_due; /* the last header promised a line "# total", which has not come */
	int at;
	int order[PD_TSV_COLUMNS_MAX]; /* file column -> requested column, or -1 */
	int n_order, n_least;	       /* columns of the file; required columns */
	size_t n_columns;	       /* requested columns */
	bool names_known;	       /* this file named its columns, or its first row fitted version 1's */
};

/* Return 1 for a row, 0 at the end, a negative error that names file and line.  PD_ERR_FORMAT concerns one row, and
 * reading may continue; other errors are final. */
int pd_tsv_next(struct pd_tsv_reader *r, struct pd_err *e);
/* For callers that read lines themselves: start the file; parse a line without its newline: 1 a row, 0 none,
 * negative as above.  The caller updates `line_no` and `bytes` for lines that it does not pass on. */
void pd_tsv_begin(struct pd_tsv_reader *r, const char *path);
int pd_tsv_line(struct pd_tsv_reader *r, struct pd_span line, struct pd_err *e);
/* The file ends: 0, or PD_ERR_FORMAT if its table was cut. */
int pd_tsv_end(struct pd_tsv_reader *r, struct pd_err *e);
void pd_tsv_release(struct pd_tsv_reader *r);
/* Append ", 2 bad rows left out, 1 table cut": of `bad` reports of PD_ERR_FORMAT, `cut` concern tables. */
void pd_tsv_add_bad(uint64_t bad, uint64_t cut, struct pd_buf *out);

#endif
