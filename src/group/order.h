/* SPDX-License-Identifier: MIT
 *
 * Sorting millions of numbered things by 64-bit keys: radix sort, stable, linear.
 */
#ifndef PD_GROUP_ORDER_H
#define PD_GROUP_ORDER_H

#include <stddef.h>
#include <stdint.h>

/* 0 … n - 1, to begin with; to be freed. */
uint32_t *pd_order_new(size_t n);
/* `order` holds n numbers; afterwards those with smaller keys stand first, key[i] being that of number i.  Equal keys
 * keep the order they had. */
void pd_order_by(uint32_t *order, size_t n, const uint64_t *key);

/* Numbers whose order is that of unsigned integers: of doubles, of what is best when largest, of what is unknown. */
uint64_t pd_key_of_real(double v);
#define PD_KEY_LAST UINT64_MAX

#endif
