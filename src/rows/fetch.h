/* SPDX-License-Identifier: MIT
 *
 * Rows whose texts stayed in their files (rows/late.h), and which of them are in pairs -> the texts of those.
 */
#ifndef PD_ROWS_FETCH_H
#define PD_ROWS_FETCH_H

#include "rows/rows.h"

/* With rows->late: a bit for each row, 0, where whoever asks sets those of the rows that are needed; then their texts are fetched.  Fails
 * where a file was changed meanwhile, or a key file has what is no row. */
uint64_t *pd_rows_wanted(struct pd_rows *rows);
int pd_rows_fetch(struct pd_rows *rows, int threads, struct pd_err *e);

#endif
