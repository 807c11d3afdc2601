/* SPDX-License-Identifier: MIT */
#include "run/rank.h"

#ifndef PD_WITHOUT_igraph
#include <igraph/igraph.h>
#endif
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/map.h"
#include "row/tsv.h"
#include "row/columns.h"
#include "row/write.h"
#include "url/canonical.h"
#include "url/host.h"
#include "url/url.h"

/* --- pages as bytes --- */

enum { WORDS = 5 };   /* number of words with which an anchor has its full weight */
enum { COUNTED = 8 }; /* flag above the number of words: the link is neither back nor navigation */

struct packed_link {
	uint64_t target, domain;
	uint64_t what; /* number of words, COUNTED */
};

struct packed_page {
	uint64_t self, domain;
	uint32_t id, url, links; /* lengths of the id and of the URL; number of links after them */
	uint32_t unused;
};

static uint64_t hash_of(struct pd_span s)
{
	return pd_map_key(s);
}

static void add_words(struct pd_segmenter *s, struct pd_span anchor, struct pd_terms *terms, uint64_t *what)
{
	pd_terms_clear(terms);
	if (anchor.n)
		pd_segment(s, anchor, terms);
	*what = terms->n < WORDS ? terms->n : WORDS;
}

static void pack_page(struct pd_pipeline *p, struct pd_json *j, const struct pd_tables *t, struct pd_buf *out)
{
	const struct pd_page_links *links = &p->links;
	struct pd_span id = p->page.id, url = p->page.url;
	struct pd_segmenter *s = p->segmenter;
	struct pd_span site, path;
	struct pd_buf domain = { 0 };
	struct pd_terms terms = { 0 };
	struct packed_page page = { .id = (uint32_t)id.n, .url = (uint32_t)url.n, .links = (uint32_t)links->n };
	page.self = hash_of(links->page);
	if (pd_canonical_split(links->page, &site, &path)) {
		const char *colon = site.p[0] == '[' ? NULL : memchr(site.p, ':', site.n);
		pd_domain_of(colon ? pd_span(site.p, (size_t)(colon - site.p)) : site, &domain);
		page.domain = hash_of(pd_buf_span(&domain));
	}
	pd_buf_add(out, &page, sizeof page);
	pd_buf_add_span(out, id);
	pd_buf_add_span(out, url);
	for (size_t i = 0; i < links->n; i++) {
		const struct pd_page_link *l = &links->v[i];
		struct packed_link link = { .target = hash_of(l->target) };
		pd_domain_of(l->host, &domain);
		link.domain = hash_of(pd_buf_span(&domain));
		add_words(s, l->anchor, &terms, &link.what);
		if (l->type != PD_LINK_BACK && l->type != PD_LINK_NAVIGATION)
			link.what |= COUNTED;
		pd_buf_add(out, &link, sizeof link);
	}
	pd_buf_release(&domain);
	pd_terms_release(&terms);
}

/* --- the graph --- */

/* The upper bits of a link's domain: number of words, and flags that the link is the first to its address. */
enum { DOMAIN_BITS = 27, FOR_GRAPH = 1, FOR_SUMS = 2 };
#define NONE UINT32_MAX
#define DOMAIN_MASK ((1u << DOMAIN_BITS) - 1)

struct link {
	uint64_t target; /* hash of its canonical URL */
	uint32_t node;	 /* the page, or NONE: set after all pages were read */
	uint32_t domain; /* number; the bits above are words << 2 | FOR_… */
};

struct record {
	uint64_t first; /* index of its first link; they end at the first link of the next record */
	uint32_t node, domain;
};

struct pd_ranker {
	struct pd_rank_options o;
	struct pd_budget *budget;
	struct pd_array links_at, records_at;
	struct link *links;
	struct record *records;
	size_t n_links, n_records;
	struct pd_map pages, domains; /* hash -> 1 + number */
	uint32_t *domain_node;	      /* by domain, or NONE: it has no page */
	size_t n_domain_nodes;
	uint32_t *domain_of; /* by page */
	size_t cap_domain_of;
	struct pd_buf line;
	struct pd_map seen;			  /* addresses in the current page: FOR_… */
	FILE *lines;				  /* id, tab, URL of each record */
	double *page_rank, *domain_rank;	  /* by node */
	struct pd_map known_pages, known_domains; /* hash -> rank from a file, as the bits of a float */
	struct {
		uint64_t pages, links, domains; /* links: between pages of the dump */
	} counts;
	struct pd_err err;
	int status;
};

