/* SPDX-License-Identifier: MIT
 *
 * In: a run of Han characters.  Out: where its words end.
 *
 * The time would go into loads from far places and into guesses of the processor: which neighbours are a word is as good
 * as random.  So the run is gone over several times, each time with as few questions as can be: all pairs are looked up,
 * after all were asked for; then the few prefixes that go on, after all were asked for; then the words are weighed.
 */
#include "term/han.h"

#include <stdlib.h>

#include "base/utf8.h"
#include "term/dict.h"
#include "term/dict_layout.h"
#include "term/unicode.h"

/* The best way to a place: its cost, and below it how much shorter than LONGEST its last word is, so that of two ways
 * the smaller number is better: the cheaper one, or that with the longer word. */
#define LONGEST 0xFFFF
#define WAY(cost, length) ((uint64_t)(cost) * (LONGEST + 1) + (LONGEST - (length)))
#define NO_WAY ((uint64_t)1 << 44)	/* more than a run costs */

/* One character of the run, and what begins with it. */
struct place {
	uint64_t best;		/* WAY to before it */
	uint64_t pair_cost;	/* of it and the next as a word, NO_WAY when they are none */
	uint32_t cp, at;	/* code point; bytes before it */
	uint32_t pair;		/* where the pair is in the dictionary's table */
	uint32_t longest;	/* forward: characters of the longest word */
};

/* A pair that longer words begin with. */
struct start {
	uint32_t from, third;	/* where the prefix of three is in its table */
};

/* A word of three and more characters. */
struct word {
	uint32_t from, to, cost;
};

struct pd_han {
	const struct pd_dict *dict;
	bool forward;
	struct place *place;
	struct start *start;
	struct word *word;
	uint32_t *ends;
	size_t n, starts, words;
	size_t place_cap, start_cap, word_cap, ends_cap;
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
	free(h->place);
	free(h->start);
	free(h->word);
	free(h->ends);
	free(h);
}

static void make_room(struct pd_han *h, size_t characters)
{
	h->place = pd_grow(h->place, characters + 1, &h->place_cap, sizeof *h->place);	/* two behind the last */
	h->start = pd_grow(h->start, characters, &h->start_cap, sizeof *h->start);
	h->ends = pd_grow(h->ends, characters, &h->ends_cap, sizeof *h->ends);
}

static void read_run(struct pd_han *h, struct pd_span run)
{
	const char *p = run.p, *end = run.p + run.n;
	size_t n = 0, most = run.n / 3;	/* no Han character takes less than three bytes */
	make_room(h, most);
	for (; p < end && n < most; n++) {
		h->place[n].best = UINT64_MAX;
		h->place[n].at = (uint32_t)(p - run.p);
		h->place[n].cp = pd_common_han_at(p, end);
		if (h->place[n].cp)
			p += 3;
		else
			h->place[n].cp = pd_utf8_next(&p);
	}
	h->place[n].at = (uint32_t)run.n;
	h->place[n].best = h->place[n + 1].best = UINT64_MAX;
	h->n = n;
}

static inline uint64_t pair_key(const struct place *x)
{
	return pd_prefix_key(x[0].cp, x[1].cp);
}

static void find_pairs(struct pd_han *h)
{
	const struct pd_prefix_table *t = &h->dict->prefixes[0];
	struct place *x = h->place;
	size_t starts = 0;
	for (size_t i = 0; i + 1 < h->n; i++) {
		x[i].pair = pd_prefix_place(t, pair_key(&x[i]));
		__builtin_prefetch(&t->slot[x[i].pair]);
	}
	for (size_t i = 0; i + 1 < h->n; i++) {
		uint64_t slot = pd_prefix_at(t, pair_key(&x[i]), x[i].pair);
		x[i].pair_cost = pd_prefix_is_word(slot) ? pd_prefix_cost(slot) : NO_WAY;
		h->start[starts].from = (uint32_t)i;
		starts += (slot / PD_PREFIX_MORE & 1) & (i + 2 < h->n);
	}
	x[h->n - 1].pair_cost = NO_WAY;
	h->starts = h->dict->levels > 1 ? starts : 0;
}

static inline uint64_t third_key(const struct pd_han *h, const struct start *s)
{
	return pd_prefix_key(h->place[s->from].pair, h->place[s->from + 2].cp);
}

