/* SPDX-License-Identifier: MIT */
#include "base/page_id.h"

struct pd_page_id pd_page_id_parse(struct pd_span id)
{
	struct pd_page_id out = { .file = id };
	size_t i = id.n;
	if (!i)
		return out;
	while (i > 0 && id.p[i - 1] >= '0' && id.p[i - 1] <= '9')
		i--;
	struct pd_span digits = pd_span(id.p + i, id.n - i);
	bool stream = i > 0 && id.p[i - 1] == '+';
	size_t colon = stream ? i - 1 : i;
	if (colon < 2 || id.p[colon - 1] != ':' || !pd_span_u64(digits, &out.offset))
		return out;
	out.file = pd_span(id.p, colon - 1);
	out.has_offset = true;
	out.stream = stream;
	return out;
}

int pd_page_id_order(const struct pd_page_id *x, struct pd_span a, const struct pd_page_id *y, struct pd_span b)
{
	int d = pd_span_cmp(x->file, y->file);
	if (d)
		return d;
	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return pd_span_cmp(a, b);
}

int pd_page_id_cmp(struct pd_span a, struct pd_span b)
{
	struct pd_page_id x = pd_page_id_parse(a), y = pd_page_id_parse(b);
	return pd_page_id_order(&x, a, &y, b);
}