static void *grown(struct pd_array *a, struct pd_budget *budget, size_t n, size_t size)
{
	size_t room = a->bytes / size;
	if (n <= room)
		return a->p;
	room = room < 512 ? 1024 : room + room / 2;
	return pd_array_room(a, budget, (room < n ? n : room) * size);
}

static uint32_t number_for_hash(struct pd_map *m, uint64_t hash)
{
	uint32_t *number = pd_map_put(m, hash);
	if (!*number)
		*number = (uint32_t)m->n;
	return *number - 1;
}

/* Read lines of name, tab, number; `url`: names are URLs. */
static int read_known(struct pd_map *m, const char *path, bool url, struct pd_err *e)
{
	FILE *f = pd_input_fopen(path, e);
	struct pd_line_reader l = { .f = f, .path = path };
	struct pd_canonical canonical = { .form = PD_FORM_CANONICAL };
	struct pd_url u = { .why = NULL };
	struct pd_buf name = { 0 };
	struct pd_span line, first;
	int status = f ? 1 : e->status;
	while (f && (status = pd_line_next(&l, &line, e)) == 1) {
		char z[40], *end = z;
		if (!line.n || line.p[0] == '#')
			continue;
		pd_span_split(&line, '\t', &first);
		snprintf(z, sizeof z, "%.*s", (int)line.n, line.p ? line.p : "");
		float rank = strtof(z, &end);
		if (!line.n || line.n >= sizeof z || *end || !isfinite(rank) || rank < 0) {
			status = pd_fail(e, PD_ERR_FORMAT, "%s:%" PRIu64 ": not a name, a tab and a rank of 0 or more", path, l.no);
			break;
		}
		pd_buf_set(&name, first);
		if (url && pd_url_parse(first, NULL, &u))
			pd_canonical_make(&canonical, &u, &name);
		memcpy(pd_map_put(m, hash_of(pd_buf_span(&name))), &rank, sizeof rank);
	}
	pd_line_reader_release(&l);
	if (f)
		fclose(f);
	pd_url_release(&u);
	pd_canonical_release(&canonical);
	pd_buf_release(&name);
	return status;
}

static void take_link(struct pd_ranker *r, const struct packed_link *l, bool again)
{
	uint32_t *seen = pd_map_put(&r->seen, l->target), first = 0,
		 wants = (again ? 0 : FOR_GRAPH) | (l->what & COUNTED ? FOR_SUMS : 0);
	first = wants & ~*seen;
	*seen |= first;
	if (!first)
		return;
	r->links = grown(&r->links_at, r->budget, r->n_links + 1, sizeof *r->links);
	r->links[r->n_links++] =
		(struct link){ l->target, NONE,
			       number_for_hash(&r->domains, l->domain) | (uint32_t)((l->what & 7) << 2 | first) << DOMAIN_BITS };
	if (r->domains.n > DOMAIN_MASK && !r->status)
		r->status = pd_fail(&r->err, PD_ERR_LIMIT, "over %u domains", DOMAIN_MASK);
}

static void take_page(void *ranker, struct pd_span packed)
{
	struct pd_ranker *r = ranker;
	struct packed_page page;
	if (r->status)
		return;
	memcpy(&page, packed.p, sizeof page);
	const char *at = packed.p + sizeof page;
	uint32_t before = (uint32_t)r->pages.n, node = number_for_hash(&r->pages, page.self),
		 domain = number_for_hash(&r->domains, page.domain);
	bool again = node < before;
	if (!again) {
		r->domain_of = pd_grow(r->domain_of, node, &r->cap_domain_of, sizeof *r->domain_of);
		r->domain_of[node] = domain;
	}
	r->records = grown(&r->records_at, r->budget, r->n_records + 2, sizeof *r->records);
	r->records[r->n_records++] = (struct record){ r->n_links, node, domain };
	pd_buf_clear(&r->line);
	pd_tsv_add(&r->line, pd_span(at, page.id));
	pd_buf_add_c(&r->line, '\t');
	pd_tsv_add(&r->line, pd_span(at + page.id, page.url));
	pd_buf_add_c(&r->line, '\n');
	if (fwrite(r->line.p, 1, r->line.n, r->lines) != r->line.n)
		r->status = pd_fail_errno(&r->err, "cannot write a temporary file");
	at += page.id + page.url;
	pd_map_clear(&r->seen, page.links);
	for (uint32_t i = 0; i < page.links; i++) {
		struct packed_link link;
		memcpy(&link, at + i * sizeof link, sizeof link);
		take_link(r, &link, again);
	}
	r->records[r->n_records].first = r->n_links;
}

