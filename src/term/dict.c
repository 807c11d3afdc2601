/* SPDX-License-Identifier: MIT
 *
 * A container in memory -> a dictionary that looks up words in place.
 *
 * Opening checks magic, version, length and checksum before it uses any other byte.  Then it checks the lengths of all
 * parts against each other, because a checksum can be made for any content.  The position of a word is checked when the
 * word is read.
 */
#include "term/dict.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/hash.h"
#include "term/dict_layout.h"

/* data.S */
extern const char pd_data_dict[], pd_data_dict_end[];

static int check_dict_header(struct pd_span bytes, struct pd_err *e)
{
	const struct pd_dict_header *h = (const struct pd_dict_header *)bytes.p;
	if (bytes.n < sizeof *h + sizeof(struct pd_dict_index) || memcmp(h->magic, PD_DICT_MAGIC, sizeof h->magic) != 0)
		return pd_fail(e, PD_ERR_DICT, "not a dictionary");
	if (h->version != PD_DICT_VERSION)
		return pd_fail(e, PD_ERR_DICT, "the dictionary has version %u, this program reads %d", h->version, PD_DICT_VERSION);
	if (h->length != bytes.n)
		return pd_fail(e, PD_ERR_DICT, "the dictionary has %zu bytes, not %llu: it is truncated or has bytes appended",
			       bytes.n, (unsigned long long)h->length);
	uint64_t sum[2];
	pd_hash128(bytes.p + PD_DICT_CHECKED, bytes.n - PD_DICT_CHECKED, 0, sum);
	if (h->reserved || h->zero[0] || h->zero[1] || sum[0] != h->checksum[0] || sum[1] != h->checksum[1])
		return pd_fail(e, PD_ERR_DICT, "the dictionary is damaged: its checksum does not match");
	return 0;
}

static bool has_parts(struct pd_span bytes, const struct pd_dict_index *x)
{
	if (x->words == 0 || x->tags == 0 || x->levels == 0 || x->levels > PD_PREFIX_LEVELS_MAX)
		return false;
	const uint64_t words = x->words;
	const uint64_t want[PD_DICT_PARTS] = {
		[PD_DICT_HASH] = x->part[PD_DICT_HASH].n, /* checked in perfect.c */
		[PD_DICT_ENTRIES] = words * sizeof(struct pd_dict_entry),
		[PD_DICT_DETAILS] = words * sizeof(struct pd_dict_detail),
		[PD_DICT_TEXT] = x->part[PD_DICT_TEXT].n,
		[PD_DICT_TAGS] = x->tags * (uint64_t)4,
		[PD_DICT_PREFIXES] = x->part[PD_DICT_PREFIXES].n, /* checked in take_level */
		[PD_DICT_LEVELS] = x->levels * sizeof(struct pd_prefix_level),
		[PD_DICT_CHARS] = x->chars * (uint64_t)sizeof(uint32_t),
	};
	for (int i = 0; i < PD_DICT_PARTS; i++)
		if (x->part[i].at % PD_DICT_ALIGN || x->part[i].at > bytes.n || x->part[i].n != want[i] ||
		    x->part[i].n > bytes.n - x->part[i].at)
			return false;
	return true;
}

/* Open a table whose slots and shifts are inside `part`. */
static bool take_level(struct pd_prefix_table *t, const struct pd_prefix_level *level, struct pd_span part)
{
	uint64_t size = (uint64_t)level->slots * sizeof *t->slot + (uint64_t)level->buckets * sizeof *t->shift;
	if (level->slots == 0 || level->slots > PD_PREFIX_SLOTS_MAX || level->buckets == 0 || level->at % 8 || level->at > part.n ||
	    size > part.n - level->at)
		return false;
	t->slot = (const uint64_t *)(part.p + level->at);
	t->shift = (const uint16_t *)(t->slot + level->slots);
	t->slots = level->slots;
	t->buckets = level->buckets;
	return true;
}

static int take_prefixes(struct pd_dict *d, const char *p, struct pd_err *e)
{
	const struct pd_dict_index *x = d->index;
	const struct pd_prefix_level *level = (const struct pd_prefix_level *)(p + x->part[PD_DICT_LEVELS].at);
	struct pd_span part = pd_span(p + x->part[PD_DICT_PREFIXES].at, x->part[PD_DICT_PREFIXES].n);
	for (d->levels = 0; d->levels < x->levels; d->levels++)
		if (!take_level(&d->prefixes[d->levels], &level[d->levels], part))
			return pd_fail(e, PD_ERR_DICT, "the dictionary's tables of prefixes do not fit");
	return 0;
}

