/* SPDX-License-Identifier: MIT */
#include "base/url.h"

/* scheme "://" authority: what stands between "//" and the next of / ? # \ . */
static struct pd_span authority(struct pd_span url)
{
	ptrdiff_t at = pd_span_find(url, pd_span_z("://"));
	if (at <= 0)
		return pd_span(NULL, 0);
	for (ptrdiff_t i = 0; i < at; i++)
		if (url.p[i] == '/' || url.p[i] == '?' || url.p[i] == '#')
			return pd_span(NULL, 0);
	struct pd_span a = pd_span(url.p + at + 3, url.n - (size_t)at - 3);
	for (size_t i = 0; i < a.n; i++)
		if (strchr("/?#\\", a.p[i]) && a.p[i])
			return pd_span(a.p, i);
	return a;
}

static struct pd_span without_user(struct pd_span a)
{
	for (size_t i = a.n; i > 0; i--)
		if (a.p[i - 1] == '@')
			return pd_span(a.p + i, a.n - i);
	return a;
}

static struct pd_span without_port(struct pd_span a)
{
	for (size_t i = a.n; i > 0 && a.p[i - 1] != ']'; i--) {
		if (a.p[i - 1] == ':')
			return pd_span(a.p, i - 1);
		if (a.p[i - 1] < '0' || a.p[i - 1] > '9')
			break;
	}
	return a;
}

void pd_url_host(struct pd_span url, struct pd_buf *out)
{
	struct pd_span host = without_port(without_user(authority(url)));
	if (host.n && host.p[host.n - 1] == '.')
		host.n--;
	pd_buf_clear(out);
	for (size_t i = 0; i < host.n; i++)
		pd_buf_add_c(out, pd_ascii_lower(host.p[i]));
}
