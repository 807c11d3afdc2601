/* SPDX-License-Identifier: MIT
 * The bytes as rows of `rank`: refused by an error that says why, or numbers of 0 or more. */
#include "fuzz.h"
#include "link/ranks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct pd_ranks r = { .n = 0 };
	struct pd_err e = { 0 };
	int status = pd_ranks_read(&r, fuzz_file(data, n), &e);
	HOLDS(!status || e.text[0]);
	for (size_t i = 0; !status && i < r.n; i++)
		HOLDS(r.signature[i] >= 0 && r.quality[i] >= 0);
	pd_ranks_release(&r);
	return 0;
}
