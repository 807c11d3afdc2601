/* SPDX-License-Identifier: MIT
 *
 * The constants of src/index/plan.c, measured on this machine: nanoseconds of one thread, the minimum of several
 * runs.  Keys are random.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/threads.h"
#include "index/scan.h"
#include "index/table.h"

enum { N = 1 << 20, RUNS = 7 };

struct bench {
	uint64_t *keys;
	struct pd_index_table big;
	const struct pd_index_scan *scan;
	enum pd_index_scan_width width;
	size_t n_a, n_b;
	int words;
	struct pd_index_window window;
	uint64_t sum; /* keeps the compiler from removing the measured work */
};

static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* Return the nanoseconds of one operation; one call of `work` does `times` operations. */
static double measure(void (*work)(struct bench *b), struct bench *b, double times)
{
	double best = 1e9;
	for (int i = 0; i < RUNS; i++) {
		double t = pd_thread_seconds();
		work(b);
		t = pd_thread_seconds() - t;
		best = t < best ? t : best;
	}
	return best * 1e9 / times;
}

static struct pd_index_keys keys_of(const struct bench *b, size_t n)
{
	return (struct pd_index_keys){ .bits = 64 * b->words, .n = n, .v = b->keys };
}

static void sort_half(struct bench *b)
{
	struct pd_index_keys keys = keys_of(b, N);
	struct pd_index_source from = pd_index_source_keys(&keys);
	pd_index_table_build_big(&b->big, &from, (struct pd_index_shape){ 0, 16, &b->window }, 1);
}

static void sort_whole(struct bench *b)
{
	struct pd_index_keys keys = keys_of(b, N);
	struct pd_index_source from = pd_index_source_keys(&keys);
	pd_index_table_build_big(&b->big, &from, (struct pd_index_shape){ 0, 16, NULL }, 1);
}

static void sort_inner(struct bench *b)
{
	struct pd_index_table t = { 0 };
	struct pd_index_keys keys = keys_of(b, 4096);
	struct pd_index_source from = pd_index_source_keys(&keys);
	for (int i = 0; i < N / 4096; i++)
		pd_index_table_build(&t, &from, (struct pd_index_shape){ i % 48, 8, NULL });
	pd_index_table_release(&t);
}

static void clear_buckets(struct bench *b)
{
	struct pd_index_table t = { 0 };
	struct pd_index_keys keys = keys_of(b, 16);
	struct pd_index_source from = pd_index_source_keys(&keys);
	for (int i = 0; i < N / 4096; i++) {
		pd_index_table_build(&t, &from, (struct pd_index_shape){ 0, 12, NULL });
		for (size_t v = 0; v < t.n_values; v++)
			b->sum += t.start[v] < t.start[v + 1];
	}
	pd_index_table_release(&t);
}

/* Compare runs of n_a and n_b keys that are rarely within the distance: the cost of misses. */
static void cross(struct bench *b)
{
	struct pd_index_hits hits = { 0 };
	for (int i = 0; i < 2000; i++) {
		size_t at = (size_t)(i * 37 % 1000), other = 2000 + (size_t)(i * 53 % 1000);
		b->scan->by[b->width].cross((struct pd_index_run){ &b->big.columns, at, at + b->n_a },
					    (struct pd_index_run){ &b->big.columns, other, other + b->n_b }, 2, &hits);
	}
	b->sum += hits.n;
	free(hits.v);
}

