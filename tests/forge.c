/* SPDX-License-Identifier: MIT
 *
 * Compute a page that hashes without a secret take for another one.  In: the terms of a page's text on standard input,
 * separated by white space.  Out: as many words in one line; each has the XXH3-64 of the term in its place, so that the
 * sketches of both pages are equal, and the fingerprints nearly so.  Standard error has the number of hash evaluations.
 *
 * XXH3-64 of 128 bytes is a bijection of a sum of eight numbers, each a function of 16 bytes alone.  Lists of such
 * numbers are joined by 17 bits at a time until the sum is equal to the term's (D. Wagner, "A Generalized Birthday
 * Problem", CRYPTO 2002).  Choose the word that brings the fingerprint nearer from words with the same hash.
 *
 * With the arguments "host NAME": a valid name of a host that has the XXH3-64 of NAME, in one line.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { BLOCKS = 8, BLOCK = 16, WORD = BLOCKS * BLOCK, BITS = 17, LIST = 1 << BITS };

/* A sum, and the entries of two lists that it was made of. */
struct entry {
	uint64_t sum;
	uint32_t part[2];
};

struct list {
	struct entry *v;
	size_t n, cap;
};

static struct list blocks[BLOCKS], pairs[BLOCKS / 2], halves[2], found;
static uint64_t evaluations;
static int forging_host;

static void fail(const char *why)
{
	fprintf(stderr, "forge: %s\n", why);
	exit(1);
}

static void *grow(void *p, size_t bytes)
{
	p = realloc(p, bytes);
	if (!p)
		fail("out of memory");
	return p;
}

static void add(struct list *l, uint64_t sum, uint32_t a, uint32_t b)
{
	if (l->n == l->cap) {
		l->cap = l->cap ? 2 * l->cap : LIST;
		l->v = grow(l->v, l->cap * sizeof *l->v);
	}
	l->v[l->n++] = (struct entry){ sum, { a, b } };
}

/* Sixteen letters that the number determines.  In a host, labels are shorter than 64 letters, and the last one is "example". */
static void letters_of(int block, uint32_t number, char out[BLOCK])
{
	uint64_t x = ((uint64_t)number << 8 | (unsigned)block) * UINT64_C(0x9E3779B97F4A7C15);
	for (int i = 0; i < BLOCK; i++) {
		x ^= x >> 29;
		x *= UINT64_C(0xBF58476D1CE4E5B9);
		out[i] = (char)('a' + (x >> 33) % 26);
	}
	if (forging_host && (block == 4 || block == 5))
		out[BLOCK - 1] = '.';
	if (forging_host && block == 1)
		memcpy(out + BLOCK - 8, ".example", 8);
}

/* XXH3 takes blocks from both ends in turn. */
static size_t place_of_block(int block)
{
	size_t i = (size_t)block / 2;
	return block % 2 ? WORD - BLOCK * (i + 1) : BLOCK * i;
}

static void fill_block(int block)
{
	char text[BLOCK];
	for (uint32_t i = 0; i < LIST; i++) {
		letters_of(block, i, text);
		add(&blocks[block], XXH3_mix16B((const uint8_t *)text, XXH3_kSecret + BLOCK * block, 0), i, 0);
		evaluations++;
	}
}

/* Sums of an entry of each list that agree with `target` in the `bits` bits from `shift` on; they do in those below. */
static void join(const struct list *a, const struct list *b, uint64_t target, int shift, int bits, struct list *out)
{
	static uint32_t first[LIST], *next;
	static size_t room;
	uint64_t mask = (UINT64_C(1) << bits) - 1;
	if (room < a->n) {
		room = a->n;
		next = grow(next, room * sizeof *next);
	}
	memset(first, 0xff, sizeof first);
	for (uint32_t i = 0; i < a->n; i++) {
		uint64_t at = a->v[i].sum >> shift & (LIST - 1);
		next[i] = first[at];
		first[at] = i;
	}
	out->n = 0;
	for (uint32_t k = 0; k < b->n; k++)
		for (uint32_t i = first[(target - b->v[k].sum) >> shift & (LIST - 1)]; i != UINT32_MAX; i = next[i])
			if (((a->v[i].sum + b->v[k].sum - target) >> shift & mask) == 0)
				add(out, a->v[i].sum + b->v[k].sum, i, k);
}

/* The x for which x ^ x >> by is h. */
static uint64_t undo_shift(uint64_t h, int by)
{
	uint64_t x = h;
	for (int known = by; known < 64; known += by)
		x = h ^ x >> by;
	return x;
}

/* The sum of the blocks of a word that has this hash. */
static uint64_t sum_of_hash(uint64_t hash)
{
	uint64_t factor = UINT64_C(0x165667919E3779F9), inverse = 1;
	for (int i = 0; i < 6; i++)
		inverse *= 2 - factor * inverse;
	return undo_shift(undo_shift(hash, 32) * inverse, 37) - WORD * UINT64_C(0x9E3779B185EBCA87);
}

