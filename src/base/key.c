/* SPDX-License-Identifier: MIT */
#include "base/hash.h"

void pd_key_hex(const struct pd_key *k, int bits, struct pd_buf *out)
{
	static const char digits[] = "0123456789abcdef";
	char *p = pd_buf_reserve(out, (size_t)bits / 4);
	for (int w = 0; w < bits / 64; w++)
		for (int shift = 60; shift >= 0; shift -= 4)
			*p++ = digits[k->w[w] >> shift & 15];
	*p = 0;
	out->n += (size_t)bits / 4;
}

/* A digit's value and one; 0: no digit.  Rows hold up to 144 of them. */
static const unsigned char digit_and_one[256] = {
	['0'] = 1,  ['1'] = 2,	['2'] = 3,  ['3'] = 4,	['4'] = 5,  ['5'] = 6,	['6'] = 7,  ['7'] = 8,
	['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
	['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

bool pd_key_parse(struct pd_span hex, int *bits, struct pd_key *out)
{
	if (hex.n != 16 && hex.n != 32 && hex.n != 64)
		return false;
	*out = (struct pd_key){ { 0 } };
	for (size_t i = 0; i < hex.n; i++) {
		unsigned d = digit_and_one[(unsigned char)hex.p[i]];
		if (!d)
			return false;
		out->w[i / 16] = out->w[i / 16] << 4 | (d - 1);
	}
	*bits = (int)hex.n * 4;
	return true;
}
