/* SPDX-License-Identifier: MIT
 * Any bytes as a file of URLs seen, as they come, and again with checksums that are right, which is how far a forger gets:
 * refused, or read, asked, and written again as it was. */
#include "fuzz.h"
#include "url/seen.h"

enum { HEADER = 48, SUM_AT = 40, SHAPE_AT = 32, FEATURES_AT = 14, MODE_AT = 12, BITS_AT = 24 };

static void try_bytes(const char *p, size_t n)
{
	struct pd_err e;
	struct pd_buf back = { 0 };
	FILE *f = fopen(fuzz_file(p, n), "rb"), *out;
	HOLDS(f != NULL);
	struct pd_seen *s = pd_seen_read(f, "fuzz", &e);
	fclose(f);
	if (!s)
		return;
	out = tmpfile();
	HOLDS(out && !pd_seen_write(s, out, "fuzz", &e) && (size_t)ftell(out) == n && !fseek(out, 0, SEEK_SET));
	HOLDS(fread(pd_buf_reserve(&back, n), 1, n, out) == n && !memcmp(back.p + HEADER, p + HEADER, n - HEADER));
	fclose(out);
	struct pd_seen_key key;
	pd_seen_key_of(s, pd_span_z("http://a.org/x"), &key);
	pd_seen_ask(s, &key, true);
	HOLDS(pd_seen_ask(s, &key, true));
	pd_buf_release(&back);
	pd_seen_free(s);
}

/* Set the checksum of the header, and that of the rest, in as many sections as the header declares. */
static void forge(char *p, size_t n)
{
	uint32_t shape;
	uint64_t sum = 0, bits;
	if (n < HEADER + 8)
		return;
	memcpy(&shape, p + SHAPE_AT, sizeof shape);
	memcpy(&bits, p + BITS_AT, sizeof bits);
	if (shape > n - HEADER - 8)
		return;
	uint64_t head = pd_hash64_seed(p, SUM_AT, pd_hash64(p + HEADER, shape));
	memcpy(p + SUM_AT, &head, sizeof head);
	size_t at = HEADER + shape, left = n - 8 - at;
	size_t each = p[MODE_AT] ? (size_t)(bits / 64 + (bits % 64 != 0)) * 8 : left;
	for (int i = 0; i < (p[MODE_AT] ? __builtin_popcount((unsigned char)p[FEATURES_AT]) : 1) && each <= left; i++) {
		sum = pd_hash64_seed(p + at, each, sum);
		at += each;
		left -= each;
	}
	memcpy(p + n - 8, &sum, sizeof sum);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	char *copy = pd_alloc(n + 1);
	memcpy(copy, data, n);
	try_bytes(copy, n);
	forge(copy, n);
	try_bytes(copy, n);
	free(copy);
	return 0;
}
