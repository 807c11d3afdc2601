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

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = pd_ascii_lower(c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool pd_key_parse(struct pd_span hex, int *bits, struct pd_key *out)
{
	if (hex.n != 16 && hex.n != 32 && hex.n != 64)
		return false;
	*out = (struct pd_key){ { 0 } };
	for (size_t i = 0; i < hex.n; i++) {
		int d = hex_digit(hex.p[i]);
		if (d < 0)
			return false;
		out->w[i / 16] = out->w[i / 16] << 4 | (uint64_t)d;
	}
	*bits = (int)hex.n * 4;
	return true;
}
