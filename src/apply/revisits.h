/* SPDX-License-Identifier: MIT
 *
 * Revisit records that stay although the page that they refer to is removed, in the same input or in another one of the
 * run: without it they show nothing.  In: what is removed, and every revisit that stays, in any order.  Out: the ids of
 * those revisits.  Memory: 16 to 32 bytes for what is removed; the revisits lie in a temporary file.
 */
#ifndef PD_APPLY_REVISITS_H
#define PD_APPLY_REVISITS_H

#include <stdio.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/map.h"

struct pd_apply_revisits {
	const char *tmp_dir;		/* set by the caller */
	struct pd_map removed;
	FILE *stay;
	struct pd_err err;		/* of writing them */
};

/* `id` and `original`: hashes by which associated.h knows records. */
void pd_apply_revisits_removed(struct pd_apply_revisits *r, uint64_t id);
void pd_apply_revisits_stays(struct pd_apply_revisits *r, uint64_t original, struct pd_span id);
/* All are known: `orphan` is called for each revisit whose original is removed, in the order in which they came. */
int pd_apply_revisits_end(struct pd_apply_revisits *r, void (*orphan)(void *ctx, const char *id), void *ctx, struct pd_err *e);
void pd_apply_revisits_release(struct pd_apply_revisits *r);

#endif
