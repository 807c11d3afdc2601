/* SPDX-License-Identifier: MIT
 *
 * The sketches of fp rows.  In: the column, and the header that says what kind of sketch it holds.  Out: bytes before a
 * row's line in the spool, from where a second look at a pair takes them: they cost disk, not memory.
 *
 *	[words of the sketch, as they lie in memory][one byte: its kind, 0: none][the row's line ... \n]
 *	                                                                         ^ at[row]
 *
 * Only sketches of one kind are compared: that of most rows, then the larger, whatever the order of the files.  Rows
 * without a header are taken for the default kind.
 */
#ifndef PD_ROWS_SKETCHES_H
#define PD_ROWS_SKETCHES_H

#include "rows/rows.h"

#define PD_SKETCH_KINDS 16	/* more in one run: not compared */

struct pd_sketch_intake {
	struct pd_sketch_options kind[PD_SKETCH_KINDS];
	uint64_t rows[PD_SKETCH_KINDS];
	int n_kinds, current;		/* current: that of the rows now read, -1: one of another size or none known */
	uint64_t others;		/* sketches that fit no kind */
};

/* A file begins that has no header yet, or a header was read: `recorded` holds its recorded parameters. */
void pd_sketch_intake_file(struct pd_sketch_intake *in);
void pd_sketch_intake_header(struct pd_sketch_intake *in, struct pd_span recorded);
/* The bytes that go before the line.  False: not hexadecimal. */
bool pd_sketch_intake_row(struct pd_sketch_intake *in, struct pd_span column, struct pd_buf *out);
/* The same for words as they lie in memory (NULL: none).  False: not as many as the kind has. */
bool pd_sketch_intake_words(struct pd_sketch_intake *in, const uint64_t *words, uint32_t n_words, struct pd_buf *out);
/* Which kind is compared: fills rows->sketch, sketch_kind, sketched and other_sketches. */
void pd_sketch_intake_close(const struct pd_sketch_intake *in, struct pd_rows *rows);

#endif
