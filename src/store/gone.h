/* SPDX-License-Identifier: MIT
 *
 * Numbers of pages that are gone though a segment still holds them: those of the file gone-N, sorted and mapped, and those
 * since then, from the log, in a hash set.
 *
 *	8 bytes magic, 4 version, 4 zero, 8 number of the file, 8 n; n numbers of 8 bytes, ascending; 8 checksum of all before
 */
#ifndef PD_STORE_GONE_H
#define PD_STORE_GONE_H

#include "store/io.h"
#include "store/layout.h"

#define PD_GONE_MAGIC "\x89PDGONE\n"
#define PD_GONE_HEAD 32

struct pd_gone {
	struct pd_io_map map;
	const uint64_t *old;
	size_t n_old;
	uint64_t *set;			/* number + 1; 0: free */
	size_t n_new, cap;
};

/* Takes over the map; checks all of it. */
int pd_gone_open(struct pd_gone *g, struct pd_io_map map, uint64_t file, const char *name, struct pd_err *e);
void pd_gone_release(struct pd_gone *g);
bool pd_gone_has(const struct pd_gone *g, uint64_t number);
void pd_gone_add(struct pd_gone *g, uint64_t number);
/* All of them, ascending, once; the caller frees. */
uint64_t *pd_gone_all(const struct pd_gone *g, size_t *n);
int pd_gone_write(struct pd_io *io, uint64_t file, const uint64_t *numbers, size_t n, struct pd_err *e);

#endif
