/* SPDX-License-Identifier: MIT
 *
 * Lines of an index (CDXJ, or CDX with the columns offset and filename, as Common Crawl, pywb and this program write them; plain
 * or compressed) -> the places of records that are wanted, by file.  A file is the one that a line names when the paths are the
 * same, or their last parts.  Memory: 16 bytes a line.
 */
#ifndef PD_READ_SELECT_H
#define PD_READ_SELECT_H

#include "read/source.h"

struct pd_select;

/* Lines that say nothing of a place are damage: of `sink`.  PD_ERR_SYSTEM: the index cannot be read, errno. */
int pd_select_open(struct pd_select **out, const char *path, struct pd_read_sink *sink);
void pd_select_free(struct pd_select *s);
/* Offsets of an input's records, ascending and each once; *n 0: it has none.  They are asked for once. */
const uint64_t *pd_select_of(struct pd_select *s, const char *label, size_t *n);
/* Records of files that were never asked for. */
uint64_t pd_select_left(const struct pd_select *s);

#endif