static int open_parts(struct pd_dict *d, struct pd_span bytes, struct pd_err *e)
{
	const struct pd_dict_header *h = (const struct pd_dict_header *)bytes.p;
	const struct pd_dict_index *x = (const struct pd_dict_index *)(h + 1);
	if (!has_parts(bytes, x))
		return pd_fail(e, PD_ERR_DICT, "the dictionary's parts contradict each other");
	d->index = x;
	d->entries = (const struct pd_dict_entry *)(bytes.p + x->part[PD_DICT_ENTRIES].at);
	d->details = (const struct pd_dict_detail *)(bytes.p + x->part[PD_DICT_DETAILS].at);
	d->text = pd_span(bytes.p + x->part[PD_DICT_TEXT].at, x->part[PD_DICT_TEXT].n);
	d->tags = bytes.p + x->part[PD_DICT_TAGS].at;
	d->chars = (const uint32_t *)(bytes.p + x->part[PD_DICT_CHARS].at);
	int status = take_prefixes(d, bytes.p, e);
	if (status)
		return status;
	snprintf(d->id, sizeof d->id, "%016llx", (unsigned long long)h->id);
	return pd_perfect_open(&d->perfect, pd_span(bytes.p + x->part[PD_DICT_HASH].at, x->part[PD_DICT_HASH].n), x->words, e);
}

int pd_dict_open(struct pd_span bytes, struct pd_dict **out, struct pd_err *e)
{
	struct pd_dict *d = pd_zalloc(sizeof *d);
	*out = NULL;
	if ((uintptr_t)bytes.p % 8) {
		d->owned = pd_alloc(bytes.n);
		memcpy(d->owned, bytes.p, bytes.n);
		bytes.p = d->owned;
	}
	int status = check_dict_header(bytes, e);
	if (status == 0)
		status = open_parts(d, bytes, e);
	if (status == 0)
		*out = d;
	else
		pd_dict_free(d);
	return status;
}

int pd_dict_builtin(struct pd_dict **out, struct pd_err *e)
{
	return pd_dict_open(pd_span(pd_data_dict, (size_t)(pd_data_dict_end - pd_data_dict)), out, e);
}

int pd_dict_load(const char *path, struct pd_dict **out, struct pd_err *e)
{
	struct pd_buf bytes = { 0 };
	*out = NULL;
	int status = pd_read_file(path, &bytes, e);
	if (status == 0)
		status = pd_dict_open(pd_buf_span(&bytes), out, e);
	if (status == PD_ERR_DICT && e) {
		char why[sizeof e->text];
		memcpy(why, e->text, sizeof why);
		pd_fail(e, PD_ERR_DICT, "%s: %s", path, why);
	}
	if (status == 0 && !(*out)->owned)
		(*out)->owned = bytes.p;
	else
		pd_buf_release(&bytes);
	return status;
}

void pd_dict_free(struct pd_dict *d)
{
	if (!d)
		return;
	free(d->owned);
	free(d);
}

static struct pd_span word_text(const struct pd_dict *d, uint32_t number)
{
	uint32_t place = d->entries[number].place, at = place >> 8, n = place & 0xFF;
	return at + n <= d->text.n ? pd_span(d->text.p + at, n) : pd_span("", 0);
}

/* Return the number of a word, or PD_PERFECT_NONE if it is not in the dictionary. */
static uint32_t number_of_word(const struct pd_dict *d, struct pd_span word)
{
	if (word.n == 0)
		return PD_PERFECT_NONE;
	uint32_t number = pd_perfect_find(&d->perfect, word);
	return number != PD_PERFECT_NONE && pd_span_eq(word_text(d, number), word) ? number : PD_PERFECT_NONE;
}

uint32_t pd_dict_cost(const struct pd_dict *d, struct pd_span word)
{
	uint32_t number = number_of_word(d, word);
	return number == PD_PERFECT_NONE ? PD_DICT_NO_COST : d->entries[number].cost;
}

bool pd_dict_find(const struct pd_dict *d, struct pd_span word, struct pd_dict_word *out)
{
	uint32_t number = number_of_word(d, word);
	if (number == PD_PERFECT_NONE)
		return false;
	const struct pd_dict_detail *detail = &d->details[number];
	out->text = word_text(d, number);
	out->frequency = detail->frequency;
	out->log_probability = (float)(-(double)d->entries[number].cost / PD_DICT_COST_UNIT);
	out->idf = (float)(detail->idf / PD_DICT_IDF_UNIT);
	memset(out->pos, 0, sizeof out->pos);
	if (detail->tag < d->index->tags)
		memcpy(out->pos, d->tags + detail->tag * 4, sizeof out->pos);
	return true;
}

size_t pd_dict_words(const struct pd_dict *d)
{
	return d->index->words;
}

float pd_dict_median_idf(const struct pd_dict *d)
{
	uint32_t *words = pd_zalloc((UINT16_MAX + 1) * sizeof *words), all = 0, below = 0, idf = 0;
	for (uint32_t i = 0; i < d->index->words; i++) {
		words[d->details[i].idf]++;
		all += d->details[i].idf > 0;
	}
	while (all && below <= (all - 1) / 2)
		below += words[++idf];
	free(words);
	return all ? (float)(idf / PD_DICT_IDF_UNIT) : 1;
}

const char *pd_dict_id(const struct pd_dict *d)
{
	return d->id;
}
