/* SPDX-License-Identifier: MIT */
#include "base/sort.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/runs.h"
#include "base/threads.h"

/* --- one pass of a radix sort --- */

void pd_radix_init(struct pd_radix *r, size_t n_stretches, size_t n_parts)
{
	*r = (struct pd_radix){ .n_stretches = n_stretches, .n_parts = n_parts };
	r->next = pd_zalloc(n_stretches * n_parts * sizeof *r->next);
	r->part = pd_alloc((n_parts + 1) * sizeof *r->part);
}

void pd_radix_sum(struct pd_radix *r)
{
	size_t at = 0;
	for (size_t p = 0; p < r->n_parts; p++) {
		r->part[p] = at;
		for (size_t s = 0; s < r->n_stretches; s++) {
			size_t n = r->next[s * r->n_parts + p];
			r->next[s * r->n_parts + p] = at;
			at += n;
		}
	}
	r->part[r->n_parts] = at;
}

void pd_radix_release(struct pd_radix *r)
{
	free(r->next);
	free(r->part);
	*r = (struct pd_radix){ 0 };
}

/* --- lists ---
 *
 * One list is sorted by radix from the lowest digit up; digits that are equal in all keys are skipped (page numbers
 * fill only some of the 64 bits).  Lists in memory are distributed over partitions by the highest bits that any key
 * has, and the small partitions are sorted on all threads.  Lists on disk are runs and are merged. */

#define DIGIT_BITS 11
#define DIGITS 6
#define VALUES (1 << DIGIT_BITS)

static size_t digit_of(uint64_t key, int d)
{
	return key >> (d * DIGIT_BITS) & (VALUES - 1);
}

static void count_digits(const struct pd_items *s, size_t (*counts)[VALUES])
{
	for (size_t i = 0; i < s->n; i++)
		for (int d = 0; d < DIGITS; d++)
			counts[d][digit_of(s->v[i].key, d)]++;
}

static void place_items(const struct pd_items *s, struct pd_item *to, size_t *counts, int d)
{
	size_t at = 0;
	for (size_t v = 0; v < VALUES; v++) {
		size_t n = counts[v];
		counts[v] = at;
		at += n;
	}
	for (size_t i = 0; i < s->n; i++)
		to[counts[digit_of(s->v[i].key, d)]++] = s->v[i];
}

void pd_items_sort(struct pd_items *s)
{
	if (s->n < 2)
		return;
	size_t(*counts)[VALUES] = pd_zalloc(DIGITS * sizeof *counts);
	struct pd_item *spare = pd_alloc(s->n * sizeof *spare);
	count_digits(s, counts);
	for (int d = 0; d < DIGITS; d++) {
		if (counts[d][digit_of(s->v[0].key, d)] == s->n)
			continue;
		place_items(s, spare, counts[d], d);
		struct pd_item *sorted = spare;
		spare = s->v;
		s->v = sorted;
		s->cap = s->n;
	}
	free(spare);
	free(counts);
}

void pd_items_release(struct pd_items *s)
{
	if (s->mapped)
		munmap(s->v, s->mapped);
	else
		free(s->v);
	*s = (struct pd_items){ 0 };
}

#define SPILL_MIN 4096 /* items: a run of fewer is not worth its place in the merge */

/* Shared by the lists of a budget. */
struct pd_items_spill {
	struct pd_budget *budget;
	size_t bytes; /* limit of all lists together, including the memory for sorting them */
	size_t most;  /* items in a list */
	struct pd_runs *runs;
	/* in files; changed while a run is written, when other threads wait */
	size_t n_runs;
	uint64_t in_files;
};

static size_t item_size(struct pd_span bytes)
{
	return bytes.n < sizeof(struct pd_item) ? 0 : sizeof(struct pd_item);
}

static uint64_t item_key(const char *record)
{
	return ((const struct pd_item *)(const void *)record)->key;
}

struct pd_items *pd_items_lists(int n, struct pd_budget *budget)
{
	static const struct pd_runs_type type = { .size = item_size, .key = item_key };
	struct pd_items *lists = pd_zalloc((size_t)n * sizeof *lists);
	if (!budget)
		return lists;
	struct pd_items_spill *spill = pd_zalloc(sizeof *spill);
	*spill = (struct pd_items_spill){ .budget = budget, .bytes = pd_budget_left(budget) / 4 };
	/* A list and the same size again for sorting it, or the array into which all lists are gathered. */
	spill->most = spill->bytes / (2 * sizeof(struct pd_item)) / (size_t)n;
	spill->most = spill->most > SPILL_MIN ? spill->most : SPILL_MIN;
	spill->runs = pd_runs_new(&type, budget->tmp_dir);
	for (int i = 0; i < n; i++)
		lists[i].spill = spill;
	return lists;
}

static void write_run(struct pd_items *s)
{
	pd_items_sort(s);
	pd_runs_begin(s->spill->runs);
	pd_runs_add(s->spill->runs, s->v, s->n * sizeof *s->v);
	s->spill->n_runs++;
	s->spill->in_files += s->n * sizeof *s->v;
	pd_runs_end(s->spill->runs, NULL); /* an error waits for the merge */
	s->n = 0;
}

void pd_items_room(struct pd_items *s)
{
	size_t most = s->spill ? s->spill->most : SIZE_MAX, want = s->n + s->n / 2 + 16;
	if (s->n >= most) {
		write_run(s);
		return;
	}
	s->cap = want < most ? want : most;
	s->v = pd_realloc(s->v, s->cap * sizeof *s->v);
}

