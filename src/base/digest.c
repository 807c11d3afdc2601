/* SPDX-License-Identifier: MIT
 * SHA-1 in base32: the payload digest of the crawl world.  The only place that includes nettle. */
#include <nettle/sha1.h>

#include "base/hash.h"

static void base32(const uint8_t *in, size_t n, struct pd_buf *out)
{
	static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
	uint32_t acc = 0;
	int bits = 0;
	for (size_t i = 0; i < n; i++) {
		acc = acc << 8 | in[i];
		for (bits += 8; bits >= 5; bits -= 5)
			pd_buf_add_c(out, alphabet[acc >> (bits - 5) & 31]);
	}
}

void pd_sha1_base32(struct pd_span data, struct pd_buf *out)
{
	struct sha1_ctx ctx;
	uint8_t digest[SHA1_DIGEST_SIZE];
	sha1_init(&ctx);
	sha1_update(&ctx, data.n, (const uint8_t *)data.p);
	sha1_digest(&ctx, sizeof digest, digest);
	base32(digest, sizeof digest, out);	/* 160 bits: 32 characters, no padding */
}
