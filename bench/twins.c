/* SPDX-License-Identifier: MIT
 *
 * Print fp rows to measure verification and bands.  Fingerprints and sketches of the default kind are random; one row in ten
 * is near an earlier row in both.  All columns exist and are as long as in real pages.  The same arguments give the
 * same rows on every machine.
 *
 *	twins N SEED
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS 10 /* words of a row: a fingerprint of 64 bits, a sketch of 512, and the subject */
#define SUBJECT 9
#define MINIMA 128
#define FLIPS 12 /* largest number of flipped bits of the fingerprint */

/* splitmix64 (S. Vigna, public domain algorithm) */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* The number of different minima grows with the number of different bits, as for real pages: about five minima per bit. */
static void make_twin(uint64_t *row, const uint64_t *of, uint64_t *state)
{
	uint64_t flips = next_random(state) % (FLIPS + 1);
	memcpy(row, of, WORDS * sizeof *row);
	for (uint64_t i = 0; i < flips; i++)
		row[0] ^= UINT64_C(1) << next_random(state) % 64;
	for (uint64_t i = 0; i < 5 * flips; i++) {
		uint64_t at = next_random(state) % MINIMA;
		row[1 + at / 16] ^= (next_random(state) & 15) << at % 16 * 4;
	}
}

static void make_row(uint64_t *rows, uint64_t i, uint64_t *state)
{
	uint64_t *row = rows + i * WORDS;
	if (i > 0 && next_random(state) % 10 == 0) {
		make_twin(row, rows + next_random(state) % i * WORDS, state);
		return;
	}
	for (int w = 0; w < WORDS; w++)
		row[w] = next_random(state);
}

static void print_row(const uint64_t *row, uint64_t i)
{
	uint64_t digest = row[1] ^ i;
	printf("%016" PRIx64 "\tgen.warc.gz:%" PRIu64 "\thttp://host%" PRIu64 ".example/articles/%" PRIu64 "\t", row[0], i * 4099,
	       i % 1000, i);
	printf("2024-03-%02dT12:00:00Z\tABCDEFGHIJKLMNOP%016" PRIX64 "\t%016" PRIx64 "%016" PRIx64 "\tutf-8\teng\t",
	       (int)(i % 28) + 1, digest, digest, i);
	printf("%d\t%d\t0.90\tcharset-http\t-\t", 200 + (int)(i % 1000), 1200 + (int)(i % 1000) * 6);
	for (int w = 1; w < SUBJECT; w++)
		printf("%016" PRIx64, row[w]);
	printf("\t-\t4fbe504c\t%08" PRIx32 "%08" PRIx32 "\n", (uint32_t)row[SUBJECT], (uint32_t)row[SUBJECT]);
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: twins N SEED\n");
		return 2;
	}
	uint64_t n = strtoull(argv[1], NULL, 10), state = strtoull(argv[2], NULL, 10);
	uint64_t *rows = calloc(n + 1, WORDS * sizeof *rows);
	if (!rows) {
		fprintf(stderr, "twins: out of memory\n");
		return 2;
	}
	puts("#fingerprint\tid\turl\tfetch_time\tcontent_digest\ttext_digest\tcontent_charset\tlanguages\tterms\ttext_"
	     "bytes\tconfidence\tflags\t"
	     "quality\tsketch\tuser_id\tparams\tsubject");
	for (uint64_t i = 0; i < n; i++) {
		make_row(rows, i, &state);
		print_row(rows + i * WORDS, i);
	}
	free(rows);
	return fflush(stdout) || ferror(stdout) ? 2 : 0;
}
