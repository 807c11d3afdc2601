/* SPDX-License-Identifier: MIT
 *
 * In: a run of Han characters.  Out: where its words end.
 *
 * Nearly all of the time of a plain implementation goes into asking for words that are none.  So a prefix is first
 * shown to the dictionary's filter (two bits in a megabyte that stays in the cache): is it a word, does a longer one
 * begin with it?  And the answers of the perfect hash, which loads from four far places, are kept for words of up to
 * four characters in a small table: texts say the same words again and again.
 */
#include "term/han.h"

#include <stdlib.h>

#include "base/utf8.h"
#include "term/dict_layout.h"

#define KEPT (1 << 16)

struct kept {
	uint64_t key;
	uint32_t cost;
};

/* A prefix that grows by a character at a time. */
struct prefix {
	uint64_t hash;
	uint64_t key;	/* its characters, 16 bits each, the first lowest; 0 once it has another or over four */
	uint32_t slot;	/* in the filter */
	uint8_t key_bits;
	uint8_t says;	/* the filter */
};

/* The best way to the place before character i: its cost, and the length of its last word. */
struct node {
	uint64_t cost;
	uint32_t length;
	uint32_t at;		/* bytes before the character */
	struct prefix pair;	/* the character and the next */
};

struct pd_han {
	const struct pd_dict *dict;
	bool forward;
	const char *run;
	uint32_t *cp;
	struct node *node;
	uint32_t *ends;
	size_t n, cp_cap, node_cap, ends_cap;
	struct kept kept[KEPT];
};

struct pd_han *pd_han_new(const struct pd_dict *dict, bool forward)
{
	struct pd_han *h = pd_zalloc(sizeof *h);
	h->dict = dict;
	h->forward = forward;
	return h;
}

void pd_han_free(struct pd_han *h)
{
	if (!h)
		return;
	free(h->cp);
	free(h->node);
	free(h->ends);
	free(h);
}

static inline void grow_key(struct prefix *x, uint32_t cp)
{
	bool fits = cp < 0x10000 && x->key_bits < 64 && (x->key || !x->key_bits);
	x->key = fits ? x->key | (uint64_t)cp << x->key_bits : 0;
	x->key_bits = (uint8_t)(fits ? x->key_bits + 16 : 64);
}

static inline void grow(const struct pd_han *h, struct prefix *x, uint32_t cp)
{
	x->hash = pd_prefix_hash(x->hash, cp);
	grow_key(x, cp);
	x->slot = (uint32_t)pd_prefix_slot(x->hash, h->dict->filter_shift);
	x->says = (uint8_t)pd_prefix_bits(h->dict, x->slot);
}

static void read_run(struct pd_han *h, struct pd_span run)
{
	const char *p = run.p, *end = run.p + run.n;
	size_t n = 0, most = run.n / 3;	/* no Han character takes less than three bytes */
	h->cp = pd_grow(h->cp, most, &h->cp_cap, sizeof *h->cp);
	h->node = pd_grow(h->node, most, &h->node_cap, sizeof *h->node);
	h->ends = pd_grow(h->ends, most, &h->ends_cap, sizeof *h->ends);
	for (; p < end && n < most; n++) {
		h->node[n].at = (uint32_t)(p - run.p);
		h->cp[n] = pd_utf8_next(&p);
	}
	h->node[n].at = (uint32_t)run.n;
	h->n = n;
	h->run = run.p;
}

/* All pairs at once, so that their loads from the filter overlap. */
static void read_pairs(struct pd_han *h)
{
	for (size_t i = 0; i + 1 < h->n; i++) {
		struct prefix *x = &h->node[i].pair;
		*x = (struct prefix){ .hash = pd_prefix_hash(0, h->cp[i]) };
		grow_key(x, h->cp[i]);
		grow(h, x, h->cp[i + 1]);
		__builtin_prefetch(&h->kept[x->slot & (KEPT - 1)]);
	}
}

static inline struct pd_span piece(const struct pd_han *h, size_t from, size_t to)
{
	return pd_span(h->run + h->node[from].at, h->node[to].at - h->node[from].at);
}

static inline uint32_t word_cost(struct pd_han *h, const struct prefix *x, size_t from, size_t to)
{
	if (!x->key)
		return pd_dict_cost(h->dict, piece(h, from, to));
	struct kept *k = &h->kept[x->slot & (KEPT - 1)];
	if (k->key != x->key) {
		k->key = x->key;
		k->cost = pd_dict_cost(h->dict, piece(h, from, to));
	}
	return k->cost;
}

static inline uint32_t char_cost(const struct pd_han *h, size_t i)
{
	const struct pd_dict_index *x = h->dict->index;
	if (h->cp[i] - x->first_char < x->chars)
		return h->dict->chars[h->cp[i] - x->first_char];
	uint32_t cost = pd_dict_cost(h->dict, piece(h, i, i + 1));
	return cost == PD_DICT_NO_COST ? x->floor : cost;
}

static inline void reach(struct node *to, uint64_t cost, size_t length)
{
	if (cost < to->cost) {
		to->cost = cost;
		to->length = (uint32_t)length;
	}
}

/* All words from character i on, shortest first. */
static inline void weigh_words(struct pd_han *h, size_t i)
{
	struct prefix x = h->node[i].pair;
	const uint64_t before = h->node[i].cost;
	for (size_t j = i + 2; j <= h->n; j++) {
		if (x.says & PD_PREFIX_WORD) {
			uint32_t cost = word_cost(h, &x, i, j);
			if (cost != PD_DICT_NO_COST)
				reach(&h->node[j], before + cost, j - i);
		}
		if (!(x.says & PD_PREFIX_MORE) || j == h->n)
			break;
		grow(h, &x, h->cp[j]);
	}
}

static void weigh(struct pd_han *h)
{
	h->node[0].cost = 0;
	for (size_t i = 1; i <= h->n; i++)
		h->node[i].cost = UINT64_MAX;
	for (size_t i = 0; i < h->n; i++) {
		reach(&h->node[i + 1], h->node[i].cost + char_cost(h, i), 1);
		weigh_words(h, i);
	}
}

/* From the end to the beginning the nodes know their words; `ends` is filled from behind, then moved to its front. */
static size_t walk_back(struct pd_han *h)
{
	size_t words = 0, at = h->n + 1;
	for (size_t i = h->n; i > 0; i -= h->node[i].length) {
		h->ends[--at] = h->node[i].at;
		words++;
	}
	memmove(h->ends, h->ends + at, words * sizeof *h->ends);
	return words;
}

static size_t longest_word(struct pd_han *h, size_t i)
{
	struct prefix x = h->node[i].pair;
	size_t longest = 1;
	for (size_t j = i + 2; j <= h->n; j++) {
		if (x.says & PD_PREFIX_WORD && word_cost(h, &x, i, j) != PD_DICT_NO_COST)
			longest = j - i;
		if (!(x.says & PD_PREFIX_MORE) || j == h->n)
			break;
		grow(h, &x, h->cp[j]);
	}
	return longest;
}

static size_t go_forward(struct pd_han *h)
{
	size_t words = 0;
	for (size_t i = 0; i < h->n; ) {
		i += h->dict ? longest_word(h, i) : 1;
		h->ends[words++] = h->node[i].at;
	}
	return words;
}

size_t pd_han_cut(struct pd_han *h, struct pd_span run, const uint32_t **ends)
{
	read_run(h, run);
	*ends = h->ends;
	if (h->dict)
		read_pairs(h);
	if (h->forward || !h->dict)
		return go_forward(h);
	weigh(h);
	return walk_back(h);
}
