/* SPDX-License-Identifier: MIT
 *
 * `--format=jsonl`: a finished TSV row (docs/format-rows.md) -> one JSON object on a line, for other tools.  Made from
 * the row itself, so that both forms say the same and every kind of row goes the same way.
 */
#ifndef PD_WRITE_JSONL_H
#define PD_WRITE_JSONL_H

#include "base/json.h"

enum pd_write_row_format { PD_ROWS_TSV, PD_ROWS_JSONL };
extern const char *const pd_write_row_format_names[];	/* NULL at the end */

/* The row that stands in `out` from `at` on, with its newline, becomes an object with its newline.  `columns` names its
 * fields, NULL at the end; `j` comes empty and is left so. */
void pd_write_jsonl_row(struct pd_json *j, const char *const *columns, struct pd_buf *out, size_t at);

#endif
