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
/* Its steps are private. */
#include "run/rank.c"

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

static void add_link(struct pd_page_links *l, uint64_t page, uint64_t domains)
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
	struct pd_ranker *r = pd_zalloc(sizeof *r);
	struct pd_pipeline *p = pd_zalloc(sizeof *p);
	struct pd_page_links *l = &p->links;
	struct pd_buf packed = { 0 };
	struct pd_err e;
	*r = (struct pd_ranker){ .o = PD_RANK_DEFAULTS,
				 .budget = &budget,
				 .threads = 1,
				 .lines = pd_tempfile_open(NULL, &e),
				 .links = pd_tempfile_open(NULL, &e) };
	if (!pages || !r->lines || !r->links)
		return 2;
	for (uint64_t i = 0; i < pages; i++) {
		char id[32], url[64];
		snprintf(id, sizeof id, "gen:%" PRIu64, i);
		snprintf(url, sizeof url, "http://h%" PRIu64 ".example/%" PRIu64, i % (pages / 20 + 1), i);
		p->page.id = pd_span_z(id);
		p->page.url = l->page = pd_span_z(url);
		for (uint64_t k = 0; k < links; k++)
			add_link(l, few(pages), pages / 20 + 1);
		pd_buf_clear(&packed);
		pack_page(p, NULL, NULL, &packed);
		take_page(r, pd_buf_span(&packed));
		for (size_t k = 0; k < l->n; k++) {
			free((char *)l->v[k].target.p);
			free((char *)l->v[k].host.p);
		}
		l->n = 0;
	}
	if (write_ranks(r, stdout, &e)) {
		fprintf(stderr, "%s\n", e.text);
		return 2;
	}
	fprintf(stderr, "%" PRIu64 " pages, %" PRIu64 " links, %" PRIu64 " domains\n", r->counts.pages, r->counts.links,
		r->counts.domains);
	pd_page_links_release(l);
	free(p);
	pd_buf_release(&packed);
	return 0;
}
