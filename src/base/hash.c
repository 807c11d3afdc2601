/* SPDX-License-Identifier: MIT
 * The only place that includes xxhash. */
#include <stdlib.h>
/* Inside this file, not behind a call into the library: most of what is hashed are words of a few bytes. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/hash.h"
#include "base/hex.h"

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

void pd_key_hex(const struct pd_key *k, int bits, struct pd_buf *out)
{
	for (int w = 0; w < bits / 64; w++)
		pd_hex_add(out, k->w[w]);
}

bool pd_key_parse(struct pd_span hex, int *bits, struct pd_key *out)
{
	if (hex.n != 16 && hex.n != 32 && hex.n != 64)
		return false;
	*out = (struct pd_key){ { 0 } };
	for (size_t w = 0; w < hex.n / 16; w++)
		if (!pd_hex_u64(pd_span(hex.p + 16 * w, 16), &out->w[w]))
			return false;
	*bits = (int)hex.n * 4;
	return true;
}
