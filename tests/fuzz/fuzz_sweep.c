/* SPDX-License-Identifier: MIT
 *
 * Read any bytes as a table of settings: the values read are sound, and the drawn values are finite.
 */
#include "fuzz.h"
#include "tools/report.c" /* for its functions that are not exported */

static void bad_row(void *ctx, const char *why)
{
	HOLDS(why && why[0]);
	*(uint64_t *)ctx += 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	uint64_t bad = 0;
	struct pd_report_reading o = { .path = fuzz_file(data, n), .bad_row = bad_row, .ctx = &bad };
	struct pd_report_sweep s = { .n = 0 };
	struct pd_buf out = { 0 };
	struct pd_err e;
	if (report_sweep_read(&s, &o, &e) == PD_OK) {
		HOLDS(s.bad == bad);
		for (int i = 0; i < s.n; i++) {
			HOLDS(s.v[i]->n_k > 0 && s.v[i]->best < s.v[i]->n_k);
			for (int k = 0; k < s.v[i]->n_k; k++)
				HOLDS(s.v[i]->f1[k] >= 0 && s.v[i]->f1[k] <= 1);
			HOLDS(!i || s.v[i - 1]->f1[s.v[i - 1]->best] >= s.v[i]->f1[s.v[i]->best]);
		}
		report_sweep_page(&s, 3, &out);
		HOLDS(fuzz_utf8(pd_buf_span(&out)) || !fuzz_utf8(fuzz_span(data, n)));
	}
	for (int i = 0; i < s.n; i++)
		free(s.v[i]);
	pd_buf_release(&out);
	return 0;
}
