/* SPDX-License-Identifier: MIT
 * Three bytes of options, then four bytes a row: near which key, which bits differ, which host.  The pairs are those that
 * comparing all with all finds, by every plan. */
#include "brute.h"

struct made {
	uint32_t row[2][BRUTE_ROWS];
	uint64_t keys[2][BRUTE_ROWS * PD_KEY_WORDS], host[BRUTE_ROWS];
};

static void make_row(struct made *m, struct pd_rows *rows, const uint8_t *p)
{
	bool digest = p[0] >= 192;
	struct pd_row_set *s = digest ? &rows->digests : &rows->prints;
	uint64_t *w = m->keys[digest] + s->n * (size_t)s->words;
	for (int i = 0; i < s->words; i++)
		w[i] = pd_hash64_seed(&(uint8_t){ p[0] & 7 }, 1, (uint64_t)i);
	/* Up to three bytes of differences, in any word. */
	w[(p[1] >> 6) % s->words] ^= (uint64_t)(p[1] & 7) << (p[1] & 56);
	w[(p[2] >> 6) % s->words] ^= (uint64_t)(p[2] & 7) << (p[2] & 56);
	m->host[rows->n] = p[3] & 3;
	m->row[digest][s->n++] = (uint32_t)rows->n++;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static struct made m;
	unsigned how = fuzz_first(&data, &n), k = fuzz_first(&data, &n), bits = fuzz_first(&data, &n);
	struct pd_rows rows = { .bits = 64 << bits % 3, .host = m.host };
	rows.prints = (struct pd_row_set){ .words = rows.bits / 64, .row = m.row[0], .keys = m.keys[0] };
	rows.digests = (struct pd_row_set){ .words = 2, .row = m.row[1], .keys = m.keys[1] };
	for (; n >= 4 && rows.n < BRUTE_ROWS; n -= 4, data += 4)
		make_row(&m, &rows, data);
	struct pd_match_options o = brute_options(how, k, &rows);
	brute_check(&rows, &o);
	return 0;
}
