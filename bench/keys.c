/* SPDX-License-Identifier: MIT
 *
 * Fingerprints to measure matching with: fp rows of random keys on stdout, some of them planted near another.  The same
 * arguments give the same rows everywhere.
 *
 *	keys N BITS SEED [--planted PERCENT] [--maxd D] [--skew]
 *
 * PERCENT of the keys (default 10) are copies of an earlier key with 0 to D bits (default 3) flipped.  --skew: the first
 * 16 bits follow Zipf's law, as those of real collections do.
 */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MAX 4
#define ZIPF_VALUES 65536

struct keys {
	uint64_t n, state;
	int bits, planted, max_distance;
	double *zipf;		/* cumulative, NULL: even bits */
	uint64_t *v;
};

/* splitmix64 (S. Vigna, public domain algorithm) */
static uint64_t next_random(struct keys *k)
{
	uint64_t z = k->state += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static uint64_t below(struct keys *k, uint64_t n)
{
	return next_random(k) % n;
}

static void fill_zipf(struct keys *k)
{
	double sum = 0;
	k->zipf = malloc(ZIPF_VALUES * sizeof *k->zipf);
	for (int i = 0; k->zipf && i < ZIPF_VALUES; i++)
		k->zipf[i] = sum += 1.0 / (i + 1);
}

static uint64_t zipf_value(struct keys *k)
{
	double u = ldexp((double)(next_random(k) >> 11), -53) * k->zipf[ZIPF_VALUES - 1];
	uint64_t low = 0, high = ZIPF_VALUES - 1;
	while (low < high) {
		uint64_t middle = (low + high) / 2;
		if (k->zipf[middle] < u)
			low = middle + 1;
		else
			high = middle;
	}
	return low * UINT64_C(40503) & 0xffff;	/* frequent values need not be neighbours */
}

static void make_key(struct keys *k, uint64_t i)
{
	int words = k->bits / 64;
	uint64_t *key = k->v + i * words;
	if (i > 0 && below(k, 100) < (uint64_t)k->planted) {
		memcpy(key, k->v + below(k, i) * words, sizeof *key * words);
		for (uint64_t flips = below(k, k->max_distance + 1); flips > 0; flips--) {
			uint64_t bit = below(k, k->bits);
			key[bit / 64] ^= UINT64_C(1) << (bit % 64);
		}
		return;
	}
	for (int w = 0; w < words; w++)
		key[w] = next_random(k);
	if (k->zipf)
		key[0] = (key[0] & UINT64_MAX >> 16) | zipf_value(k) << 48;
}

static void print_row(const struct keys *k, uint64_t i)
{
	int words = k->bits / 64;
	for (int w = 0; w < words; w++)
		printf("%016" PRIx64, k->v[i * words + w]);
	printf("\tgen.warc.gz:%" PRIu64 "\thttp://host%" PRIu64 ".example/%" PRIu64 "\n", i, i % 1000, i);
}

static bool parse(struct keys *k, int argc, char **argv, bool *skew)
{
	if (argc < 4)
		return false;
	k->n = strtoull(argv[1], NULL, 10);
	k->bits = atoi(argv[2]);
	k->state = strtoull(argv[3], NULL, 10);
	for (int i = 4; i < argc; i++) {
		if (!strcmp(argv[i], "--skew"))
			*skew = true;
		else if (!strcmp(argv[i], "--planted") && i + 1 < argc)
			k->planted = atoi(argv[++i]);
		else if (!strcmp(argv[i], "--maxd") && i + 1 < argc)
			k->max_distance = atoi(argv[++i]);
		else
			return false;
	}
	return (k->bits == 64 || k->bits == 128 || k->bits == 256) && k->max_distance >= 0;
}

int main(int argc, char **argv)
{
	struct keys k = { .planted = 10, .max_distance = 3 };
	bool skew = false;
	if (!parse(&k, argc, argv, &skew)) {
		fprintf(stderr, "usage: keys N 64|128|256 SEED [--planted PERCENT] [--maxd D] [--skew]\n");
		return 2;
	}
	if (skew)
		fill_zipf(&k);
	k.v = calloc(k.n + 1, (size_t)k.bits / 8);
	if (!k.v || (skew && !k.zipf)) {
		fprintf(stderr, "keys: out of memory\n");
		return 2;
	}
	puts("#fingerprint\tid\turl");
	for (uint64_t i = 0; i < k.n; i++) {
		make_key(&k, i);
		print_row(&k, i);
	}
	free(k.zipf);
	free(k.v);
	return fflush(stdout) || ferror(stdout) ? 2 : 0;
}
