/* SPDX-License-Identifier: MIT */
#include "group/keep.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/page_id.h"

struct order {
	const struct pd_pages *pages;
	enum pd_keep keep;
	const uint32_t *by_id;
};

static int up(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static uint64_t url_length(struct pd_span url)
{
	return pd_span_is(url, "-") ? UINT64_MAX : url.n;
}

/* RFC 3339: "2024-05-01T12:00:00.25+02:00". */
struct moment {
	int64_t second;			/* since 1970, UTC */
	struct pd_span fraction;	/* digits after the point */
};

static struct moment moment_of(struct pd_span s)
{
	struct moment m = { 0 };
	struct tm t = { 0 };
	char text[64], sign = 0;
	int at = 0, hours = 0, minutes = 0;
	snprintf(text, sizeof text, "%.*s", (int)(s.n < 63 ? s.n : 63), s.p);
	if (sscanf(text, "%4d-%2d-%2d%*1[Tt ]%2d:%2d:%2d%n", &t.tm_year, &t.tm_mon, &t.tm_mday, &t.tm_hour, &t.tm_min, &t.tm_sec, &at) < 6)
		return m;
	t.tm_year -= 1900;
	t.tm_mon--;
	size_t digits = text[at] == '.' ? strspn(text + at + 1, "0123456789") : 0;
	if (digits)
		m.fraction = pd_span(s.p + at + 1, digits);
	if (sscanf(text + at + digits + (digits > 0), "%c%2d:%2d", &sign, &hours, &minutes) < 2 || (sign != '+' && sign != '-'))
		hours = minutes = 0;
	m.second = timegm(&t) - (sign == '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
	return m;
}

static int newest_first(struct pd_span a, struct pd_span b)
{
	bool no_a = pd_span_is(a, "-"), no_b = pd_span_is(b, "-");
	if (no_a || no_b)
		return no_a - no_b;
	struct moment x = moment_of(a), y = moment_of(b);
	if (x.second != y.second)
		return x.second > y.second ? -1 : 1;
	return pd_span_cmp(y.fraction, x.fraction);	/* digits after the point sort as text */
}

static int by_keep(const void *x, const void *y, void *ctx)
{
	const struct order *o = ctx;
	uint32_t i = *(const uint32_t *)x, j = *(const uint32_t *)y;
	const struct pd_group_page *a = &o->pages->v[i], *b = &o->pages->v[j];
	int d = 0;
	switch (o->keep) {
	case PD_KEEP_FIRST: break;
	case PD_KEEP_LONGEST: d = up(b->text_bytes, a->text_bytes); break;
	case PD_KEEP_NEWEST: d = newest_first(a->fetch_time, b->fetch_time); break;
	case PD_KEEP_SHORTEST_URL: d = up(url_length(a->url), url_length(b->url)); break;
	}
	return d ? d : up(o->by_id[i], o->by_id[j]);
}

static int by_id_cmp(const void *x, const void *y, void *ctx)
{
	const struct pd_pages *pages = ctx;
	return pd_page_id_cmp(pages->v[*(const uint32_t *)x].id, pages->v[*(const uint32_t *)y].id);
}

void pd_keep_rank(const struct pd_pages *pages, enum pd_keep keep, uint32_t *rank, uint32_t *by_id)
{
	struct order o = { pages, keep, by_id };
	uint32_t *order = pd_alloc(pages->n * sizeof *order);
	for (size_t i = 0; i < pages->n; i++)
		order[i] = (uint32_t)i;
	qsort_r(order, pages->n, sizeof *order, by_id_cmp, (void *)pages);
	for (size_t i = 0; i < pages->n; i++)
		by_id[order[i]] = (uint32_t)i;
	qsort_r(order, pages->n, sizeof *order, by_keep, &o);
	for (size_t i = 0; i < pages->n; i++)
		rank[order[i]] = (uint32_t)i;
	free(order);
}
