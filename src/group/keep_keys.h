/* SPDX-License-Identifier: MIT
 *
 * What a page is kept for, as a number: the smaller, the better.
 */
#ifndef PD_GROUP_KEEP_KEYS_H
#define PD_GROUP_KEEP_KEYS_H

#include "group/keep.h"

/* key[i] of page i, for what a row says of itself (not PD_KEEP_RANK). */
void pd_keep_keys(struct pd_pages *pages, enum pd_keep by, uint64_t *key);
/* RFC 3339 -> steps of 100 ns, later ones larger; 0: not such a time. */
uint64_t pd_time_key(struct pd_span time);
/* Digits, a point, a sign, an exponent, nothing else. */
bool pd_real_key(struct pd_span number, uint64_t *key);

#endif
