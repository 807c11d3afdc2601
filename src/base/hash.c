/* SPDX-License-Identifier: MIT
 * The only place that includes xxhash. */
#include <stdlib.h>
/* Inside this file, not behind a call into the library: most of what is hashed are words of a few bytes. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/hash.h"

uint64_t pd_hash64(const void *p, size_t n)
{
	return XXH3_64bits(p, n);
}

uint64_t pd_hash64_seed(const void *p, size_t n, uint64_t seed)
{
	return XXH3_64bits_withSeed(p, n, seed);
}

void pd_hash128(const void *p, size_t n, uint64_t seed, uint64_t w[2])
{
	XXH128_hash_t h = XXH3_128bits_withSeed(p, n, seed);
	w[0] = h.high64;
	w[1] = h.low64;
}

struct pd_hasher {
	XXH3_state_t *state;
};

struct pd_hasher *pd_hasher_new(void)
{
	struct pd_hasher *h = pd_zalloc(sizeof *h);
	h->state = pd_have(XXH3_createState());
	pd_hasher_clear(h);
	return h;
}

void pd_hasher_free(struct pd_hasher *h)
{
	if (h)
		XXH3_freeState(h->state);
	free(h);
}

void pd_hasher_clear(struct pd_hasher *h)
{
	XXH3_128bits_reset(h->state);
}

void pd_hasher_add(struct pd_hasher *h, const void *p, size_t n)
{
	XXH3_128bits_update(h->state, p, n);
}

void pd_hasher_end(struct pd_hasher *h, uint64_t w[2])
{
	XXH128_hash_t d = XXH3_128bits_digest(h->state);
	w[0] = d.high64;
	w[1] = d.low64;
}
