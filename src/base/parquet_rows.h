/* SPDX-License-Identifier: MIT
 *
 * Rows in Parquet or Arrow's stream (docs/format-rows.md): lines of rows -> columns, and such a file -> the same lines.  So every stage
 * that reads and writes lines reads and writes columns.
 *
 * The header's lines and the totals are notes of the file; a column's name says its type (base/column.h), which are those of the Python
 * package's tables.  Pairs have a column more, `suspect`.
 */
#ifndef PD_BASE_PARQUET_ROWS_H
#define PD_BASE_PARQUET_ROWS_H

#include "base/err.h"
#include "base/file.h"
#include "base/parquet.h"
#include "base/span.h"

/* What is written to `o` from now on are lines of rows; the file holds columns.  Refuses a terminal's end, and where there is no
 * library. */
int pd_parquet_rows_output(struct pd_outfile *o, enum pd_parquet_form form, struct pd_err *e);

struct pd_parquet_rows_input;

/* `f`, of which nothing was read yet and from which nobody else reads now, stays the caller's; `name` is for messages.  *out NULL: it is of
 * neither form, and nothing was read that a pipe would lack.  PD_ERR_VERSION: of one that cannot be read.  Parquet in a pipe is put into a
 * temporary file first. */
int pd_parquet_rows_open(struct pd_parquet_rows_input **out, FILE *f, const char *name, struct pd_err *e);
/* Lines, those of the header first, then a line for each row: 1; 0 the end; PD_ERR_FORMAT: rows that cannot be had, and why; reading goes on
 * behind them.  PD_ERR_SYSTEM.  *row: the number of the first line's row, from 0. */
int pd_parquet_rows_next(struct pd_parquet_rows_input *in, struct pd_span *lines, uint64_t *row, struct pd_err *e);
void pd_parquet_rows_close(struct pd_parquet_rows_input *in);

#endif
