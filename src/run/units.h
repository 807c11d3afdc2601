/* SPDX-License-Identifier: MIT
 *
 * Inputs -> units.  A unit is a sequence of files, large enough to take some time and small enough that a kill loses
 * little; or all files, if rows depend on other pages.  The rows of a unit are made in one step of a run.
 */
#ifndef PD_RUN_UNITS_H
#define PD_RUN_UNITS_H

#include "base/map.h"
#include "read/files.h"

struct pd_units {
	struct pd_read_files files;
	struct pd_arena arena;
	struct pd_map *state_of_file; /* the state of each file, by a hash of the path; 0: it cannot be read */
	bool whole;		      /* all inputs are one unit */
	/* the current unit */
	char **paths;
	struct pd_found *found; /* how each path was found */
	int n_paths;
	size_t cap_paths, cap_found;
	uint64_t identity; /* hash of the paths and of the states of the files, to notice a changed input */
};

int pd_units_open(struct pd_units *u, const struct pd_reader_options *o, struct pd_map *state_of_file, bool whole,
		  struct pd_err *e);
/* Return 1 and a unit, 0 at the end, or a negative status.  PD_ERR_USAGE: an input that can be read only once. */
int pd_units_next(struct pd_units *u, struct pd_err *e);
void pd_units_release(struct pd_units *u);

/* Hash of the size and time of a file, with a seed. */
uint64_t pd_unit_state(uint64_t seed, const struct stat *st);
/* … as in `state_of_file`. */
uint32_t pd_unit_short_state(const struct stat *st);

#endif
