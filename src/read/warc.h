/* SPDX-License-Identifier: MIT
 *
 * The header of a WARC record (ISO 28500: WARC/1.0, 1.1; 0.17 and 0.18 read alike); pd_read_format_warc is its format.
 */
#ifndef PD_READ_WARC_H
#define PD_READ_WARC_H

#include "read/dump.h"

/* Views into the window that it was read from. */
struct pd_read_warc_header {
	struct pd_span type, uri, date, digest, address, content_type, content_length;
};

/* The next named field of the header at *rest, which moves on: its name, and its value as it stands, folds and all. */
bool pd_read_warc_field(struct pd_span *rest, struct pd_span *name, struct pd_span *value);
void pd_read_warc_parse(struct pd_span header, struct pd_read_warc_header *out);
/* Kind, url, time, digest, address and type of the record. */
void pd_read_warc_fill(const struct pd_read_warc_header *h, struct pd_record *out);

#endif
