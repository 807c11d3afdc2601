/* SPDX-License-Identifier: MIT
 *
 * What is known while rows come in, from fp rows (rows.c) and from key files (rows_keys.c).
 */
#ifndef PD_ROWS_INTAKE_H
#define PD_ROWS_INTAKE_H

#include "base/tsv.h"
#include "rows/rows.h"
#include "rows/sketches.h"

struct pd_row_intake {
	struct pd_rows *rows;
	const struct pd_rows_options *o;
	struct pd_tsv_reader in;
	FILE *spool;
	uint64_t spooled;
	uint8_t side;			/* of the files now read: PD_SIDE_A or PD_SIDE_B */
	const char *file;		/* which the last row came from */
	struct pd_sketch_intake sketches;
	struct pd_buf scratch, value, name, sketch;
	uint64_t content;		/* hash of the row's content digest; 0: not known */
};

/* The must-match parameters of a file: they must be those of the files before. */
int pd_intake_must(struct pd_row_intake *in, struct pd_span must, const char *path, struct pd_err *e);
int pd_intake_params(struct pd_row_intake *in, struct pd_span params, const char *where, uint64_t line, struct pd_err *e);
int pd_intake_bits(struct pd_row_intake *in, int bits, const char *where, uint64_t line, struct pd_err *e);
void pd_intake_print(struct pd_row_intake *in, const uint64_t *key);
void pd_intake_digest(struct pd_row_intake *in, const uint64_t *key);
/* The last part of a row: `line`, its columns and the newline, goes into the spool behind in->sketch and
 * in->content; `url` is as it
 * stands in a row. */
int pd_intake_line(struct pd_row_intake *in, struct pd_span line, struct pd_span url, struct pd_err *e);
/* All rows of a key file. */
int pd_intake_keyfile(struct pd_row_intake *in, const char *path, struct pd_err *e);

#endif
