/* SPDX-License-Identifier: MIT
 *
 * Rows: the result of a stage as a line of text: rows.c; rows as JSON: jsonl.c.
 */
#ifndef PD_WRITE_WRITE_H
#define PD_WRITE_WRITE_H

#include "base/fields.h"
#include "base/json.h"
#include "cluster/group.h"
#include "match/match.h"
#include "pipeline.h"
#include "sign/sign.h"
#include "store/judge.h"

/* `--format=jsonl`: a finished TSV row (docs/format-rows.md) -> one JSON object on a line, for other tools.  It is
 * made from the row, so that both forms agree for every kind of row. */

enum pd_write_row_format { PD_ROWS_TSV, PD_ROWS_JSONL, PD_ROWS_PARQUET, PD_ROWS_ARROW };
extern const char *const pd_write_row_format_names[]; /* NULL at the end */

/* For a format of columns: convert lines of TSV to columns while they are written to `o` (base/parquet_rows.h). */
int pd_write_as_columns(struct pd_outfile *o, int format, struct pd_err *e);

/* Convert the row in `out` from `at` on, with its newline, to an object with its newline.  `columns` names its
 * fields, NULL at the end; `j` is empty before and after. */
void pd_write_jsonl_row(struct pd_json *j, const char *const *columns, struct pd_buf *out, size_t at);

/* --- headers --- */

enum pd_write_kind {
	PD_WRITE_FP,
	PD_WRITE_LINK,
	PD_WRITE_TEXT,
	PD_WRITE_PAIRS,
	PD_WRITE_VERDICTS,
	PD_WRITE_ANSWERS,
	PD_WRITE_STORE
};

/* The contents of a header: the kind, and the parameters of that kind. */
struct pd_write_header {
	enum pd_write_kind kind;
	bool ends;				    /* it promises the line that pd_write_end adds */
	const struct pd_tables *tables;		    /* FP, LINK: parameters of the rows */
	const struct pd_rows *rows;		    /* PAIRS: parameters of the fingerprints, */
	const struct pd_match_options *match;	    /* and how they were matched */
	const struct pd_group *group;		    /* VERDICTS */
	const struct pd_store *store;		    /* ANSWERS; STORE: fp rows that come out of it */
	const struct pd_store_judge_options *judge; /* ANSWERS */
};

/* Append the two header lines (docs/format-rows.md); TEXT has none.  Fails only if a file that the header names by
 * its contents cannot be read. */
int pd_write_header(const struct pd_write_header *h, struct pd_buf *out, struct pd_err *e);

/* Append the last lines of a table whose header promised them: the totals of its inputs, or its own number of rows.
 * Nothing if an input was cut, so that its readers notice it, too. */
void pd_write_end(struct pd_span totals, bool cut, uint64_t rows, struct pd_buf *out);

/* --- rows, with their newlines, appended --- */

/* FP: a row; a JSON object with `j`, an object to fill.  LINK: a row for each link.  TEXT: one JSON object: id, url,
 * title, timestamp, text, keywords, description, anchor_text; missing values are null. */
void pd_write_page(struct pd_pipeline *p, enum pd_write_kind kind, struct pd_json *j, struct pd_buf *out);
/* The flags of the charset and of doubtful results: "charset-meta,fallback,…"; replaces the contents of `out`. */
struct pd_span pd_write_page_flags(const struct pd_pipeline *p, struct pd_buf *out);

void pd_write_pair_rows(const struct pd_rows *rows, const struct pd_match_pair *pairs, size_t n, struct pd_buf *out);
/* A pair found by several methods: one row, with the columns of pd_pairs_methods_columns. */
void pd_write_methods_pair_row(const struct pd_rows *rows, const struct pd_match_methods_pair *pair, struct pd_buf *out);
/* A suspect: a line that readers of pairs skip as a comment, with two similar pages that are not a pair, and the
 * reason; `j`: an object. */
void pd_write_suspect_line(const struct pd_rows *rows, const struct pd_doubt *doubt, struct pd_json *j, struct pd_buf *out);

/* A member of a cluster, with its reason in words. */
void pd_write_verdict_row(struct pd_group *g, const struct pd_group_member *m, struct pd_buf *out);

/* The answer of a store about a page: a row, and one more for each page that it replaced.  j: NULL for a table,
 * otherwise JSON. */
void pd_write_answers(const struct pd_store_answer *a, struct pd_json *j, struct pd_buf *out);
/* A kept page as the row of fp that it came from. */
void pd_write_store_page(const struct pd_store *s, const struct pd_store_page *page, struct pd_json *j, struct pd_buf *out);
/* Facts about a store: a line each. */
void pd_write_store_info(const struct pd_store *s, const struct pd_store_size *size, struct pd_json *j, struct pd_buf *out);

#endif