#define PART_ITEMS 8192	 /* in a part, on average, */
#define PART_BITS_MAX 12 /* unless there would be too many places to write to at once */

struct gathering {
	struct pd_items *lists, all;
	size_t n_lists;
	int shift;
	struct pd_radix radix; /* each list is a stretch */
};

static void count_task(void *ctx, size_t list, int thread)
{
	const struct gathering *g = ctx;
	const struct pd_items *from = &g->lists[list];
	size_t *next = pd_radix_next(&g->radix, list);
	(void)thread;
	for (size_t i = 0; i < from->n; i++)
		next[from->v[i].key >> g->shift]++;
}

static void deal_task(void *ctx, size_t list, int thread)
{
	const struct gathering *g = ctx;
	struct pd_items *from = &g->lists[list];
	size_t *next = pd_radix_next(&g->radix, list);
	(void)thread;
	for (size_t i = 0; i < from->n; i++)
		g->all.v[next[from->v[i].key >> g->shift]++] = from->v[i];
	free(from->v);
}

static void sort_part_task(void *ctx, size_t p, int thread)
{
	const struct gathering *g = ctx;
	struct pd_item *to = g->all.v + g->radix.part[p];
	size_t n = g->radix.part[p + 1] - g->radix.part[p];
	struct pd_items part = { .v = pd_alloc(n * sizeof *part.v), .n = n, .cap = n };
	(void)thread;
	memcpy(part.v, to, n * sizeof *to);
	pd_items_sort(&part);
	memcpy(to, part.v, n * sizeof *to);
	free(part.v);
}

static size_t choose_parts(struct gathering *g)
{
	uint64_t all = 0;
	int bits = 0, key_bits = 1;
	for (size_t l = 0; l < g->n_lists; l++)
		for (size_t i = 0; i < g->lists[l].n; i++)
			all |= g->lists[l].v[i].key;
	while (key_bits < 64 && all >> key_bits)
		key_bits++;
	while (bits < PART_BITS_MAX && bits < key_bits - 1 && g->all.n >> bits > PART_ITEMS)
		bits++;
	g->shift = key_bits - bits < 64 ? key_bits - bits : 63;
	return (size_t)1 << bits << (bits == 0); /* a shift of 64 is undefined: use two partitions instead of one */
}

static void gather_in_memory(struct gathering *g, int threads)
{
	size_t n_parts = choose_parts(g);
	pd_radix_init(&g->radix, g->n_lists, n_parts);
	g->all.v = pd_big_alloc(g->all.n * sizeof *g->all.v);
	g->all.cap = g->all.n;
	pd_parallel(threads, g->n_lists, count_task, g);
	pd_radix_sum(&g->radix);
	pd_parallel(threads, g->n_lists, deal_task, g);
	pd_parallel(threads, n_parts, sort_part_task, g);
	pd_radix_release(&g->radix);
}

/* Gather into a mapped file: lists that did not fit into memory do not fit as one list either. */
static int merge_runs(struct pd_items_spill *spill, size_t n, struct pd_items *out, struct pd_err *e)
{
	FILE *file;
	struct pd_span record;
	int status = pd_runs_merge(spill->runs, spill->bytes / 2, e);
	if (status)
		return status;
	out->v = pd_tempfile_map(spill->budget->tmp_dir, n * sizeof *out->v, &file, e);
	if (!out->v)
		return PD_ERR_SYSTEM;
	fclose(file);
	out->cap = n;
	out->mapped = n * sizeof *out->v;
	while (!status && pd_runs_see(spill->runs, &record)) {
		memcpy(&out->v[out->n++], record.p, sizeof *out->v);
		status = pd_runs_step(spill->runs, e);
	}
	if (status)
		pd_items_release(out);
	return status;
}

/* The remaining items of the lists stay in memory as one run each. */
static int gather_spilled(struct pd_items *lists, int n_lists, uint64_t in_files, struct pd_items *out, struct pd_err *e)
{
	size_t n = in_files / sizeof(struct pd_item);
	for (int i = 0; i < n_lists; i++) {
		struct pd_items *s = &lists[i];
		pd_items_sort(s);
		n += s->n;
		pd_runs_keep(s->spill->runs, &(struct pd_buf){ (char *)s->v, s->n * sizeof *s->v, s->cap * sizeof *s->v });
	}
	return merge_runs(lists[0].spill, n, out, e);
}

int pd_items_gather(struct pd_items *lists, int n_lists, int threads, struct pd_items *out, struct pd_err *e)
{
	struct pd_items_spill *spill = lists[0].spill;
	struct gathering g = { .lists = lists, .n_lists = (size_t)n_lists };
	uint64_t in_files = spill ? spill->in_files : 0;
	size_t n_runs = spill ? spill->n_runs : 0;
	int status = PD_OK;
	for (int i = 0; i < n_lists; i++)
		g.all.n += lists[i].n;
	if (out)
		*out = (struct pd_items){ 0 };
	if (n_runs && out) {
		status = gather_spilled(lists, n_lists, in_files, out, e);
	} else if (g.all.n && out) {
		gather_in_memory(&g, threads);
		*out = g.all;
	} else {
		for (int i = 0; i < n_lists; i++)
			free(lists[i].v);
	}
	if (spill) {
		spill->budget->runs += n_runs;
		spill->budget->in_files += in_files;
		pd_runs_free(spill->runs);
		free(spill);
	}
	free(lists);
	return status;
}
