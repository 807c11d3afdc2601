/* SPDX-License-Identifier: MIT */
#include "base/hash.h"
#include "base/hex.h"

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
