/* SPDX-License-Identifier: MIT
 *
 * Rows whose texts stay in their files until the pairs are known: usually one row in ten is in a pair.  For the
 * others only keys are stored, and nothing is spooled.  This is possible if only pairs need texts: the files can be
 * read again, rows are ordered by id, and there is no sketch to verify, no method and no scope.
 */
#ifndef PD_MATCH_LATE_H
#define PD_MATCH_LATE_H

#include <sys/stat.h>

#include "base/memory.h"
#include "row/table.h"
#include "match/keyfile.h"

/* Offsets below 2^40, of five bytes each. */
struct pd_rows_offsets {
	uint32_t *low;
	uint8_t *high;
};

static inline uint64_t pd_rows_offset(const struct pd_rows_offsets *o, size_t i)
{
	return (uint64_t)o->high[i] << 32 | o->low[i];
}

/* Which column of a file is which, as struct pd_table_reader has it. */
struct pd_late_columns {
	size_t row; /* from this one on */
	int n, order[PD_TABLE_COLUMNS_MAX];
};

/* A file, and the rows that it has from `row` on. */
struct pd_late_file {
	const char *path;
	size_t row;
	struct pd_keyfile *keys; /* NULL: text */
	struct stat st;		 /* of text: it must not change meanwhile */
	struct pd_late_columns *columns;
	size_t n_columns, cap_columns;
};

struct pd_rows_late {
	struct pd_late_file *file;
	size_t n, cap;
	struct pd_rows_offsets at; /* of a row's line in its file of text */
	struct pd_array low, high;
	struct pd_array there, before, text; /* of struct pd_rows, and its spool */
};

#endif
