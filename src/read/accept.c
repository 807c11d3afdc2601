/* SPDX-License-Identifier: MIT */
#include "read/accept.h"

static void add_status(struct pd_accept *a, unsigned status)
{
	a->status[status / 64] |= UINT64_C(1) << (status % 64);
}

/* 206, or 2xx. */
static bool parse_status(struct pd_accept *a, struct pd_span item)
{
	uint64_t n;
	if (item.n != 3 || item.p[0] < '1' || item.p[0] > '9')
		return false;
	if (pd_span_ieq(pd_span(item.p + 1, 2), "xx")) {
		for (unsigned i = 0; i < 100; i++)
			add_status(a, (unsigned)(item.p[0] - '0') * 100 + i);
		return true;
	}
	if (!pd_span_u64(item, &n))
		return false;
	add_status(a, (unsigned)n);
	return true;
}

static int parse_statuses(struct pd_accept *a, const char *list, struct pd_err *e)
{
	struct pd_span item, rest = pd_span_z(list);
	while (pd_span_split(&rest, ',', &item))
		if (!parse_status(a, pd_span_trim(item)))
			return pd_fail(e, PD_ERR_USAGE, "--status takes a list such as 200,206 or 2xx, not '%s'", list);
	return PD_OK;
}

/* A type is one word with a slash in it. */
static bool parse_type(struct pd_accept *a, struct pd_span item)
{
	if (!item.n || !memchr(item.p, '/', item.n))
		return false;
	for (size_t i = 0; i < item.n; i++) {
		if (pd_ascii_space(item.p[i]) || item.p[i] == ';')
			return false;
		pd_buf_add_c(&a->types, pd_ascii_lower(item.p[i]));
	}
	pd_buf_add_c(&a->types, ',');
	return true;
}

static int parse_types(struct pd_accept *a, const char *list, struct pd_err *e)
{
	struct pd_span item, rest = pd_span_z(list);
	while (pd_span_split(&rest, ',', &item))
		if (!parse_type(a, pd_span_trim(item)))
			return pd_fail(e, PD_ERR_USAGE, "--content-types takes a list such as text/html,text/plain, not '%s'", list);
	return PD_OK;
}

int pd_accept_init(struct pd_accept *a, const struct pd_page_options *o, struct pd_err *e)
{
	*a = (struct pd_accept){ 0 };
	int r = parse_statuses(a, o->status ? o->status : "200", e);
	if (!r)
		r = parse_types(a, o->content_types ? o->content_types : "text/html,application/xhtml+xml,text/plain", e);
	if (r)
		pd_accept_release(a);
	return r;
}

void pd_accept_release(struct pd_accept *a)
{
	pd_buf_release(&a->types);
}

bool pd_accept_status(const struct pd_accept *a, int status)
{
	return status >= 0 && status < 1000 && (a->status[status / 64] >> (status % 64) & 1);
}

static bool same(struct pd_span lower, struct pd_span any)
{
	size_t i = 0;
	while (i < lower.n && i < any.n && lower.p[i] == pd_ascii_lower(any.p[i]))
		i++;
	return i == lower.n && i == any.n;
}

bool pd_accept_type(const struct pd_accept *a, struct pd_span media)
{
	struct pd_span item, rest = pd_buf_span(&a->types);
	while (media.n && pd_span_split(&rest, ',', &item))
		if (same(item, media))
			return true;
	return false;
}