static void add_word(struct pd_han *h, uint32_t from, size_t to, uint64_t slot)
{
	if (h->words >= h->word_cap)
		h->word = pd_grow(h->word, h->words, &h->word_cap, sizeof *h->word);
	h->word[h->words] = (struct word){ from, (uint32_t)to, pd_prefix_cost(slot) };
	h->words += pd_prefix_is_word(slot);
}

/* All words of three and more characters that begin there, shortest first. */
static void find_words(struct pd_han *h, const struct start *s)
{
	const struct pd_prefix_table *t = &h->dict->prefixes[1], *end = h->dict->prefixes + h->dict->levels;
	uint32_t before = s->third;
	uint64_t slot = pd_prefix_at(t, third_key(h, s), before);
	for (size_t to = s->from + 3; ; to++) {
		add_word(h, s->from, to, slot);
		if (!(slot & PD_PREFIX_MORE) || to == h->n || ++t == end)
			break;
		uint64_t key = pd_prefix_key(before, h->place[to].cp);
		before = pd_prefix_place(t, key);
		slot = pd_prefix_at(t, key, before);
	}
}

static void find_longer(struct pd_han *h)
{
	const struct pd_prefix_table *t = &h->dict->prefixes[1];
	h->words = 0;
	for (size_t i = 0; i < h->starts; i++) {
		struct start *s = &h->start[i];
		s->third = pd_prefix_place(t, third_key(h, s));
		__builtin_prefetch(&t->slot[s->third]);
	}
	for (size_t i = 0; i < h->starts; i++)
		find_words(h, &h->start[i]);
}

static inline uint32_t char_cost(const struct pd_han *h, struct pd_span run, const struct place *x)
{
	const struct pd_dict_index *index = h->dict->index;
	if (x->cp - index->first_char < index->chars)
		return h->dict->chars[x->cp - index->first_char];
	uint32_t cost = pd_dict_cost(h->dict, pd_span(run.p + x->at, x[1].at - x->at));
	return cost == PD_DICT_NO_COST ? index->floor : cost;
}

static inline void reach(struct place *to, uint64_t way)
{
	to->best = way < to->best ? way : to->best;
}

static void weigh(struct pd_han *h, struct pd_span run)
{
	struct place *x = h->place;
	const struct word *w = h->word;
	x[0].best = WAY(0, 0);
	for (size_t i = 0, k = 0; i < h->n; i++) {
		uint64_t before = x[i].best / (LONGEST + 1);
		reach(&x[i + 1], WAY(before + char_cost(h, run, &x[i]), 1));
		reach(&x[i + 2], WAY(before + x[i].pair_cost, 2));
		for (; k < h->words && w[k].from == i; k++)
			reach(&x[w[k].to], WAY(before + w[k].cost, w[k].to - w[k].from));
	}
}

/* From the end to the beginning the places know their words; `ends` is filled from behind, then moved to its front. */
static size_t walk_back(struct pd_han *h)
{
	size_t words = 0, at = h->n + 1;
	for (size_t i = h->n; i > 0; i -= LONGEST - h->place[i].best % (LONGEST + 1)) {
		h->ends[--at] = h->place[i].at;
		words++;
	}
	memmove(h->ends, h->ends + at, words * sizeof *h->ends);
	return words;
}

static void find_longest(struct pd_han *h)
{
	for (size_t i = 0; i < h->n; i++)
		h->place[i].longest = h->dict && h->place[i].pair_cost != NO_WAY ? 2 : 1;
	for (size_t i = 0; i < h->words; i++)
		h->place[h->word[i].from].longest = h->word[i].to - h->word[i].from;
}

static size_t go_forward(struct pd_han *h)
{
	size_t words = 0;
	for (size_t i = 0; i < h->n; ) {
		i += h->place[i].longest;
		h->ends[words++] = h->place[i].at;
	}
	return words;
}

size_t pd_han_cut(struct pd_han *h, struct pd_span run, const uint32_t **ends)
{
	read_run(h, run);
	*ends = h->ends;
	if (h->n > 0 && h->dict) {
		find_pairs(h);
		find_longer(h);
	}
	if (h->forward || !h->dict) {
		find_longest(h);
		return go_forward(h);
	}
	weigh(h, run);
	return walk_back(h);
}
