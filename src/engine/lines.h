/* SPDX-License-Identifier: MIT
 *
 * What tasks read: fp rows as anyone wrote them, and lines that other tasks wrote; and rows as tasks hand them on.
 */
#ifndef PD_ENGINE_LINES_H
#define PD_ENGINE_LINES_H

#include "base/fields.h"
#include "base/hash.h"
#include "base/tsv.h"
#include "engine/engine.h"
#include "engine/params.h"

/* --- a key, a tab, a value --- */

struct pd_engine_lines {
	struct pd_line_reader in;
	struct pd_span key, value;	/* of the last line */
	struct pd_buf group;		/* the key of the last group that began */
	bool begun, is_new;		/* is_new: the line begins a group */
};

/* The next line of standard input but for those that map tasks end with: 1, 0 at the end, negative. */
int pd_engine_lines_next(struct pd_engine_lines *l, struct pd_err *e);
void pd_engine_lines_release(struct pd_engine_lines *l);
/* A map task: the values of the lines whose keys are wanted, each after `prefix`, to standard output. */
int pd_engine_copy_values(bool (*wanted)(const struct pd_engine_params *p, struct pd_span key), const char *prefix,
			  const struct pd_engine_params *p, struct pd_err *e);

/* --- rows --- */

/* A row of fp, its columns as they stand. */
struct pd_engine_row {
	struct pd_span f[PD_FP_COLUMNS];
	bool has_print, has_digest, has_sketch;
	int bits;
	struct pd_key print;
	struct pd_sketch sketch;
};

struct pd_engine_rows {
	const struct pd_engine *task;
	const struct pd_engine_params *p;	/* NULL: any row will do */
	struct pd_tsv_reader in;
	struct pd_engine_row row;		/* the last one */
	uint64_t n, bad;
};

/* The next row of standard input: 1, 0 at the end, negative; PD_ERR_PARAMS: it is not of the job's parameters.  A row that cannot be
 * read is named, counted and passed over.  A header is left in `in` with new_header set, when `p` is NULL. */
int pd_engine_rows_next(struct pd_engine_rows *r, struct pd_err *e);
void pd_engine_rows_release(struct pd_engine_rows *r);
/* What the columns of a row hold, as far as the parameters tell. */
int pd_engine_row_check(struct pd_engine_row *row, const struct pd_engine_params *p, struct pd_err *e);
/* A row as pd_engine_row_add wrote it. */
int pd_engine_row_parse(struct pd_engine_row *row, struct pd_span line, const struct pd_engine_params *p, struct pd_err *e);
/* The columns that matching needs, in the order of fp, without a newline; a sketch of another kind than the job's is left out. */
void pd_engine_row_add(const struct pd_engine_row *row, struct pd_buf *out);
/* The rows of the task's batch; they are released in any case. */
int pd_engine_batch_read(const struct pd_engine *t, struct pd_rows *rows, struct pd_err *e);
/* What tells it from every other. */
int pd_engine_batch_digest(const struct pd_engine *t, uint64_t *digest, struct pd_err *e);

#endif
