/* SPDX-License-Identifier: MIT
 *
 * Strings -> numbers 0, 1, 2 … in the order in which they were first added; each string stands once.  The strings lie in
 * memory until `release`.
 */
#ifndef PD_BASE_NAMES_H
#define PD_BASE_NAMES_H

#include "base/arena.h"
#include "base/map.h"

#define PD_NO_NAME PD_NO_NUMBER

struct pd_names {
	struct pd_span *v;	/* by number */
	size_t n, cap;
	struct pd_index index;
	struct pd_arena arena;
};

uint32_t pd_names_add(struct pd_names *names, struct pd_span s);
/* PD_NO_NAME when it was never added. */
uint32_t pd_names_find(const struct pd_names *names, struct pd_span s);
void pd_names_release(struct pd_names *names);

#endif
