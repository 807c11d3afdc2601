/* SPDX-License-Identifier: MIT
 *
 * All keys with all: the plan for few keys, and for a k so large that no block leaves anything out.
 */
#ifndef PD_JOIN_ALL_H
#define PD_JOIN_ALL_H

#include "base/items.h"
#include "join/join.h"

/* lists: as pd_blocks_join. */
void pd_all_join(const struct pd_keys *keys, struct pd_plan *plan, int threads, struct pd_items *lists);

#endif
