/* SPDX-License-Identifier: MIT */
#include "group/keep_keys.h"

#include <math.h>
#include <stdlib.h>

#include "group/order.h"

/* Takes `n` digits off the front; -1 when there are not so many. */
static int digits(struct pd_span *s, int n)
{
	int v = 0;
	if (s->n < (size_t)n)
		return -1;
	for (int i = 0; i < n; i++) {
		if (s->p[i] < '0' || s->p[i] > '9')
			return -1;
		v = 10 * v + s->p[i] - '0';
	}
	*s = pd_span(s->p + n, s->n - (size_t)n);
	return v;
}

/* The same with one of `before` in front. */
static int digits_after(struct pd_span *s, const char *before, int n)
{
	if (!s->n || !strchr(before, s->p[0]) || !s->p[0])
		return -1;
	*s = pd_span(s->p + 1, s->n - 1);
	return digits(s, n);
}

/* Days from 0000-03-01, in the Gregorian calendar carried back: leap days come last in such years. */
static int64_t days(int year, int month, int day)
{
	int y = month < 3 ? year - 1 : year, m = month < 3 ? month + 9 : month - 3;
	return 365 * (int64_t)y + (y >= 0 ? y / 4 - y / 100 + y / 400 : -1) + (153 * m + 2) / 5 + day - 1;
}

/* The digits behind the point, of which seven count. */
static int64_t fraction(struct pd_span *s)
{
	int64_t v = 0;
	int n = 0;
	if (!s->n || s->p[0] != '.')
		return 0;
	for (*s = pd_span(s->p + 1, s->n - 1); s->n && s->p[0] >= '0' && s->p[0] <= '9'; *s = pd_span(s->p + 1, s->n - 1), n++)
		if (n < 7)
			v = 10 * v + s->p[0] - '0';
	for (; n < 7; n++)
		v *= 10;
	return v;
}

/* "Z", "+02:00" or nothing: minutes east of Greenwich. */
static int zone(struct pd_span s)
{
	bool west = s.n && s.p[0] == '-';
	int hours = digits_after(&s, "+-", 2), minutes = digits_after(&s, ":", 2);
	if (hours < 0 || minutes < 0)
		return 0;
	return (west ? -1 : 1) * (60 * hours + minutes);
}

uint64_t pd_time_key(struct pd_span s)
{
	int year = digits(&s, 4), month = digits_after(&s, "-", 2), day = digits_after(&s, "-", 2);
	int hour = digits_after(&s, "Tt ", 2), minute = digits_after(&s, ":", 2), second = digits_after(&s, ":", 2);
	if (year < 0 || month < 1 || month > 12 || day < 1 || day > 31 || hour < 0 || minute < 0 || second < 0)
		return 0;
	int64_t parts = fraction(&s);
	int64_t seconds = ((days(year, month, day) + 400) * 24 + hour) * 3600 + (minute - zone(s)) * 60 + second;
	return (uint64_t)(seconds * 10000000 + parts);
}

bool pd_real_key(struct pd_span s, uint64_t *key)
{
	char z[64], *end;
	if (!s.n || s.n >= sizeof z)
		return false;
	memcpy(z, s.p, s.n);
	z[s.n] = 0;
	if (strspn(z, "+-.0123456789eE") != s.n)
		return false;
	double v = strtod(z, &end);
	*key = pd_key_of_real(v);
	return !*end && isfinite(v);
}

static uint64_t key_of(const struct pd_page_view *v, enum pd_keep by)
{
	uint64_t n = 0, time = by == PD_KEEP_NEWEST || by == PD_KEEP_OLDEST ? pd_time_key(v->fetch_time) : 0;
	switch (by) {
	case PD_KEEP_LONGEST: return pd_span_u64(v->text_bytes, &n) && n < PD_KEY_LAST ? PD_KEY_LAST - 1 - n : PD_KEY_LAST;
	case PD_KEEP_NEWEST: return ~time;
	case PD_KEEP_OLDEST: return time ? time : PD_KEY_LAST;
	case PD_KEEP_SHORTEST_URL: return pd_span_is(v->url, "-") ? PD_KEY_LAST : v->url.n;
	case PD_KEEP_QUALITY: return pd_real_key(v->quality, &n) ? ~n : PD_KEY_LAST;
	default: return 0;
	}
}

void pd_keep_keys(struct pd_pages *pages, enum pd_keep by, uint64_t *key)
{
	for (uint32_t i = 0; i < pages->n; i++) {
		struct pd_page_view v = pd_pages_view(pages, i);
		key[i] = key_of(&v, by);
	}
}
