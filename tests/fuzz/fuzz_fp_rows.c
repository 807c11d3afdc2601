/* SPDX-License-Identifier: MIT
 *
 * Two bytes of options, then fp rows as text: the rows are returned ordered by id, each id once, and their pairs are
 * equal to brute force.
 */
#include "row/fields.h"
#include "brute.h"
#include "match/rows.h"

static void bad_row(void *ctx, const char *why)
{
	HOLDS(why && why[0]);
	*(uint64_t *)ctx += 1;
}

static void check_order(const struct pd_rows *rows)
{
	struct pd_span last = { NULL, 0 };
	for (uint32_t i = 0; i < rows->n; i++) {
		struct pd_row row;
		pd_rows_get(rows, i, &row);
		for (int f = 0; f < PD_ROW_PAIRED; f++)
			HOLDS(row.f[pd_row_kept[f]].n);
		HOLDS(i == 0 || pd_page_id_cmp(last, row.f[PD_FP_ID]) < 0);
		last = row.f[PD_FP_ID];
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	unsigned how = fuzz_first(&data, &n), k = fuzz_first(&data, &n);
	char *paths[] = { (char *)fuzz_file(data, n) };
	uint64_t bad = 0;
	struct pd_rows_options o = { .paths = paths,
				     .n_paths = 1,
				     .tmp_dir = "/dev/shm",
				     .realms = pd_match_scope_choices[how >> 2 & 3].realms,
				     .bad_row = bad_row,
				     .ctx = &bad };
	struct pd_rows rows;
	struct pd_err e = { 0 };
	int status = pd_rows_read(&rows, &o, &e);
	HOLDS(status == PD_OK || e.text[0]);
	HOLDS(bad == rows.bad);
	if (status == PD_OK) {
		struct pd_match_options match = brute_options(how, k, &rows);
		check_order(&rows);
		brute_check(&rows, &match);
	}
	pd_rows_release(&rows);
	return 0;
}
