/* SPDX-License-Identifier: MIT
 *
 * Rows: what a stage made, as a line of text.  Each kind has a file of its own.
 */
#ifndef PD_WRITE_WRITE_H
#define PD_WRITE_WRITE_H

#include "base/fields.h"
#include "base/json.h"
#include "group/group.h"
#include "group/score.h"
#include "match/match.h"
#include "pipeline.h"
#include "sign/sign.h"
#include "store/judge.h"

/* `--format=jsonl`: a finished TSV row (docs/format-rows.md) -> one JSON object on a line, for other tools.  Made from
 * the row itself, so that both forms say the same and every kind of row goes the same way. */

enum pd_write_row_format { PD_ROWS_TSV, PD_ROWS_JSONL };
extern const char *const pd_write_row_format_names[];	/* NULL at the end */

/* The row that stands in `out` from `at` on, with its newline, becomes an object with its newline.  `columns` names its
 * fields, NULL at the end; `j` comes empty and is left so. */
void pd_write_jsonl_row(struct pd_json *j, const char *const *columns, struct pd_buf *out, size_t at);

/* What a page became -> one line: a row of fp (docs/format-rows.md), or its main text with what the page says of itself, as a
 * JSON object. */

/* The two header lines. */
void pd_write_fp_header(const struct pd_tables *t, struct pd_buf *out);
/* The columns of the rows that these tables make, NULL at the end: room for PD_WRITE_FP_COLUMNS. */
#define PD_WRITE_FP_COLUMNS (PD_FP_COLUMNS + PD_METHODS_MAX + 1)
void pd_write_fp_columns(const struct pd_tables *t, const char *out[]);
/* One row with its newline. */
void pd_write_fp_row(struct pd_pipeline *p, const char *params, struct pd_buf *out);
/* How the charset was decided and what is doubtful: "charset-meta,fallback,…"; replaces what `out` held. */
struct pd_span pd_write_page_flags(const struct pd_pipeline *p, struct pd_buf *out);

/* link rows (docs/format-rows.md): a page's links, a line each. */
void pd_write_link_header(const struct pd_tables *t, struct pd_buf *out);
void pd_write_link_rows(struct pd_pipeline *p, struct pd_buf *out);

/* id, url, title, timestamp, text, keywords, description, anchor_text; null where there is nothing. */
void pd_write_text_row(struct pd_pipeline *p, struct pd_json *j, struct pd_buf *out);

/* pairs rows (docs/format-rows.md): two rows that match -> one line. */

/* The two header lines: what the fingerprints were made with, and how they were matched. */
void pd_write_pairs_header(const struct pd_rows *rows, const struct pd_match_options *o, struct pd_buf *out);
/* Rows with their newlines. */
void pd_write_pair_rows(const struct pd_rows *rows, const struct pd_match_pair *pairs, size_t n, struct pd_buf *out);
/* A line that who wants pairs takes for a remark: two pages that look alike and are no pair, and why; `j`: an object. */
void pd_write_suspect_line(const struct pd_rows *rows, const struct pd_doubt *doubt, struct pd_json *j, struct pd_buf *out);
/* What several methods found: one row, with the columns of pd_pairs_methods_columns. */
void pd_write_methods_pair_row(const struct pd_rows *rows, const struct pd_match_methods_pair *pair, struct pd_buf *out);

/* verdicts rows (docs/format-rows.md): a member of a cluster -> one line, with its reason in words. */

int pd_write_verdicts_header(const struct pd_group *g, struct pd_buf *out, struct pd_err *e);
void pd_write_verdict_row(struct pd_group *g, const struct pd_group_member *m, struct pd_buf *out);

/* What `store` writes.  Answers (docs/format-rows.md): what a store says of a page -> a line, and one more for each page
 * that it replaced.  What is known of a store itself: a line each.  `out` is appended to; j: NULL for a table, else JSON. */

void pd_write_answers_header(const struct pd_store *s, const struct pd_store_judge_options *o, struct pd_buf *out);
void pd_write_answers(const struct pd_store_answer *a, struct pd_json *j, struct pd_buf *out);

void pd_write_store_info(const struct pd_store *s, const struct pd_store_size *size, struct pd_json *j, struct pd_buf *out);
/* The header of fp rows that come out of the store. */
/* The columns of exported rows, NULL at the end. */
void pd_write_store_columns(const struct pd_store *s, const char *columns[PD_WRITE_FP_COLUMNS]);
void pd_write_store_header(const struct pd_store *s, struct pd_buf *out);

extern const char *const pd_store_on_duplicate_names[], *const pd_store_same_url_names[];	/* NULL at the end */

/* What eval and sweep found, as a table for people, as rows, or as JSON Lines (docs/eval.md). */

enum pd_write_eval_format { PD_EVAL_TEXT, PD_EVAL_TSV, PD_EVAL_JSONL };
extern const char *const pd_write_eval_formats[], *const pd_write_eval_columns[];	/* NULL at the end */

void pd_write_eval(const struct pd_score *s, enum pd_write_eval_format format, int samples, uint64_t seed, struct pd_buf *out);

/* A row for each setting and each k; the table shows F1.  `sign[i]`: what setting i is. */
extern const char *const pd_write_sweep_columns[];	/* NULL at the end */
void pd_write_sweep(const struct pd_sweep *s, const struct pd_sign_options *sign, enum pd_write_eval_format format, struct pd_buf *out);

#endif
