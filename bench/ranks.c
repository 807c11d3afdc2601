/* SPDX-License-Identifier: MIT
 *
 * Measure ranks: make PAGES pages of PAGES / 20 + 1 domains, each with LINKS links, most of them to few pages, and print
 * the ranks.  Data beyond MEGABYTES is kept in files, as with `rank --memory`.
 *
 *	ranks PAGES LINKS MEGABYTES
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "run/rank.h"

static uint64_t state = 1;

static uint64_t random_number(void)
{
	state += UINT64_C(0x9E3779B97F4A7C15);
	return pd_hash64(&state, sizeof state);
}

/* Return a number below n; small numbers are much more frequent. */
static uint64_t few(uint64_t n)
{
	double x = (double)(random_number() >> 11) / (double)(UINT64_C(1) << 53);
	return (uint64_t)((double)n * x * x * x);
}

static void add(struct pd_page_links *l, uint64_t page, uint64_t domains)
{
	char host[32], target[64];
	snprintf(host, sizeof host, "h%" PRIu64 ".example", page % domains);
	snprintf(target, sizeof target, "http://%s/%" PRIu64, host, page);
	l->v = pd_grow(l->v, l->n, &l->cap, sizeof *l->v);
	l->v[l->n++] = (struct pd_page_link){ .target = pd_span_z(pd_strndup(target, strlen(target))),
					      .host = pd_span_z(pd_strndup(host, strlen(host))),
					      .type = PD_LINK_TEXT };
}

int main(int argc, char **argv)
{
	uint64_t pages = argc > 3 ? strtoull(argv[1], NULL, 10) : 0, links = argc > 3 ? strtoull(argv[2], NULL, 10) : 0;
	struct pd_budget budget = { .limit = argc > 3 ? (size_t)strtoull(argv[3], NULL, 10) << 20 : 0 };
	struct pd_rank_options o = PD_RANK_DEFAULTS;
	struct pd_page_links l = { .n = 0 };
	struct pd_buf packed = { 0 };
	struct pd_ranker *r;
	struct pd_err e;
	if (!pages || pd_ranker_new(&r, &o, &budget, &e))
		return 2;
	for (uint64_t i = 0; i < pages; i++) {
		char id[32], url[64];
		snprintf(id, sizeof id, "gen:%" PRIu64, i);
		snprintf(url, sizeof url, "http://h%" PRIu64 ".example/%" PRIu64, i % (pages / 20 + 1), i);
		l.page = pd_span_z(url);
		for (uint64_t k = 0; k < links; k++)
			add(&l, few(pages), pages / 20 + 1);
		pd_buf_clear(&packed);
		pd_rank_pack(&l, pd_span_z(id), l.page, NULL, &packed);
		pd_rank_take(r, pd_buf_span(&packed));
		for (size_t k = 0; k < l.n; k++) {
			free((char *)l.v[k].target.p);
			free((char *)l.v[k].host.p);
		}
		l.n = 0;
	}
	if (pd_rank_write(r, stdout, &e)) {
		fprintf(stderr, "%s\n", e.text);
		return 2;
	}
	struct pd_rank_counts c = pd_rank_counts(r);
	fprintf(stderr, "%" PRIu64 " pages, %" PRIu64 " links, %" PRIu64 " domains\n", c.pages, c.links, c.domains);
	pd_ranker_free(r);
	pd_page_links_release(&l);
	pd_buf_release(&packed);
	return 0;
}
