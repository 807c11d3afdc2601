/* SPDX-License-Identifier: MIT
 *
 * Tombstones: numbers of pages that were removed or replaced though a segment still holds them.  Those of the file gone-N
 * are sorted and mapped, those since then, from the log, lie in a set.
 *
 *	8 bytes magic, 4 version, 4 zero, 8 number of the file, 8 n; n numbers of 8 bytes, ascending; 8 checksum of all before
 */
#ifndef PD_STORE_TOMBSTONES_H
#define PD_STORE_TOMBSTONES_H

#include "base/map.h"
#include "store/io.h"
#include "store/layout.h"

#define PD_STORE_TOMBSTONES_MAGIC "\x89PDGONE\n"
#define PD_STORE_TOMBSTONES_HEAD 32

struct pd_store_tombstones {
	struct pd_store_io_map map;
	const uint64_t *old;
	size_t n_old;
	struct pd_map fresh;
};

/* Takes over the map; checks all of it. */
int pd_store_tombstones_open(struct pd_store_tombstones *t, struct pd_store_io_map map, uint64_t file, const char *name,
			     struct pd_err *e);
void pd_store_tombstones_release(struct pd_store_tombstones *t);
bool pd_store_tombstones_has(const struct pd_store_tombstones *t, uint64_t number);
void pd_store_tombstones_add(struct pd_store_tombstones *t, uint64_t number);
/* All of them, ascending, once; the caller frees. */
uint64_t *pd_store_tombstones_all(const struct pd_store_tombstones *t, size_t *n);
/* The file gone-N, durable but for its name in the folder. */
int pd_store_tombstones_write(struct pd_store_io *io, uint64_t file, const uint64_t *numbers, size_t n,
			      struct pd_err *e);

#endif
