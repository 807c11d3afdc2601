/* SPDX-License-Identifier: MIT */
#include "sign/digest.h"

#include "base/hash.h"

void pd_text_digest(struct pd_folder *f, struct pd_span text, struct pd_buf *scratch, struct pd_buf *out)
{
	struct pd_key k = { { 0 } };
	pd_buf_clear(out);
	pd_fold(f, text, scratch);
	if (!scratch->n)
		return;
	pd_hash128(scratch->p, scratch->n, 0, k.w);
	pd_key_hex(&k, 128, out);
}
