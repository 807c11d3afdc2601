/* SPDX-License-Identifier: MIT
 *
 * The form of a value in a line of rows: an empty value is "-"; `\t \n \r \\` and `\xHH` (control bytes, bytes that
 * are not UTF-8, a value that is just "-") are escapes.  Also lines and their fields.
 */
#ifndef PD_ROW_TSV_H
#define PD_ROW_TSV_H

#include "base/buf.h"

/* Return whether a field has a value. */
static inline bool pd_tsv_has(struct pd_span field)
{
	return field.n && !(field.n == 1 && field.p[0] == '-');
}

/* Append one value, escaped; an empty value becomes "-". */
void pd_tsv_add(struct pd_buf *line, struct pd_span value);
/* Append these columns of a line, which are escaped, with tabs between; one that is absent or empty becomes "-".
 * columns: NULL: the first n. */
void pd_tsv_join(struct pd_buf *line, const struct pd_span *fields, const int *columns, int n);
/* Decode a value; an unknown escape gives PD_ERR_FORMAT. "-" gives an empty value. */
int pd_tsv_value(struct pd_span field, struct pd_buf *out);
/* Splits a line at tabs; returns the number of fields (at most max). */
size_t pd_tsv_fields(struct pd_span line, struct pd_span *fields, size_t max);

/* Field n of a line, from 0; "-" if it has fewer. */
struct pd_span pd_tsv_field(struct pd_span line, int n);

#endif
