/* SPDX-License-Identifier: MIT
 * Any bytes as the tables of a batch, as they come, and again with checksums that are right, which is how far a forger gets: refused
 * with a reason, or asked for rows, and every answer is a key of theirs. */
#include <stdlib.h>

#include "../seal.h"
#include "tools/engine/batch_tables.c" /* for its functions that are not exported */
#include "fuzz.h"
#include "row/columns.h"

static int take(void *ctx, size_t row, const uint64_t *key)
{
	const struct pd_batch_tables *t = ctx;
	HOLDS(!row && key >= t->keys && key < t->keys + t->h.keys * t->h.bits / 64);
	return PD_OK;
}

/* Rows near a row of the file, and one row that is not. */
static void ask(struct pd_batch_tables *t, uint64_t n)
{
	struct pd_row row = { .has_fingerprint = t->h.keys > 0, .sketch.present = t->h.sketched > 0 };
	char id[16];
	for (size_t w = 0; w < t->h.bits / 64; w++)
		row.key.w[w] = n < t->h.keys ? t->keys[n * t->h.bits / 64 + w] ^ (w == 0) : n;
	for (size_t w = 0; t->h.sketched && n < t->h.entries && w < t->h.minima * t->h.minimum_bits / 64; w++)
		row.sketch.w[w] = t->sketches[n * t->h.minima * t->h.minimum_bits / 64 + w];
	row.f[PD_FP_ID] = pd_span(id, (size_t)snprintf(id, sizeof id, "x:%d", (int)n));
	HOLDS(pd_batch_tables_take(t, &row) <= 1);
	if (row.has_fingerprint)
		pd_batch_tables_add(t, &row);
	HOLDS(pd_batch_tables_search(t, &(struct pd_batch_tables_receiver){ take, t }) == PD_OK && !t->rows.n);
	pd_batch_tables_has_text(t, row.key.w);
}

static void try_bytes(const char *p, size_t n)
{
	struct pd_batch_tables t, opened;
	struct pd_err e = { 0 };
	t = (struct pd_batch_tables){ .p = NULL };
	if (batch_tables_check(&t, pd_container_open(&t.c, &batch_tables_kind, pd_span(p, n), 0, "fuzz", &e), &e)) {
		HOLDS(e.text[0]);
		pd_container_release(&t.c);
		return;
	}
	struct pd_engine_params params = { .bits = (int)t.h.bits,
					   .width = (int)t.h.width,
					   .match.k = (int)t.h.k,
					   .match.verify = PD_VERIFY_DEFAULTS,
					   .sketch = { (int)t.h.minima, (int)t.h.minimum_bits, (int)t.h.shingle } };
	int status = pd_batch_tables_open(&opened, fuzz_file((const uint8_t *)p, n), t.h.batch, &params, &e);
	HOLDS(status == PD_OK || e.text[0]);
	for (uint64_t i = 0; !status && i < 4; i++)
		ask(&opened, i);
	pd_container_release(&t.c);
	HOLDS(pd_batch_tables_open(&t, fuzz_file((const uint8_t *)p, n), opened.h.batch + 1, &params, &e) != PD_OK);
	pd_batch_tables_close(&t);
	pd_batch_tables_close(&opened);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	char *copy = pd_alloc(n + 8); /* aligned as a mapped file is */
	memcpy(copy, data, n);
	try_bytes(copy, n);
	try_bytes(copy, seal_container(copy, n, 0));
	free(copy);
	return 0;
}
