/* SPDX-License-Identifier: MIT
 *
 * Lines of an index (CDXJ, or CDX with the columns offset and filename, as written by Common Crawl, pywb and this
 * program; plain or compressed) -> the positions of selected records, by file.  A line refers to a file if their paths,
 * or the last parts of them, are equal.  Memory: 16 bytes per line.
 */
#ifndef PD_READ_SELECT_H
#define PD_READ_SELECT_H

#include "read/source.h"

/* A line of an index: the position of a record, and its description.  Texts are valid during the call; empty: absent. */
struct pd_index_line {
	struct pd_span filename, url, time /* 14 digits */, mime, digest;
	uint64_t offset;
};

/* Call a function for each line with a position; others are reported to `sink` as damage.  PD_ERR_SYSTEM: the index cannot
 * be read, see errno. */
int pd_index_read(const char *path, void (*line)(void *ctx, const struct pd_index_line *line), void *ctx,
		  struct pd_read_sink *sink);

struct pd_select;

/* As pd_index_read. */
int pd_select_open(struct pd_select **out, const char *path, struct pd_read_sink *sink);
void pd_select_free(struct pd_select *s);
/* Return the offsets of an input's records, ascending, without duplicates; *n 0: it has none.  They are returned
 * once. */
const uint64_t *pd_select_of(struct pd_select *s, const char *label, size_t *n);
/* Return the number of records in files that were not requested. */
uint64_t pd_select_left(const struct pd_select *s);

#endif
