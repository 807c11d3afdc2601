/* SPDX-License-Identifier: MIT
 * Pairs rows as text, the first byte chooses the page kept: in a star every page left out has an edge to the kept one's
 * node or shares a node that has, kept pages have none to one another, `via` leads to the page kept,
 * and verdicts have all their columns. */
#include "base/columns.h"
#include "base/tsv.h"
#include "fuzz.h"
#include "write/verdict_row.h"

enum { PAGES = 128 };

static void bad_row(void *ctx, const char *why)
{
	HOLDS(why && why[0]);
	*(uint64_t *)ctx += 1;
}

/* The smallest page of each page's component, over all edges or those of the same alone. */
static void join(const struct pd_pages *p, bool same, uint32_t *name)
{
	bool changed = true;
	for (uint32_t i = 0; i < p->n; i++)
		name[i] = i;
	while (changed) {
		changed = false;
		for (size_t i = 0; i < p->n_edges; i++) {
			uint32_t *a = &name[p->edges[i].a], *b = &name[p->edges[i].b];
			if ((same && !p->edges[i].same) || *a == *b)
				continue;
			*a = *b = *a < *b ? *a : *b;
			changed = true;
		}
	}
}

static void check_via(const struct pd_pages *p, const struct pd_verdict *m)
{
	for (uint32_t i = 0; i < p->n; i++) {
		uint32_t at = i, steps = 0;
		if (m[i].cluster == PD_NO_CLUSTER)
			continue;
		for (; m[at].via != at && steps <= p->n; steps++) {
			HOLDS(m[at].via < p->n && m[at].edge < p->n_edges);
			at = m[at].via;
		}
		HOLDS(at == m[i].keep && m[at].edge == UINT32_MAX && m[at].keep == at && m[at].cluster == m[i].cluster);
	}
}

static void check_star(const struct pd_pages *p, const struct pd_verdict *m, const uint32_t *rank)
{
	uint32_t node[PAGES];
	bool near[PAGES] = { 0 };
	join(p, true, node);
	for (size_t i = 0; i < p->n_edges; i++) {
		uint32_t a = p->edges[i].a, b = p->edges[i].b, ka = m[a].keep, kb = m[b].keep;
		/* Joined pages are both in a cluster; were both kept, one would have taken the other. */
		HOLDS(a == b || (m[a].cluster != PD_NO_CLUSTER) + (m[b].cluster != PD_NO_CLUSTER) > 0);
		HOLDS(a == b || m[a].cluster == PD_NO_CLUSTER || m[b].cluster == PD_NO_CLUSTER || ka != a || kb != b);
		if (m[b].cluster != PD_NO_CLUSTER && node[kb] == node[a])
			near[node[b]] = true;
		if (m[a].cluster != PD_NO_CLUSTER && node[ka] == node[b])
			near[node[a]] = true;
	}
	for (uint32_t i = 0; i < p->n; i++)
		if (m[i].cluster != PD_NO_CLUSTER) {
			HOLDS(node[i] == node[m[i].keep] || near[node[i]]);
			HOLDS(rank[m[i].keep] <= rank[i]);
		}
}

static void check_connected(const struct pd_pages *p, const struct pd_verdict *m)
{
	uint32_t name[PAGES];
	join(p, false, name);
	for (uint32_t i = 0; i < p->n; i++)
		for (uint32_t j = 0; j < i; j++)
			HOLDS((name[i] == name[j]) == (m[i].cluster == m[j].cluster && m[i].cluster != PD_NO_CLUSTER));
}

static void check_rows(const struct pd_pages *p, const struct pd_verdict *m)
{
	struct pd_buf row = { 0 };
	struct pd_span f[PD_TSV_COLUMNS_MAX];
	for (uint32_t i = 0; i < p->n; i++) {
		if (m[i].cluster == PD_NO_CLUSTER)
			continue;
		pd_buf_clear(&row);
		pd_verdict_row(p, &m[i], i, "first", 2, &row);
		HOLDS(memchr(row.p, '\n', row.n) == row.p + row.n - 1);
		HOLDS(pd_tsv_fields(pd_span(row.p, row.n - 1), f, PD_TSV_COLUMNS_MAX) == PD_VERDICTS_COLUMNS);
		for (int k = 0; k < PD_VERDICTS_COLUMNS; k++)
			HOLDS(f[k].n > 0);
	}
	pd_buf_release(&row);
}

static void cluster(const struct pd_pages *p, enum pd_keep keep)
{
	uint32_t rank[PAGES], by_id[PAGES];
	struct pd_verdict members[PAGES];
	struct pd_err e = { 0 };
	if (p->n > PAGES)
		return;
	pd_keep_rank(p, keep, rank, by_id);
	HOLDS(pd_cluster(p->edges, p->n_edges, rank, p->n, PD_LINKAGE_STAR, members, &e) == PD_OK);
	check_via(p, members);
	check_star(p, members, rank);
	check_rows(p, members);
	HOLDS(pd_cluster(p->edges, p->n_edges, rank, p->n, PD_LINKAGE_CONNECTED, members, &e) == PD_OK);
	check_via(p, members);
	check_connected(p, members);
	check_rows(p, members);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	enum pd_keep keep = (enum pd_keep)(fuzz_first(&data, &n) & 3);
	char *paths[] = { (char *)fuzz_file(data, n) };
	uint64_t bad = 0;
	struct pd_pages_options o = { .paths = paths, .n_paths = 1, .bad_row = bad_row, .ctx = &bad };
	struct pd_pages pages;
	struct pd_err e = { 0 };
	int status = pd_pages_read(&pages, &o, &e);
	HOLDS((status == PD_OK || e.text[0]) && bad == pages.bad);
	if (status == PD_OK)
		cluster(&pages, keep);
	pd_pages_release(&pages);
	return 0;
}
