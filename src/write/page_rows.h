/* SPDX-License-Identifier: MIT
 *
 * What a page became -> one line: a row of fp (docs/format-rows.md), or its main text with what the page says of itself, as a
 * JSON object.
 */
#ifndef PD_WRITE_PAGE_ROWS_H
#define PD_WRITE_PAGE_ROWS_H

#include "base/json.h"
#include "base/fields.h"
#include "pipeline.h"

/* The two header lines. */
void pd_write_fp_header(const struct pd_tables *t, struct pd_buf *out);
/* The columns of the rows that these tables make, NULL at the end: room for PD_WRITE_FP_COLUMNS. */
#define PD_WRITE_FP_COLUMNS (PD_FP_COLUMNS + PD_METHODS_MAX + 1)
void pd_write_fp_columns(const struct pd_tables *t, const char *out[]);
/* One row with its newline. */
void pd_write_fp_row(struct pd_pipeline *p, const char *params, struct pd_buf *out);
/* How the charset was decided and what is doubtful: "charset-meta,fallback,…"; replaces what `out` held. */
struct pd_span pd_write_page_flags(const struct pd_pipeline *p, struct pd_buf *out);

/* id, url, title, timestamp, text, keywords, description, anchor_text; null where there is nothing. */
void pd_write_text_row(struct pd_pipeline *p, struct pd_json *j, struct pd_buf *out);

#endif