static unsigned flags_of(const struct link *l)
{
	return l->domain >> DOMAIN_BITS;
}

static uint32_t domain_of(const struct link *l)
{
	return l->domain & DOMAIN_MASK;
}

/* --- ranks --- */

#ifndef PD_WITHOUT_igraph

/* Iterates over all links that count, by pages or by their domains, in the order of the input. */
struct edge_walk {
	uint32_t from, to;
	size_t record, link;
};

static bool next_edge(const struct pd_ranker *r, bool domains, struct edge_walk *w)
{
	for (; w->record < r->n_records; w->record++) {
		const struct record *rec = &r->records[w->record];
		for (w->link = w->link < rec->first ? rec->first : w->link; w->link < rec[1].first;) {
			const struct link *l = &r->links[w->link++];
			w->from = domains ? r->domain_node[rec->domain] : rec->node;
			w->to = domains ? r->domain_node[domain_of(l)] : l->node;
			if ((flags_of(l) & FOR_GRAPH) && w->to != NONE && w->to != w->from)
				return true;
		}
	}
	return false;
}

/* Memory of igraph's graph while it is built, which is its peak: for each edge the list of edges, both ends, two
 * indexes, and the scratch of their sort. */
enum { EDGE_BYTES = 56, NODE_BYTES = 64 };

static int graph_fits(struct pd_ranker *r, uint64_t nodes, uint64_t edges)
{
	uint64_t bytes = edges * EDGE_BYTES + nodes * NODE_BYTES, left = pd_budget_left(r->budget);
	if (edges > INT32_MAX) /* limit of the library's solver */
		return pd_fail(&r->err, PD_ERR_LIMIT, "over %d links between the pages", INT32_MAX);
	if (bytes <= left)
		return PD_OK;
	return pd_fail(&r->err, PD_ERR_LIMIT,
		       "the graph of %" PRIu64 " links takes %" PRIu64 " MB of memory, and %" PRIu64
		       " MB of --memory=%zuM are free; give more, or ranks in files (--page-ranks, --domain-ranks)",
		       edges, bytes >> 20, left >> 20, r->budget->limit >> 20);
}

/* From OpenMP, declared here: clang has the header in a separate package. */
void omp_set_num_threads(int n);

static bool inside_openmp;

/* OpenMP cannot report lack of memory: it ends the process with status 1, and partial output would remain. */
static void end_in_openmp(void)
{
	if (inside_openmp)
		pd_out_of_memory();
}

static igraph_error_t solve(const igraph_t *graph, double damping, igraph_vector_t *out)
{
	/* With several threads the order of additions varies, and the last digits would differ from run to run. */
	static bool expected;
	if (!expected)
		atexit(end_in_openmp);
	expected = inside_openmp = true;
	omp_set_num_threads(1);
	inside_openmp = false;
#if IGRAPH_VERSION_MAJOR >= 1
	return igraph_pagerank(graph, NULL, out, NULL, damping, IGRAPH_DIRECTED, igraph_vss_all(), IGRAPH_PAGERANK_ALGO_PRPACK,
			       NULL);
#else
	return igraph_pagerank(graph, IGRAPH_PAGERANK_ALGO_PRPACK, out, NULL, igraph_vss_all(), IGRAPH_DIRECTED, damping, NULL,
			       NULL);
#endif
}

