/* SPDX-License-Identifier: MIT
 *
 * The inputs of `dedup` in units: files one after the other, so many that a unit takes some time and so few that a kill
 * costs little; or all of them, where rows depend on the other pages.  A unit's rows are made in one go.
 *
 * In: what was typed.  Out: the paths of a unit, and a hash of those paths and of the sizes and times of the files, by
 * which a changed input is noticed.
 */
#ifndef PD_DEDUP_UNITS_H
#define PD_DEDUP_UNITS_H

#include "base/alloc.h"
#include "read/files.h"

struct pd_units {
	struct pd_read_files files;
	struct pd_arena arena;
	bool whole;		/* all inputs are one unit */
	/* of the unit at hand */
	char **paths;
	struct pd_found *found;	/* how each was come by */
	int n_paths;
	size_t cap_paths, cap_found;
	uint64_t identity;
};

int pd_units_open(struct pd_units *u, const struct pd_reader_options *o, bool whole, struct pd_err *e);
/* 1 a unit, 0 no more, negative.  PD_ERR_USAGE: an input that can be read only once. */
int pd_units_next(struct pd_units *u, struct pd_err *e);
void pd_units_release(struct pd_units *u);

#endif
