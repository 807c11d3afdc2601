/* SPDX-License-Identifier: MIT */
#include "run/units.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"

enum { UNIT_BYTES = 64 << 20, UNIT_FILES = 4096 };

uint64_t pd_unit_state(uint64_t seed, const struct stat *st)
{
	int64_t facts[] = { (int64_t)seed, (int64_t)st->st_size, (int64_t)st->st_mtim.tv_sec, (int64_t)st->st_mtim.tv_nsec };
	return pd_hash64(facts, sizeof facts);
}

uint32_t pd_unit_short_state(const struct stat *st)
{
	return (uint32_t)pd_unit_state(0, st) | 1;
}

int pd_units_open(struct pd_units *u, const struct pd_reader_options *o, struct pd_map *state_of_file, bool whole, struct pd_err *e)
{
	*u = (struct pd_units){ .state_of_file = state_of_file, .whole = whole };
	return pd_read_files_open(&u->files, o, e);
}

void pd_units_release(struct pd_units *u)
{
	pd_read_files_release(&u->files);
	pd_arena_release(&u->arena);
	free(u->paths);
	free(u->found);
}

int pd_units_next(struct pd_units *u, struct pd_err *e)
{
	uint64_t bytes = 0;
	struct pd_read_file f;
	int r = 1;
	u->n_paths = 0;
	u->identity = 0;
	pd_arena_clear(&u->arena);
	while ((u->whole || (bytes < UNIT_BYTES && u->n_paths < UNIT_FILES)) && (r = pd_read_files_next(&u->files, &f, e)) == 1) {
		/* A missing or unreadable file is also part of the unit: `fp` names and counts it.  A file in an unknown
		 * state is not: the journal would contain a size that no later run finds again. */
		struct stat st = { .st_mode = f.path ? S_IFREG : 0 };
		if (f.path && stat(f.path, &st) < 0 && !pd_errno_stays(errno))
			return pd_fail_errno(e, "%s: cannot find out its size", f.label);
		if (!S_ISREG(st.st_mode))
			return pd_fail(e, PD_ERR_USAGE,
				       "%s can be read only once, and dedup reads its inputs twice; copy it into a file first",
				       f.label);
		u->identity = pd_hash64_seed(f.path, strlen(f.path), pd_unit_state(u->identity, &st));
		*pd_map_put(u->state_of_file, pd_map_key(pd_span_z(f.path))) =
			access(f.path, R_OK) == 0 ? pd_unit_short_state(&st) : 0;
		u->paths = pd_grow(u->paths, (size_t)u->n_paths, &u->cap_paths, sizeof *u->paths);
		u->found = pd_grow(u->found, (size_t)u->n_paths, &u->cap_found, sizeof *u->found);
		u->found[u->n_paths] = (struct pd_found){ f.name, f.typed, f.found };
		u->paths[u->n_paths++] = (char *)pd_arena_copy(&u->arena, pd_span_z(f.path)).p;
		bytes += (uint64_t)st.st_size;
	}
	return r < 0 ? r : u->n_paths > 0;
}
