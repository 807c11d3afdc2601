/* SPDX-License-Identifier: MIT
 *
 * Rows of `link --rank` (run/rank.h) -> signature and quality of each page, by its id as in rows.
 */
#ifndef PD_LINK_RANKS_H
#define PD_LINK_RANKS_H

#include "base/err.h"
#include "base/map.h"

struct pd_ranks {
	struct pd_map page; /* hash of the id -> 1 + number */
	float *signature, *quality;
	size_t n, cap[2];
};

int pd_ranks_read(struct pd_ranks *r, const char *path, struct pd_err *e);
void pd_ranks_release(struct pd_ranks *r);
/* Return false if the page has none. */
bool pd_ranks_find(const struct pd_ranks *r, struct pd_span id, double *signature, double *quality);

#endif