/* Compute PageRank of all nodes, scaled to a mean of 1. */
static int rank_nodes(struct pd_ranker *r, size_t nodes, bool domains, double **out, uint64_t *n_edges)
{
	igraph_vector_int_t edges = { 0 };
	igraph_vector_t rank = { 0 };
	igraph_t graph;
	size_t at = 0;
	struct edge_walk w = { 0 };
	for (*n_edges = 0; next_edge(r, domains, &w);)
		++*n_edges;
	*out = pd_alloc((nodes + 1) * sizeof **out);
	int status = graph_fits(r, nodes, *n_edges);
	if (status || !nodes)
		return status;
	igraph_set_error_handler(igraph_error_handler_ignore); /* errors are returned and not fatal */
	igraph_error_t failed = igraph_vector_int_init(&edges, (igraph_integer_t)(2 * *n_edges));
	for (w = (struct edge_walk){ 0 }; !failed && next_edge(r, domains, &w); at += 2) {
		VECTOR(edges)[at] = w.from;
		VECTOR(edges)[at + 1] = w.to;
	}
	if (!failed)
		failed = igraph_create(&graph, &edges, (igraph_integer_t)nodes, IGRAPH_DIRECTED);
	igraph_vector_int_destroy(&edges);
	if (!failed) {
		failed = igraph_vector_init(&rank, 0);
		if (!failed)
			failed = solve(&graph, r->o.damping, &rank);
		igraph_destroy(&graph);
	}
	for (size_t i = 0; !failed && i < nodes; i++)
		(*out)[i] = VECTOR(rank)[i] * (double)nodes;
	igraph_vector_destroy(&rank);
	if (failed == IGRAPH_ENOMEM)
		pd_out_of_memory();
	return failed ? pd_fail(&r->err, PD_ERR_SYSTEM, "cannot compute ranks: %s", igraph_strerror(failed)) : PD_OK;
}

#else

static int rank_nodes(struct pd_ranker *r, size_t nodes, bool domains, double **out, uint64_t *n_edges)
{
	return pd_fail(&r->err, PD_ERR_USAGE,
		       "this program was built without igraph, which computes ranks; build it with igraph, or give ranks in files "
		       "(--page-ranks, --domain-ranks)");
}

#endif

static double known_or(const struct pd_map *known, bool asked, uint64_t hash, double own)
{
	const uint32_t *bits = asked ? pd_map_find(known, hash) : NULL;
	float rank = 0;
	if (bits)
		memcpy(&rank, bits, sizeof rank);
	return asked ? (double)rank : own;
}

/* --- rows --- */

static void add_sums(const struct pd_ranker *r, const uint64_t *domain_hash, const struct record *rec, double sum[3])
{
	sum[0] = sum[1] = sum[2] = 0;
	for (uint64_t i = rec->first; i < rec[1].first; i++) {
		const struct link *l = &r->links[i];
		if (!(flags_of(l) & FOR_SUMS))
			continue;
		uint32_t d = domain_of(l);
		sum[0] += known_or(&r->known_pages, r->o.page_ranks, l->target, l->node == NONE ? 0 : r->page_rank[l->node]);
		sum[1] += known_or(&r->known_domains, r->o.domain_ranks, domain_hash[d],
				   r->domain_node[d] == NONE ? 0 : r->domain_rank[r->domain_node[d]]);
		sum[2] += (flags_of(l) >> 2) / (double)WORDS;
	}
}

static double weighted(const double w[3], const double sum[3])
{
	return w[0] * sum[0] + w[1] * sum[1] + w[2] * sum[2];
}

static int write_rows(struct pd_ranker *r, const uint64_t *domain_hash, struct pd_buf *out, FILE *to)
{
	struct pd_line_reader lines = { .f = r->lines, .path = "a temporary file" };
	int status = PD_OK;
	if (fflush(r->lines) || fseeko(r->lines, 0, SEEK_SET) < 0)
		status = pd_fail_errno(&r->err, "cannot read a temporary file");
	for (size_t i = 0; !status && i < r->n_records; i++) {
		const struct record *rec = &r->records[i];
		struct pd_span line;
		double sum[3];
		int got = pd_line_next(&lines, &line, &r->err);
		if (got != 1) {
			status = got < 0 ? got : pd_fail(&r->err, PD_ERR_FORMAT, "a temporary file is truncated");
			break;
		}
		add_sums(r, domain_hash, rec, sum);
		pd_buf_add_span(out, line);
		pd_buf_printf(out, "\t%.6g\t%.6g\t%.6g\t%.6g\n", r->page_rank[rec->node],
			      r->domain_rank[r->domain_node[rec->domain]], weighted(r->o.signature, sum),
			      weighted(r->o.quality, sum));
		if (out->n > 1 << 16) {
			fwrite(out->p, 1, out->n, to);
			pd_buf_clear(out);
		}
	}
	pd_line_reader_release(&lines);
	pd_buf_printf(out, "# total rows=%zu\n", r->n_records);
	return status;
}

