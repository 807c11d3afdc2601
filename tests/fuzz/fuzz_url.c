/* SPDX-License-Identifier: MIT
 *
 * Read any bytes as a URL and, before a newline, its base: the result is ASCII and is read again as itself, and so
 * are all its forms.  Reused buffers make no difference.
 */
#include "fuzz.h"
#include "url/canonical.c" /* for its functions that are not exported */
#include "url/host.h"

static struct pd_url used;

static void check_parts(const struct pd_url *u)
{
	HOLDS(u->colon < u->user && u->user <= u->host && u->host <= u->host_end && u->host_end <= u->path);
	HOLDS(u->path <= u->query && u->query <= u->fragment && u->fragment <= u->href.n);
	HOLDS(u->has_host || u->host == u->host_end);
	HOLDS(u->query == u->fragment || u->href.p[u->query] == '?');
	HOLDS(u->fragment == u->href.n || u->href.p[u->fragment] == '#');
	HOLDS(u->opaque || u->path == u->query || u->href.p[u->path] == '/');
	for (size_t i = 0; i < u->href.n; i++)
		HOLDS((uint8_t)u->href.p[i] >= ' ' && (uint8_t)u->href.p[i] < 0x7F);
}

static void check_form(enum pd_url_form form, bool fragment, const struct pd_url *u)
{
	struct pd_params params = { 0 };
	struct pd_canonical c = { .form = form, .keep_fragment = fragment, .params = &params };
	struct pd_url again = { 0 };
	struct pd_buf key = { 0 }, same = { 0 }, domain = { 0 };
	struct pd_span site, path;
	pd_params_open(&params, NULL, true, NULL, NULL);
	pd_canonical_make(&c, u, &key);
	if (pd_canonical_split(pd_buf_span(&key), &site, &path))
		pd_domain_of(site, &domain);
	HOLDS(pd_url_parse(pd_buf_span(&key), NULL, &again) || key.n > PD_URL_MAX);
	if (!again.why) {
		pd_canonical_make(&c, &again, &same);
		HOLDS(pd_span_eq(pd_buf_span(&key), pd_buf_span(&same)));
	}
	pd_params_release(&params);
	pd_canonical_release(&c);
	pd_url_release(&again);
	pd_buf_release(&key);
	pd_buf_release(&same);
	pd_buf_release(&domain);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct pd_url base = { 0 }, u = { 0 }, again = { 0 };
	struct pd_span in = fuzz_span(data, n), first = in;
	const char *newline = n ? memchr(data, '\n', n) : NULL;
	if (newline) {
		first = pd_span(in.p, (size_t)(newline - in.p));
		in = pd_span(newline + 1, n - first.n - 1);
	}
	bool based = newline && pd_url_parse(first, NULL, &base);
	bool good = pd_url_parse(in, based ? &base : NULL, &u);
	HOLDS(pd_url_parse(in, based ? &base : NULL, &used) == good);
	HOLDS(good == !u.why);
	if (good) {
		check_parts(&u);
		HOLDS(pd_span_eq(pd_buf_span(&u.href), pd_buf_span(&used.href)));
		if (u.href.n <= PD_URL_MAX) {
			HOLDS(pd_url_parse(pd_buf_span(&u.href), NULL, &again));
			HOLDS(pd_span_eq(pd_buf_span(&u.href), pd_buf_span(&again.href)));
			HOLDS(again.path == u.path && again.host == u.host && again.query == u.query &&
			      again.has_host == u.has_host);
		}
		for (int form = PD_FORM_CANONICAL; form <= PD_FORM_LOOSE; form++)
			check_form((enum pd_url_form)form, n % 2, &u);
	}
	pd_url_release(&base);
	pd_url_release(&u);
	pd_url_release(&again);
	return 0;
}
