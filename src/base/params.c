/* SPDX-License-Identifier: MIT */
#include "base/params.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"

struct pd_span pd_param(struct pd_span params, const char *key)
{
	struct pd_span item, name;
	while (pd_span_split(&params, ' ', &item))
		if (pd_span_split(&item, '=', &name) && pd_span_is(name, key))
			return item;
	return pd_span(NULL, 0);
}

static void one_way(struct pd_span a, struct pd_span b, bool only_missing, struct pd_buf *out)
{
	struct pd_span item, name;
	while (pd_span_split(&a, ' ', &item)) {
		if (!pd_span_split(&item, '=', &name) || !name.n)
			continue;
		char *key = pd_strndup(name.p, name.n);
		struct pd_span other = pd_param(b, key);
		bool report = only_missing ? !other.p : !other.p || !pd_span_eq(item, other);
		if (report && !only_missing)
			pd_buf_printf(out, "%s%s: %.*s and %.*s", out->n ? ", " : "", key, (int)item.n, item.p,
				      other.p ? (int)other.n : 4, other.p ? other.p : "none");
		else if (report)
			pd_buf_printf(out, "%s%s: none and %.*s", out->n ? ", " : "", key, (int)item.n, item.p);
		free(key);
	}
}

void pd_params_differ(struct pd_span a, struct pd_span b, struct pd_buf *out)
{
	pd_buf_clear(out);
	one_way(a, b, false, out);
	one_way(b, a, true, out);
}

void pd_params_hash(struct pd_span must, char out[9])
{
	snprintf(out, 9, "%08" PRIx32, (uint32_t)pd_hash64(must.p, must.n));
}
