/* SPDX-License-Identifier: MIT
 *
 * Rows with keys -> groups of rows whose keys are equal (groups.h).  Equality is a join of its own: only one row of a group,
 * its first, goes on to pd_join, and the rest follow it.  Rows come numbered in the order of ids.
 */
#ifndef PD_MATCH_EQUAL_H
#define PD_MATCH_EQUAL_H

#include "base/err.h"
#include "match/groups.h"

/* Row i has the key keys[i * words] … of `words` words, 1 to PD_KEY_WORDS.  `out` is filled anew, its memory kept from
 * before is given back first.  The same for any number of threads and any budget (NULL: none).  PD_ERR_LIMIT: 2^31 rows or
 * more. */
int pd_equal_groups(const uint64_t *keys, int words, size_t n, int threads, struct pd_budget *budget, struct pd_groups *out,
		    struct pd_err *e);

#endif
