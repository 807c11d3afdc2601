/* SPDX-License-Identifier: MIT
 *
 * A value and how it stands in a line of rows: one that is empty as "-"; `\t \n \r \\` and `\xHH` (control bytes, bytes that are
 * not UTF-8, a value that is just "-") escaped.  Lines and their fields.
 */
#ifndef PD_BASE_ESCAPE_H
#define PD_BASE_ESCAPE_H

#include "base/buf.h"

/* One value, escaped; nothing becomes "-". */
void pd_tsv_add(struct pd_buf *line, struct pd_span value);
/* The value back; an escape that does not exist gives PD_ERR_FORMAT.  "-" gives nothing. */
int pd_tsv_value(struct pd_span field, struct pd_buf *out);
/* Splits a line at tabs; returns the number of fields (at most max). */
size_t pd_tsv_fields(struct pd_span line, struct pd_span *fields, size_t max);

#endif
