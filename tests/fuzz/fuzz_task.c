/* SPDX-License-Identifier: MIT
 * The bytes as the parameters of a job: refused by an error that says why, or written again as they were read. */
#include "tools/engine/params.c" /* for its functions that are not exported */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct pd_engine_params p, again = { 0 };
	struct pd_buf text = { 0 };
	struct pd_err e = { 0 };
	int status = engine_params_parse(&p, fuzz_span(data, n), "params", &e);
	HOLDS(!status || e.text[0]);
	if (!status) {
		pd_engine_params_write(&p, &text);
		HOLDS(!engine_params_parse(&again, pd_buf_span(&text), "params", &e));
		HOLDS(again.rows == p.rows && again.n_options == p.n_options && again.bits == p.bits &&
		      again.representatives == p.representatives);
		HOLDS(pd_span_eq(pd_buf_span(&again.must), pd_buf_span(&p.must)) &&
		      pd_span_eq(pd_buf_span(&again.options), pd_buf_span(&p.options)));
	}
	pd_engine_params_release(&p);
	pd_engine_params_release(&again);
	pd_buf_release(&text);
	return 0;
}
