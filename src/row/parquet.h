/* SPDX-License-Identifier: MIT
 *
 * Rows in Parquet or Arrow's stream (docs/format-rows.md): convert lines of rows to columns and such a file to the
 * same lines, so that every stage that reads and writes lines also reads and writes columns.  The header lines and
 * the totals are metadata of the file.  The name of a column determines its type (row/columns.h), which is the same
 * as in the Python package's tables.  Pairs have one more column, `suspect`.
 */
#ifndef PD_ROW_PARQUET_H
#define PD_ROW_PARQUET_H

#include "base/err.h"
#include "base/file.h"
#include "base/parquet.h"
#include "base/span.h"

/* Lines of rows written to `o` from now on are stored as columns.  Refused for a terminal, and in a build without
 * the library. */
int pd_parquet_rows_output(struct pd_outfile *o, enum pd_parquet_form form, struct pd_err *e);

struct pd_parquet_rows_input;

/* `f` must be unread.  The caller still owns it, but only this reader uses it from now on; `name` is for messages.
 * *out NULL: it has neither format, and no byte of a pipe is lost.  PD_ERR_VERSION: it cannot be read. Parquet in a
 * pipe is copied to a temporary file first. */
int pd_parquet_rows_open(struct pd_parquet_rows_input **out, FILE *f, const char *name, struct pd_err *e);
/* Return the next line: first the header's lines, then one per row. 1; 0 at the end; PD_ERR_FORMAT with the reason if
 * rows cannot be read (reading may continue); PD_ERR_SYSTEM.  *row: the number of the first line's row, from 0. */
int pd_parquet_rows_next(struct pd_parquet_rows_input *in, struct pd_span *lines, uint64_t *row, struct pd_err *e);
void pd_parquet_rows_close(struct pd_parquet_rows_input *in);

#endif
