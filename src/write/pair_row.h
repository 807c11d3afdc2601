/* SPDX-License-Identifier: MIT
 *
 * pairs rows (docs/format-rows.md): two rows that match -> one line.
 */
#ifndef PD_WRITE_PAIR_ROW_H
#define PD_WRITE_PAIR_ROW_H

#include "match/methods.h"

/* The two header lines: what the fingerprints were made with, and how they were matched. */
void pd_write_pairs_header(const struct pd_rows *rows, const struct pd_match_options *o, struct pd_buf *out);
/* Rows with their newlines. */
void pd_write_pair_rows(const struct pd_rows *rows, const struct pd_match_pair *pairs, size_t n, struct pd_buf *out);
/* A line that who wants pairs takes for a remark: two pages that look alike and are no pair, and why. */
void pd_write_suspect_line(const struct pd_rows *rows, const struct pd_doubt *doubt, struct pd_buf *out);
/* What several methods found: one row, with the columns of pd_pairs_methods_columns. */
void pd_write_methods_pair_row(const struct pd_rows *rows, const struct pd_match_methods_pair *pair, struct pd_buf *out);

#endif
