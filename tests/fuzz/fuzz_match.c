/* SPDX-License-Identifier: MIT
 *
 * Three bytes of options, then four bytes per row: the nearby key, the different bits, the host and the sketch.  Every plan finds the pairs of brute force.
 */
#include "brute.h"

/* A sketch of one word, its kind, a line. */
enum { STRIDE = 64, LINE = 9 };

struct made {
	uint32_t row[2][BRUTE_ROWS];
	uint64_t keys[2][BRUTE_ROWS * PD_KEY_WORDS], realm[BRUTE_ROWS];
	struct pd_offset at[BRUTE_ROWS];
	char spool[BRUTE_ROWS * STRIDE];
};

/* A sketch of one word near one of four, or none, stored like the spool stores it. */
static void make_sketch(struct made *m, struct pd_rows *rows, uint8_t p)
{
	uint64_t w = pd_hash64(&(uint8_t){ p & 3 }, 1) ^ (uint64_t)(p >> 2) * UINT64_C(0x0101010100000001);
	char *at = m->spool + rows->n * STRIDE;
	m->at[rows->n] = pd_offset(rows->n * STRIDE + LINE);
	memcpy(at, &w, sizeof w);
	at[LINE - 1] = p >= 224 ? 0 : 1;
	rows->sketched += p < 224;
}

/* Other columns that decide. */
static void make_line(struct made *m, const struct pd_rows *rows, uint8_t p)
{
	static const char *const terms[] = { "0", "30", "80", "300" }, *const subjects[] = { "-", "0000000100000002",
											     "0000000300000004",
											     "0000000000000002" };
	snprintf(m->spool + rows->n * STRIDE + LINE, STRIDE - LINE, "i\tu\t-\t1\t-\t%s\t%s\t%s\t%s\n", terms[p & 3],
		 p & 64 ? "0.30" : "0.90", p & 16 ? "eng" : "deu", subjects[p >> 2 & 3]);
}

static void make_row(struct made *m, struct pd_rows *rows, const uint8_t *p)
{
	bool digest = p[0] >= 192;
	struct pd_rows_set *s = digest ? &rows->digests : &rows->fingerprints;
	uint64_t *w = m->keys[digest] + s->n * (size_t)s->words;
	for (int i = 0; i < s->words; i++)
		w[i] = pd_hash64_seed(&(uint8_t){ p[0] & 7 }, 1, (uint64_t)i);
	/* Up to three bytes of differences, in any word. */
	w[(p[1] >> 6) % s->words] ^= (uint64_t)(p[1] & 7) << (p[1] & 56);
	w[(p[2] >> 6) % s->words] ^= (uint64_t)(p[2] & 7) << (p[2] & 56);
	m->realm[rows->n] = rows->realms == PD_REALM_LANGUAGE ? p[2] & 16 : p[3] & 3;
	make_sketch(m, rows, p[3] >> 2 | (p[1] & 0xc0));
	make_line(m, rows, p[2]);
	m->row[digest][s->n++] = (uint32_t)rows->n++;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static struct made m;
	unsigned how = fuzz_first(&data, &n), k = fuzz_first(&data, &n), bits = fuzz_first(&data, &n);
	struct pd_rows rows = {
		.bits = 64 << bits % 3, .realm = m.realm, .at = m.at, .spool = m.spool, .spool_size = sizeof m.spool
	};
	rows.realms = pd_match_scope_choices[how >> 2 & 3].realms == PD_REALM_LANGUAGE ? PD_REALM_LANGUAGE : PD_REALM_HOST;
	rows.sketch = (struct pd_sketch_options){ 16, 4, 5 };
	rows.sketch_kind = 1;
	rows.fingerprints = (struct pd_rows_set){ .words = rows.bits / 64, .row = m.row[0], .keys = m.keys[0] };
	rows.digests = (struct pd_rows_set){ .words = 2, .row = m.row[1], .keys = m.keys[1] };
	for (; n >= 4 && rows.n < BRUTE_ROWS; n -= 4, data += 4)
		make_row(&m, &rows, data);
	struct pd_match_options o = brute_options(how, k, &rows);
	brute_check(&rows, &o);
	return 0;
}