/* Visit the neighbours of consecutive buckets as a join does: list, prefetch, concatenate and copy them. */
static void gather(struct bench *b)
{
	static struct pd_index_scan_run runs[256];
	static uint16_t begins[257];
	static uint32_t half[1 << 20];
	const struct pd_index_columns to = { .half = half };
	const struct pd_index_scan_loops *loops = &pd_index_scan_best()->by[PD_SCAN_HALF];
	for (size_t v = 0; v < 4096; v++) {
		size_t n = 0, keys = 0;
		for (int bit = 0; bit < 16; bit++)
			for (int other = 0; other < 16; other++) {
				struct pd_index_run r =
					pd_index_table_bucket(&b->big, v ^ ((size_t)1 << bit) ^ ((size_t)1 << other));
				__builtin_prefetch(b->big.columns.half + r.from);
				runs[n] = (struct pd_index_scan_run){ (uint32_t)r.from, (uint32_t)(r.to - r.from) };
				n += r.to != r.from;
			}
		for (size_t i = 0; i < n && keys < sizeof half / sizeof *half / 2; keys += runs[i++].n)
			begins[i] = (uint16_t)keys;
		loops->gather(&b->big.columns, runs, n, &to);
		b->sum += half[keys / 2] + begins[n / 2];
	}
}

static void probe(struct bench *b)
{
	for (size_t v = 0; v < 4096; v++)
		for (int bit = 0; bit < 16; bit++)
			for (int other = 0; other < 16; other++) {
				struct pd_index_run r =
					pd_index_table_bucket(&b->big, v ^ ((size_t)1 << bit) ^ ((size_t)1 << other));
				b->sum += r.to - r.from;
			}
}

/* Load the keys of pairs of positions in random order. */
static void candidate(struct bench *b)
{
	for (size_t i = 0; i < 100000; i++) {
		size_t x = b->big.index[i], y = b->big.index[(i + N / 2) % N];
		b->sum += (uint64_t)__builtin_popcountll(b->keys[x] ^ b->keys[y]) <= 8;
	}
}

static void print_path(struct bench *b, const struct pd_index_scan *scan)
{
	static const int lanes[PD_SCAN_PATHS][2] = { { 4, 2 }, { 4, 2 }, { 8, 4 }, { 16, 8 } };
	double small = 0;
	b->scan = scan;
	printf("%-10s", scan->name);
	for (int width = 0; width < PD_SCAN_WIDTHS; width++) {
		b->width = (enum pd_index_scan_width)width;
		b->n_a = b->n_b = 512;
		printf(" %8.2f", measure(cross, b, 2000.0 * 512 * 512 / lanes[scan->path][width > 0]));
		b->n_a = b->n_b = 1;
		small += width ? 0 : measure(cross, b, 2000);
	}
	printf(" %8.1f\n", small);
}

int main(void)
{
	struct bench b = { .words = 1, .window = { .n_pieces = 1, .bits = 32, .piece = { { 32, 32 } } } };
	uint64_t state = 1;
	b.keys = malloc((size_t)N * PD_KEY_WORDS * sizeof *b.keys);
	for (size_t i = 0; i < (size_t)N * PD_KEY_WORDS; i++)
		b.keys[i] = next_random(&state);
	printf("nanoseconds\nbucket        %8.2f\n", measure(clear_buckets, &b, N));
	printf("sort, inner   %8.2f\n", measure(sort_inner, &b, N));
	for (b.words = 4; b.words; b.words /= 2)
		printf("sort, whole %d %8.2f\n", b.words, measure(sort_whole, &b, N));
	b.words = 1;
	printf("sort, half    %8.2f\n", measure(sort_half, &b, N));
	printf("probe         %8.2f\n", measure(probe, &b, 4096 * 256));
	printf("gather        %8.2f\n", measure(gather, &b, 4096 * 256));
	printf("candidate     %8.2f\n", measure(candidate, &b, 100000));
	b.words = 4;
	sort_whole(&b);
	printf("\n%-10s %8s %8s %8s %8s %8s   a key with a vector; two runs of one key\n", "path", "half", "64", "128", "256",
	       "meeting");
	for (int i = 0; i < PD_SCAN_PATHS; i++)
		if (pd_index_scan_get((enum pd_index_scan_path)i))
			print_path(&b, pd_index_scan_get((enum pd_index_scan_path)i));
	pd_index_table_release(&b.big);
	free(b.keys);
	return b.sum == 1;
}
