/* SPDX-License-Identifier: MIT
 *
 * Bloom filters (B. H. Bloom, 1970): how large they must be, where a key's bits are, and how often one answers wrongly.  The bits
 * themselves belong to whoever keeps them.
 */
#ifndef PD_BASE_BLOOM_H
#define PD_BASE_BLOOM_H

#include "base/span.h"

enum { PD_BLOOM_HASHES_MAX = 32 };

/* Bits for so many keys and such a rate of false answers: -n ln P / (ln 2)^2, rounded up, at least 64. */
uint64_t pd_bloom_bits(uint64_t count, double error);
/* Bits of each key with which that rate is least. */
int pd_bloom_hashes(uint64_t bits, uint64_t count);
/* The rate with n different keys in it: (1 - e^(-k n / bits))^k. */
double pd_bloom_rate(uint64_t bits, int hashes, uint64_t n);
/* The places of a key's bits: a + i b modulo `bits`, a and b the halves of XXH3-128. */
void pd_bloom_places(struct pd_span key, uint64_t bits, int hashes, uint64_t out[PD_BLOOM_HASHES_MAX]);

#endif
