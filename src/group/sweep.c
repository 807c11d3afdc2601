/* SPDX-License-Identifier: MIT */
#include "group/sweep.h"

#include <stdlib.h>

#include "base/threads.h"

enum { ROWS = 64 };

/* Pairs at each distance, of one thread: plain numbers, so that the sum does not depend on who counted what. */
struct histogram {
	double hits[PD_SWEEP_K + 1], wrong[PD_SWEEP_K + 1];
};

struct count {
	struct pd_sweep *s;
	struct histogram *histograms;	/* thread * n_settings + setting */
};

void pd_sweep_init(struct pd_sweep *s, const struct pd_truth *t, int n_settings, int max_k)
{
	size_t n = t->pages.n + 1;
	*s = (struct pd_sweep){ .truth = t, .max_k = max_k, .n_settings = n_settings };
	s->seen = pd_zalloc(n * sizeof *s->seen);
	s->digest = pd_zalloc(n * sizeof *s->digest);
	s->host = pd_zalloc(n * sizeof *s->host);
	s->sketch = pd_zalloc(n * sizeof *s->sketch);
	s->facts = pd_zalloc(n * sizeof *s->facts);
	for (int i = 0; i < n_settings; i++) {
		s->settings[i].key = pd_zalloc(n * sizeof *s->settings[i].key);
		s->settings[i].present = pd_zalloc(n * sizeof *s->settings[i].present);
	}
}

void pd_sweep_release(struct pd_sweep *s)
{
	for (int i = 0; i < s->n_settings; i++) {
		free(s->settings[i].key);
		free(s->settings[i].present);
	}
	free(s->seen);
	free(s->digest);
	free(s->host);
	free(s->sketch);
	free(s->facts);
	*s = (struct pd_sweep){ 0 };
}

/* As match has it: bits that differ; 0 for pages without a fingerprint that have the same text; else too far. */
static int distance(const struct pd_sweep *s, const struct pd_sweep_setting *set, uint32_t a, uint32_t b)
{
	bool text = s->digest[a][0] | s->digest[a][1];
	if (set->present[a] && set->present[b])
		return pd_hamming(&set->key[a], &set->key[b], set->bits);
	if (!set->present[a] && !set->present[b] && text && !memcmp(s->digest[a], s->digest[b], sizeof *s->digest))
		return 0;
	return PD_BITS_MAX + 1;
}

/* Without a similarity a pair counts up to k, as when match is given a k. */
static bool stands(const struct pd_sweep *s, int setting, uint32_t a, uint32_t b)
{
	enum pd_hosts hosts = s->host[a] != s->host[b] ? PD_HOSTS_DIFFER : s->host[a] ? PD_HOSTS_SAME : PD_HOSTS_UNKNOWN;
	if (s->verify.off)
		return true;
	if (!s->settings[setting].present[a])
		return pd_verify_equal_texts(&s->verify, &s->facts[a], &s->facts[b], hosts == PD_HOSTS_SAME) == PD_LOOK_YES;
	double similarity = pd_sketch_similarity(&s->sketches, &s->sketch[a], &s->sketch[b]);
	return similarity < 0 || pd_verify(&s->verify, similarity, 0, &s->facts[a], &s->facts[b], hosts) == PD_LOOK_YES;
}

static void count_pair(const struct pd_sweep *s, int setting, uint32_t a, uint32_t b, struct histogram *h)
{
	int d = distance(s, &s->settings[setting], a, b);
	if (d > s->max_k || !stands(s, setting, a, b))
		return;
	enum pd_truth_kind kind = pd_truth_kind_of(s->truth, a, b);
	double weight = s->truth->labels ? pd_truth_label(s->truth, a, b)->weight : 1;
	h->hits[d] += kind == PD_PAIR_TRUE ? weight : 0;
	h->wrong[d] += kind == PD_PAIR_FALSE ? weight : 0;
}

static void count_rows(void *ctx, size_t task, int thread)
{
	struct count *c = ctx;
	const struct pd_sweep *s = c->s;
	struct histogram *h = c->histograms + (size_t)thread * (size_t)s->n_settings;
	size_t end = (task + 1) * ROWS < s->truth->pages.n ? (task + 1) * ROWS : s->truth->pages.n;
	for (int i = 0; i < s->n_settings; i++)
		for (uint32_t a = (uint32_t)(task * ROWS); a < end; a++)
			for (uint32_t b = 0; s->seen[a] && b < a; b++)
				if (s->seen[b])
					count_pair(s, i, a, b, &h[i]);
}

static void count_labels(const struct pd_sweep *s, struct histogram *h)
{
	for (int i = 0; i < s->n_settings; i++)
		for (size_t l = 0; l < s->truth->n_labels; l++)
			if (s->seen[s->truth->label[l].a] && s->seen[s->truth->label[l].b])
				count_pair(s, i, s->truth->label[l].a, s->truth->label[l].b, &h[i]);
}

static double wanted(const struct pd_truth *t)
{
	struct pd_score score;
	pd_score_init(&score, t);
	double n = score.groups[0].counts.wanted;
	pd_score_release(&score);
	return n;
}

static void sum_up(struct pd_sweep *s, const struct histogram *h, int threads)
{
	double want = wanted(s->truth);
	for (int i = 0; i < s->n_settings; i++) {
		struct pd_counts sum = { .wanted = want };
		for (int k = 0; k <= s->max_k; k++) {
			for (int t = 0; t < threads; t++) {
				sum.hits += h[t * s->n_settings + i].hits[k];
				sum.wrong += h[t * s->n_settings + i].wrong[k];
			}
			s->settings[i].at[k] = sum;
		}
	}
}

void pd_sweep_count(struct pd_sweep *s, int threads)
{
	int n = s->truth->labels ? 1 : threads;
	struct count c = { s, pd_zalloc((size_t)(n * s->n_settings) * sizeof *c.histograms) };
	if (s->truth->labels)
		count_labels(s, c.histograms);
	else
		pd_parallel(n, (s->truth->pages.n + ROWS - 1) / ROWS, count_rows, &c);
	sum_up(s, c.histograms, n);
	free(c.histograms);
}
