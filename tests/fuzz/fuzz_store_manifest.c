/* SPDX-License-Identifier: MIT
 *
 * Read the bytes as the manifest of a store, unchanged and with a correct checksum: it is refused, or printing it
 * gives the same bytes.
 */
#include "fuzz.h"
#include "store/store.c" /* for its functions that are not exported */

static void parse(struct pd_span text)
{
	struct pd_store_manifest m, again;
	struct pd_buf out = { 0 }, out_again = { 0 };
	struct pd_err e = { 0 };
	int status = store_manifest_parse(&m, text, "input", &e);
	HOLDS(status == PD_OK || e.text[0]);
	if (!status) {
		store_manifest_print(&m, &out);
		HOLDS(store_manifest_parse(&again, pd_buf_span(&out), "output", &e) == PD_OK);
		store_manifest_print(&again, &out_again);
		HOLDS(pd_span_eq(pd_buf_span(&out), pd_buf_span(&out_again)));
		store_manifest_release(&again);
	}
	store_manifest_release(&m);
	pd_buf_release(&out);
	pd_buf_release(&out_again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct pd_buf sealed = { 0 };
	parse(fuzz_span(data, n));
	pd_buf_add(&sealed, data, n);
	pd_buf_printf(&sealed, "check %016llx\n", (unsigned long long)pd_hash64(sealed.p, sealed.n));
	parse(pd_buf_span(&sealed));
	pd_buf_release(&sealed);
	return 0;
}
