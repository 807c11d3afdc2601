/* SPDX-License-Identifier: MIT */
#include "base/hex.h"

const unsigned char pd_hex_value_and_one[256] = {
	['0'] = 1,  ['1'] = 2,	['2'] = 3,  ['3'] = 4,	['4'] = 5,  ['5'] = 6,	['6'] = 7,  ['7'] = 8,
	['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
	['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

void pd_hex_add(struct pd_buf *out, uint64_t v)
{
	static const char digits[] = "0123456789abcdef";
	char *p = pd_buf_reserve(out, 16);
	for (int shift = 60; shift >= 0; shift -= 4)
		*p++ = digits[v >> shift & 15];
	*p = 0;
	out->n += 16;
}

bool pd_hex_u64(struct pd_span s, uint64_t *out)
{
	uint64_t v = 0;
	if (s.n != 16)
		return false;
	for (size_t i = 0; i < 16; i++) {
		int d = pd_hex_digit(s.p[i]);
		if (d < 0)
			return false;
		v = v << 4 | (uint64_t)d;
	}
	*out = v;
	return true;
}