/* --- the page --- */

enum { WORDS = 4096, CHOICES = 8, PASSES = 20, PRINT = 64 };

static struct {
	char term[WORD + 1];
	char choice[CHOICES][WORD + 1];
	int n, chosen;
} page[WORDS];
static int n_words;

static void word_of(struct entry whole, uint64_t hash, char word[WORD])
{
	for (int block = 0; block < BLOCKS; block++) {
		struct entry half = halves[block / 4].v[whole.part[block / 4]];
		struct entry pair = pairs[block / 2].v[half.part[block / 2 % 2]];
		letters_of(block, pair.part[block % 2], word + place_of_block(block));
	}
	if (XXH3_64bits(word, WORD) != hash)
		fail("a word has another hash");
}

static void join_blocks(void)
{
	for (int block = 0; block < BLOCKS; block++)
		fill_block(block);
	for (int i = 0; i < 3; i++)
		join(&blocks[2 * i], &blocks[2 * i + 1], 0, 0, BITS, &pairs[i]);
	join(&pairs[0], &pairs[1], 0, BITS, BITS, &halves[0]);
}

static void find_words(int i)
{
	uint64_t hash = XXH3_64bits(page[i].term, strlen(page[i].term)), target = sum_of_hash(hash);
	join(&blocks[6], &blocks[7], target, 0, BITS, &pairs[3]);
	join(&pairs[2], &pairs[3], target, BITS, BITS, &halves[1]);
	join(&halves[0], &halves[1], target, 2 * BITS, 64 - 2 * BITS, &found);
	if (!found.n)
		fail("no word has the hash of a term");
	for (size_t k = 0; k < found.n && k < CHOICES; k++)
		word_of(found.v[k], hash, page[i].choice[page[i].n++]);
}

static const char *chosen(int i)
{
	return page[i].choice[page[i].chosen];
}

/* Add the shingle of two words to the counters of the fingerprint, or take it away. */
static void count_shingle(const char *a, const char *b, int sign, int counter[PRINT])
{
	char text[2 * WORD + 2];
	int n = snprintf(text, sizeof text, "%s %s", a, b);
	uint64_t hash = XXH3_64bits(text, (size_t)n);
	evaluations++;
	for (int bit = 0; bit < PRINT; bit++)
		counter[bit] += hash >> bit & 1 ? sign : -sign;
}

static void count_around(int i, int sign, int counter[PRINT])
{
	if (i > 0)
		count_shingle(chosen(i - 1), chosen(i), sign, counter);
	if (i + 1 < n_words)
		count_shingle(chosen(i), chosen(i + 1), sign, counter);
}

/* Return the difference between the counters and the bits of `wanted`; *bits: number of different bits. */
static int distance(const int counter[PRINT], const int wanted[PRINT], int *bits)
{
	int sum = 0;
	*bits = 0;
	for (int bit = 0; bit < PRINT; bit++) {
		int lacks = wanted[bit] > 0 ? 1 - counter[bit] : counter[bit];
		sum += lacks > 0 ? lacks : 0;
		*bits += lacks > 0;
	}
	return sum;
}

/* Return the number of different bits of the fingerprints. */
static int choose_words(void)
{
	int counter[PRINT] = { 0 }, wanted[PRINT] = { 0 }, bits, best;
	for (int i = 0; i + 1 < n_words; i++) {
		count_shingle(page[i].term, page[i + 1].term, 1, wanted);
		count_shingle(chosen(i), chosen(i + 1), 1, counter);
	}
	best = distance(counter, wanted, &bits);
	for (int i = 0; i < PASSES * n_words && best; i++) {
		int word = i % n_words;
		count_around(word, -1, counter);
		for (int choice = 0, before = page[word].chosen; choice < page[word].n; choice++) {
			page[word].chosen = choice;
			count_around(word, 1, counter);
			int now = distance(counter, wanted, &bits);
			count_around(word, -1, counter);
			if (now < best) {
				best = now;
				before = choice;
			}
			page[word].chosen = before;
		}
		count_around(word, 1, counter);
	}
	distance(counter, wanted, &bits);
	return bits;
}

static int forge_host(const char *name)
{
	forging_host = 1;
	join_blocks();
	n_words = 1;
	snprintf(page[0].term, sizeof page[0].term, "%s", name);
	find_words(0);
	puts(chosen(0));
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "host"))
		return forge_host(argv[2]);
	join_blocks();
	while (n_words < WORDS && scanf("%128s", page[n_words].term) == 1)
		find_words(n_words++);
	int bits = choose_words();
	for (int i = 0; i < n_words; i++)
		printf("%s%c", chosen(i), i + 1 < n_words ? ' ' : '\n');
	fprintf(stderr, "%d words, %d bits from the fingerprint, %" PRIu64 " hash evaluations\n", n_words, bits, evaluations);
	return 0;
}
