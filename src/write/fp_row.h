/* SPDX-License-Identifier: MIT
 *
 * fp rows (docs/format-rows.md): what a page became -> one line.
 */
#ifndef PD_WRITE_FP_ROW_H
#define PD_WRITE_FP_ROW_H

#include "pipeline.h"

/* The two header lines. */
void pd_fp_header(const struct pd_tables *t, struct pd_buf *out);
/* One row with its newline. */
void pd_fp_row(struct pd_pipeline *p, const char *params, struct pd_buf *out);
/* How the charset was decided and what is doubtful: "charset-meta,fallback,…"; replaces what `out` held. */
struct pd_span pd_page_flags(const struct pd_pipeline *p, struct pd_buf *out);

#endif