/* Write the rows, with their header, after all pages. */
static int write_ranks(void *ranker, FILE *to, struct pd_err *e)
{
	struct pd_ranker *r = ranker;
	struct pd_buf out = { 0 };
	uint64_t edges, *domain_hash, *keys;
	if (!r->status)
		r->status = pd_budget_check(r->budget, &r->err);
	if (!r->status) {
		r->domain_node = pd_alloc((r->domains.n + 1) * sizeof *r->domain_node);
		for (size_t i = 0; i < r->domains.n; i++)
			r->domain_node[i] = NONE;
		for (size_t i = 0; i < r->n_records; i++) {
			uint32_t *node = &r->domain_node[r->records[i].domain];
			*node = *node == NONE ? (uint32_t)r->n_domain_nodes++ : *node;
		}
		for (size_t i = 0; i < r->n_links; i++) {
			const uint32_t *node = pd_map_find(&r->pages, r->links[i].target);
			r->links[i].node = node ? *node - 1 : NONE;
		}
		r->status = rank_nodes(r, r->pages.n, false, &r->page_rank, &r->counts.links);
	}
	if (!r->status)
		r->status = rank_nodes(r, r->n_domain_nodes, true, &r->domain_rank, &edges);
	if (r->status) {
		*e = r->err;
		return r->status;
	}
	r->counts.pages = r->n_records;
	r->counts.domains = r->n_domain_nodes;
	domain_hash = pd_zalloc((r->domains.n + 1) * sizeof *domain_hash);
	keys = pd_alloc((r->domains.n + 1) * sizeof *keys);
	pd_map_keys(&r->domains, keys);
	for (size_t i = 0; i < r->domains.n; i++)
		domain_hash[*pd_map_find(&r->domains, keys[i]) - 1] = keys[i];
	free(keys);
	const double *s = r->o.signature, *q = r->o.quality;
	pd_buf_printf(&out, "# pagededup ranks 1 types=%d damping=%g signature=%g,%g,%g quality=%g,%g,%g |%s\n",
		      PD_LINK_TYPES_VERSION, r->o.damping, s[0], s[1], s[2], q[0], q[1], q[2], PD_ROW_ENDS);
	pd_row_names(pd_ranks_columns, &out);
	int status = write_rows(r, domain_hash, &out, to);
	fwrite(pd_buf_z(&out), 1, out.n, to);
	pd_buf_release(&out);
	free(domain_hash);
	if (status)
		*e = r->err;
	return status;
}

/* --- the walk --- */

int pd_walk_rank(const struct pd_walk_options *walk, const struct pd_rank_options *o, char **inputs, int n_inputs,
		 struct pd_log *log, struct pd_err *e)
{
	struct pd_budget budget = { .limit = o->memory ? o->memory : pd_memory_default(), .tmp_dir = walk->tmp_dir };
	struct pd_walk_options w = *walk;
	w.page.links = true;
	struct pd_ranker *r = pd_zalloc(sizeof *r);
	*r = (struct pd_ranker){ .o = *o, .budget = &budget, .lines = pd_tempfile_open(budget.tmp_dir, e) };
	int status = r->lines ? PD_OK : PD_ERR_SYSTEM;
	if (!status && o->page_ranks)
		status = read_known(&r->known_pages, o->page_ranks, true, e);
	if (!status && o->domain_ranks)
		status = read_known(&r->known_domains, o->domain_ranks, false, e);
	struct pd_walker walker = { .row = pack_page, .take = take_page, .finish = write_ranks, .ctx = r };
	if (!status)
		status = pd_walk(&walker, &w, inputs, n_inputs, log, e);
	if (status >= 0 && !w.quiet) {
		pd_log_note(log, "%" PRIu64 " pages, %" PRIu64 " links between them, %" PRIu64 " domains", r->counts.pages,
			    r->counts.links, r->counts.domains);
	}
	pd_array_release(&r->links_at);
	pd_array_release(&r->records_at);
	pd_map_release(&r->pages);
	pd_map_release(&r->domains);
	pd_map_release(&r->seen);
	pd_map_release(&r->known_pages);
	pd_map_release(&r->known_domains);
	pd_buf_release(&r->line);
	if (r->lines)
		fclose(r->lines);
	free(r->domain_node);
	free(r->domain_of);
	free(r->page_rank);
	free(r->domain_rank);
	free(r);
	return status;
}
