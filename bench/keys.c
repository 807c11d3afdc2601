/* SPDX-License-Identifier: MIT
 *
 * Print fp rows of random keys to measure matching; some keys are planted near another.  The same arguments give the same
 * rows on every machine.
 *
 *	keys N BITS SEED [--planted PERCENT] [--maxd D] [--skew]
 *
 * PERCENT of the keys (default 10) are copies of an earlier key with 0 to D bits (default 3) flipped.  --skew: the first
 * 16 bits follow Zipf's law, like the keys of real collections.
 */
#include <inttypes.h>
#include <stdio.h>

#include "keygen.h"

static void print_row(const struct keygen *k, uint64_t i)
{
	int words = k->bits / 64;
	for (int w = 0; w < words; w++)
		printf("%016" PRIx64, k->v[i * words + w]);
	printf("\tgen.warc.gz:%" PRIu64 "\thttp://host%" PRIu64 ".example/%" PRIu64 "\n", i, i % 1000, i);
}

static bool parse(struct keygen *k, int argc, char **argv, bool *skew)
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
	struct keygen k = { .planted = 10, .max_distance = 3 };
	bool skew = false;
	if (!parse(&k, argc, argv, &skew)) {
		fprintf(stderr, "usage: keys N 64|128|256 SEED [--planted PERCENT] [--maxd D] [--skew]\n");
		return 2;
	}
	if (!make_keys(&k, skew)) {
		fprintf(stderr, "keys: out of memory\n");
		return 2;
	}
	puts("#fingerprint\tid\turl");
	for (uint64_t i = 0; i < k.n; i++)
		print_row(&k, i);
	free(k.zipf);
	free(k.v);
	return fflush(stdout) || ferror(stdout) ? 2 : 0;
}
