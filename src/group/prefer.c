/* SPDX-License-Identifier: MIT */
#include "group/prefer.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/tsv.h"
#include "base/url.h"
#include "group/keep_keys.h"
#include "group/order.h"

/* URL -> its pages. */
struct urls {
	struct pd_pages *pages;
	uint32_t *first, *next;		/* by the lower bits of the URL's hash; the next page in the same place */
	size_t cap;
};

static size_t place(const struct urls *u, struct pd_span url)
{
	return pd_hash64(url.p, url.n) & (u->cap - 1);
}

static void urls_init(struct urls *u, struct pd_pages *pages)
{
	*u = (struct urls){ .pages = pages, .cap = 1 };
	while (u->cap < pages->n)
		u->cap *= 2;
	u->first = pd_alloc(u->cap * sizeof *u->first);
	u->next = pd_alloc((pages->n + 1) * sizeof *u->next);
	memset(u->first, 0xFF, u->cap * sizeof *u->first);
	for (uint32_t i = 0; i < pages->n; i++) {
		uint32_t *head = &u->first[place(u, pd_pages_view(pages, i).url)];
		u->next[i] = *head;
		*head = i;
	}
}

static void set_keys(struct urls *u, struct pd_span url, uint64_t v, uint64_t *key)
{
	for (uint32_t i = u->first[place(u, url)]; i != UINT32_MAX; i = u->next[i])
		if (v < key[i] && pd_span_eq(pd_pages_view(u->pages, i).url, url))
			key[i] = v;
}

/* The next line that says something, without its end: 1, 0 at the end. */
static int next_line(FILE *f, char **raw, size_t *cap, uint64_t *line_no, struct pd_span *out)
{
	ssize_t n;
	while ((n = getline(raw, cap, f)) > 0) {
		*out = pd_span(*raw, (size_t)n);
		(*line_no)++;
		while (out->n && (out->p[out->n - 1] == '\n' || out->p[out->n - 1] == '\r'))
			out->n--;
		if (out->n && out->p[0] != '#')
			return 1;
	}
	return 0;
}

static int close_file(FILE *f, char *raw, const char *path, struct pd_err *e)
{
	int bad = ferror(f);
	free(raw);
	fclose(f);
	return bad ? pd_fail_errno(e, "cannot read %s", path) : PD_OK;
}

int pd_rank_keys(struct pd_pages *pages, const char *file, const struct pd_pages_options *o, uint64_t *key, struct pd_err *e)
{
	struct urls u;
	struct pd_span line, f[2];
	struct pd_err bad;
	uint64_t v, line_no = 0;
	char *raw = NULL;
	size_t cap = 0;
	FILE *in = fopen(file, "r");
	if (!in)
		return pd_fail_errno(e, "cannot open %s", file);
	memset(key, 0xFF, pages->n * sizeof *key);
	urls_init(&u, pages);
	while (next_line(in, &raw, &cap, &line_no, &line)) {
		if (pd_tsv_fields(line, f, 2) == 2 && f[0].n && pd_real_key(f[1], &v)) {
			set_keys(&u, f[0], v, key);
			continue;
		}
		pages->bad++;
		pd_fail(&bad, PD_ERR_FORMAT, "%s:%" PRIu64 ": not a URL, a tab and a number", file, line_no);
		o->bad_row(o->ctx, bad.text);
	}
	free(u.first);
	free(u.next);
	return close_file(in, raw, file, e);
}

static int read_hosts(const char *file, struct pd_names *hosts, struct pd_err *e)
{
	struct pd_span line;
	struct pd_buf lower = { 0 };
	uint64_t line_no = 0;
	char *raw = NULL;
	size_t cap = 0;
	FILE *in = fopen(file, "r");
	if (!in)
		return pd_fail_errno(e, "cannot open %s", file);
	while (next_line(in, &raw, &cap, &line_no, &line)) {
		line = pd_span_trim(line);
		pd_buf_clear(&lower);
		for (size_t i = 0; i < line.n; i++)
			pd_buf_add_c(&lower, pd_ascii_lower(line.p[i]));
		if (line.n)
			pd_names_add(hosts, pd_buf_span(&lower));
	}
	pd_buf_release(&lower);
	return close_file(in, raw, file, e);
}

/* The first line of the list that is this host, or a domain that it lies below.  `dotted` is the host behind a point:
 * ".example.org" in the list stands for example.org too. */
static uint64_t host_key(const struct pd_names *hosts, struct pd_span dotted)
{
	uint32_t best = pd_names_find(hosts, pd_span(dotted.p + 1, dotted.n - 1));
	for (size_t i = 0; i < dotted.n; i++) {
		if (dotted.p[i] != '.')
			continue;
		uint32_t n = pd_names_find(hosts, pd_span(dotted.p + i, dotted.n - i));
		best = n < best ? n : best;
	}
	return best == PD_NO_NAME ? PD_KEY_LAST : best;
}

int pd_prefer_keys(struct pd_pages *pages, const char *file, uint64_t *key, struct pd_err *e)
{
	struct pd_names hosts = { 0 };
	struct pd_buf url = { 0 }, host = { 0 }, dotted = { 0 };
	int status = read_hosts(file, &hosts, e);
	for (uint32_t i = 0; !status && i < pages->n; i++) {
		pd_tsv_value(pd_pages_view(pages, i).url, &url);
		pd_url_host(pd_buf_span(&url), &host);
		pd_buf_set(&dotted, pd_span_z("."));
		pd_buf_add_span(&dotted, pd_buf_span(&host));
		key[i] = host.n ? host_key(&hosts, pd_buf_span(&dotted)) : PD_KEY_LAST;
	}
	pd_names_release(&hosts);
	pd_buf_release(&url);
	pd_buf_release(&host);
	pd_buf_release(&dotted);
	return status;
}
