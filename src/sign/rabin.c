/* SPDX-License-Identifier: MIT
 *
 * Bit i of the key is the coefficient of x^i.  The polynomials were drawn at random and kept when irreducible (Rabin's
 * test: x^(2^n) = x and gcd(x^(2^(n/2)) - x, P) = 1, which the unit test does again): a dense one, because a sparse one
 * leaves the upper bits of short strings nearly empty.
 */
#include "sign/rabin.h"

#include <stdlib.h>

/* P without its leading x^bits, w[0] the lowest 64 coefficients. */
static const struct pd_key polynomial_64 = { { 0x654ebb3ac045ba55 } };
static const struct pd_key polynomial_128 = { { 0x400cede58cf7bdb5, 0x689e5309a5e865d6 } };
static const struct pd_key polynomial_256 = { { 0xd5a9ee7e474602e1, 0x6c4fbfad7bce3613, 0x21627f06f45d7651,
						0xccc2cc92830981ae } };

struct pd_rabin {
	int words;
	struct pd_key low;		/* P - x^bits = x^bits mod P */
	struct pd_key table[256];	/* byte * x^bits mod P */
};

const struct pd_key *pd_rabin_polynomial(int bits)
{
	return bits == 64 ? &polynomial_64 : bits == 128 ? &polynomial_128 : &polynomial_256;
}

/* k = k * x mod P */
static void times_x(struct pd_key *k, const struct pd_key *low, int words)
{
	uint64_t carry = k->w[words - 1] >> 63;
	for (int i = words - 1; i > 0; i--)
		k->w[i] = k->w[i] << 1 | k->w[i - 1] >> 63;
	k->w[0] <<= 1;
	for (int i = 0; i < words; i++)
		k->w[i] ^= low->w[i] & -carry;
}

static void add(struct pd_key *a, const struct pd_key *b, int words)
{
	for (int i = 0; i < words; i++)
		a->w[i] ^= b->w[i];
}

struct pd_rabin *pd_rabin_new(int bits)
{
	struct pd_rabin *r = pd_zalloc(sizeof *r);
	r->words = bits / 64;
	r->low = *pd_rabin_polynomial(bits);
	struct pd_key power = r->low;	/* x^(bits + i) mod P */
	for (int i = 0; i < 8; i++) {
		for (int byte = 0; byte < 256; byte++)
			if (byte >> i & 1)
				add(&r->table[byte], &power, r->words);
		times_x(&power, &r->low, r->words);
	}
	return r;
}

void pd_rabin_free(struct pd_rabin *r)
{
	free(r);
}

void pd_rabin(const struct pd_rabin *r, struct pd_span s, struct pd_key *out)
{
	int words = r->words;
	*out = r->low;	/* the leading 1 bit */
	for (size_t i = 0; i < s.n; i++) {
		uint8_t top = (uint8_t)(out->w[words - 1] >> 56);
		const struct pd_key *t = &r->table[top ^ (uint8_t)s.p[i]];
		for (int w = words - 1; w > 0; w--)
			out->w[w] = out->w[w] << 8 | out->w[w - 1] >> 56;
		out->w[0] <<= 8;
		add(out, t, words);
	}
}
