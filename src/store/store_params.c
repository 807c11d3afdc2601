/* SPDX-License-Identifier: MIT
 *
 * A store holds fingerprints of one make.  Which, it learns from the first rows that are added.
 */
#include <stdio.h>

#include "base/params.h"
#include "store/store.h"

static int differ(const struct pd_store *s, const char *where, const char *how, struct pd_err *e)
{
	return pd_fail(e, PD_ERR_PARAMS, "%s: made with other parameters than the store %s (%s)", where, s->io.dir, how);
}

/* The name of the sketches, out of a header's recorded parameters; none is as good as not said. */
static int settle_sketch(struct pd_store *s, struct pd_span recorded, const char *where, struct pd_err *e)
{
	struct pd_span name = pd_param(recorded, "sketch");
	char how[64];
	if (!name.n || pd_span_is(name, "none") || pd_span_is(name, "-") || name.n >= sizeof s->m.sketch)
		return PD_OK;
	if (s->m.sketch[0] && !pd_span_is(name, s->m.sketch)) {
		snprintf(how, sizeof how, "sketch: %s and %.*s", s->m.sketch, (int)name.n, name.p);
		return differ(s, where, how, e);
	}
	if (s->m.sketch[0])
		return PD_OK;
	int status = pd_sketch_read(&s->sketch, name, e);
	if (status)
		return status;
	snprintf(s->m.sketch, sizeof s->m.sketch, "%.*s", (int)name.n, name.p);
	s->dirty = true;
	return PD_OK;
}

int pd_store_settle(struct pd_store *s, struct pd_span must, struct pd_span recorded, const char *where, struct pd_err *e)
{
	struct pd_buf how = { 0 };
	struct pd_span bits = pd_param(must, "bits");
	char params[9];
	uint64_t n;
	int status = PD_OK;
	pd_params_hash(must, params);
	if (pd_span_u64(bits, &n) && n != (uint64_t)s->m.bits) {
		pd_buf_printf(&how, "bits: %d and %.*s", s->m.bits, (int)bits.n, bits.p);
		status = differ(s, where, how.p, e);
	} else if (s->m.must.n) {
		pd_params_differ(pd_buf_span(&s->m.must), must, &how);
		status = how.n ? differ(s, where, how.p, e) : PD_OK;
	} else if (must.n && s->m.params[0] && strcmp(s->m.params, params)) {
		pd_buf_printf(&how, "params: %s and %s", s->m.params, params);
		status = differ(s, where, how.p, e);
	} else if (must.n) {
		pd_buf_set(&s->m.must, must);
		memcpy(s->m.params, params, sizeof params);
		s->dirty = true;
	}
	pd_buf_release(&how);
	return status ? status : settle_sketch(s, recorded, where, e);
}

int pd_store_settle_row(struct pd_store *s, struct pd_span params, struct pd_err *e)
{
	if (!params.n || pd_span_is(params, "-") || pd_span_is(params, s->m.params))
		return PD_OK;
	if (s->m.params[0])
		return pd_fail(e, PD_ERR_PARAMS, "made with other parameters (%.*s) than the store %s (%s)", (int)params.n, params.p,
			       s->io.dir, s->m.params);
	if (params.n < sizeof s->m.params) {
		snprintf(s->m.params, sizeof s->m.params, "%.*s", (int)params.n, params.p);
		s->dirty = true;
	}
	return PD_OK;
}
