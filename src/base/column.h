/* SPDX-License-Identifier: MIT
 *
 * Rows as columns in memory, in the layout of Apache Arrow.  Input: values, or the fields of a line (base/escape.h).
 * Output: arrays, or the same fields again.  A column of a certain name has the same type in all kinds of rows.
 */
#ifndef PD_BASE_COLUMN_H
#define PD_BASE_COLUMN_H

#include "base/buf.h"

enum pd_column_type {
	PD_COLUMN_NUMBER = 1, /* uint64_t each */
	PD_COLUMN_REAL,	      /* double each */
	PD_COLUMN_TEXT,	      /* bytes from offsets[i] to offsets[i + 1] */
	PD_COLUMN_BYTES,      /* `width` bytes each */
};

/* The type of a value in a line. */
enum pd_column_print { PD_PRINT_TEXT, PD_PRINT_HEX, PD_PRINT_NUMBER, PD_PRINT_REAL_2, PD_PRINT_REAL_3, PD_PRINT_REAL };

struct pd_column_kind {
	enum pd_column_type type;
	enum pd_column_print print;
};

/* Return the type of the column with this name; a caller that knows that a fingerprint has 64 bits makes it a
 * number. */
struct pd_column_kind pd_column_kind(const char *name);

struct pd_column {
	struct pd_buf name, data, offsets, valid; /* valid: a bit for each row, lowest first */
	enum pd_column_type type;
	int width;
	enum pd_column_print print;
	uint64_t n, nulls;
	bool in_rows; /* of the library's tables: it is a column of their rows as text */
};

void pd_column_init(struct pd_column *c, const char *name, enum pd_column_type type, int width, enum pd_column_print print);
void pd_column_clear(struct pd_column *c); /* of its rows */
void pd_column_release(struct pd_column *c);

void pd_column_put_null(struct pd_column *c);
void pd_column_put_number(struct pd_column *c, uint64_t v);
void pd_column_put_real(struct pd_column *c, double v);
void pd_column_put_text(struct pd_column *c, struct pd_span text);
void pd_column_put_bytes(struct pd_column *c, const char *bytes);
/* Parse a value of a line; PD_ERR_FORMAT: it does not have the type of this column. */
int pd_column_put_field(struct pd_column *c, struct pd_span field, struct pd_buf *scratch);

bool pd_column_has(const struct pd_column *c, uint64_t row);
/* Append the value of a row in the form of a line. */
void pd_column_print(const struct pd_column *c, uint64_t row, struct pd_buf *out);
/* A number or a real of 8 bytes, printed so. */
void pd_column_print_number(enum pd_column_print print, const void *value, struct pd_buf *out);

#endif
