/* SPDX-License-Identifier: MIT
 *
 * Sorting millions of numbered things by keys: radix sort, stable, linear.
 */
#ifndef PD_GROUP_ORDER_H
#define PD_GROUP_ORDER_H

#include <stddef.h>
#include <stdint.h>

/* Arrays are accessed in random order: data needed this many steps later is prefetched. */
#define PD_AHEAD 24

/* 0 … n - 1, to begin with; to be freed. */
uint32_t *pd_order_new(size_t n);
/* Sort: `order` holds n numbers, and key[i] is the key of number i; afterwards smaller keys come first.  Equal keys
 * keep their order. */
void pd_order_by(uint32_t *order, size_t n, const uint64_t *key);
/* The same by the bits of the keys that are in `mask`. */
void pd_order_by_bits(uint32_t *order, size_t n, const uint32_t *key, uint32_t mask);

#endif
