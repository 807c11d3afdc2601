/* SPDX-License-Identifier: MIT
 *
 * How often each 64-bit hash occurred: an open-addressing table that is emptied in no time (a slot belongs to the round
 * that wrote it), so that it can be used page after page.
 */
#ifndef PD_SIGN_TALLY_H
#define PD_SIGN_TALLY_H

#include "base/buf.h"

struct pd_tally_slot {
	uint64_t hash;
	uint32_t round;
	uint32_t count;
};

struct pd_tally {
	struct pd_tally_slot *slots;
	size_t cap, n;		/* cap is a power of two, n slots of this round */
	uint32_t round;
};

/* Room for `n` different hashes; everything is forgotten. */
void pd_tally_clear(struct pd_tally *t, size_t n);
void pd_tally_release(struct pd_tally *t);
/* Counts one more and returns how often it has occurred now. */
uint32_t pd_tally_add(struct pd_tally *t, uint64_t hash);
/* 0 when it never did. */
uint32_t pd_tally_get(const struct pd_tally *t, uint64_t hash);

#endif
