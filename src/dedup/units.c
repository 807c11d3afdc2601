/* SPDX-License-Identifier: MIT */
#include "dedup/units.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/hash.h"

enum { UNIT_BYTES = 64 << 20, UNIT_FILES = 4096 };

int pd_units_open(struct pd_units *u, const struct pd_reader_options *o, bool whole, struct pd_err *e)
{
	*u = (struct pd_units){ .whole = whole };
	return pd_read_files_open(&u->files, o, e);
}

void pd_units_release(struct pd_units *u)
{
	pd_read_files_release(&u->files);
	pd_arena_release(&u->arena);
	free(u->paths);
	free(u->found);
}

static void add(struct pd_units *u, const struct pd_read_file *f, const struct stat *st)
{
	int64_t facts[] = { (int64_t)u->identity, (int64_t)st->st_size, (int64_t)st->st_mtim.tv_sec, (int64_t)st->st_mtim.tv_nsec };
	u->identity = pd_hash64_seed(f->path, strlen(f->path), pd_hash64(facts, sizeof facts));
	u->paths = pd_grow(u->paths, (size_t)u->n_paths, &u->cap_paths, sizeof *u->paths);
	u->found = pd_grow(u->found, (size_t)u->n_paths, &u->cap_found, sizeof *u->found);
	u->found[u->n_paths] = (struct pd_found){ f->name, f->typed, f->found };
	u->paths[u->n_paths++] = (char *)pd_arena_copy(&u->arena, pd_span_z(f->path)).p;
}

/* What is not there, or may not be read, is a part of the unit, too: `fp` names and counts it.  What could not be told is
 * none: the journal would hold a size that no later run finds again. */
static int look_at(const struct pd_read_file *f, struct stat *st, struct pd_err *e)
{
	*st = (struct stat){ .st_mode = f->path ? S_IFREG : 0 };
	if (!f->path || stat(f->path, st) == 0 || errno == ENOENT || errno == ENOTDIR || errno == ELOOP || errno == EACCES)
		return PD_OK;
	return pd_fail_errno(e, "%s: cannot tell its size", f->label);
}

int pd_units_next(struct pd_units *u, struct pd_err *e)
{
	uint64_t bytes = 0;
	struct pd_read_file f;
	struct stat st;
	int r = 1;
	u->n_paths = 0;
	u->identity = 0;
	pd_arena_clear(&u->arena);
	while ((u->whole || (bytes < UNIT_BYTES && u->n_paths < UNIT_FILES)) && (r = pd_read_files_next(&u->files, &f, e)) == 1) {
		if (look_at(&f, &st, e))
			return PD_ERR_SYSTEM;
		if (!S_ISREG(st.st_mode))
			return pd_fail(e, PD_ERR_USAGE, "%s can be read only once, and dedup reads its inputs twice", f.label);
		add(u, &f, &st);
		bytes += (uint64_t)st.st_size;
	}
	return r < 0 ? r : u->n_paths > 0;
}
