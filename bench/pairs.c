/* SPDX-License-Identifier: MIT
 *
 * Print rows of pairs to measure cluster: pairs PAIRS [--spread].  The pages form groups of two to five.  All pages of a
 * group are paired, at distances of 0 to 8, so that there are about as many pages as pairs.  As in the output of match,
 * the first pages of the groups are ordered by id, and the others follow anywhere.  With --spread all pages are in random
 * order, the hardest case.  The rows are the same on every machine.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILES = 500, PAGES = 1 << 25, BYTES = 24000 };

static uint64_t state = 1;

static uint64_t draw(uint64_t below)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (state >> 33) % below;
}

/* Pages of a group have the numbers `first`, `first` + 1, …  Multiplication by an odd number is a permutation, which
 * spreads the pages over all positions. */
static void print_id(uint64_t page, bool in_order)
{
	uint64_t place = in_order ? page : page * 20251831 % PAGES, in_file = PAGES / FILES;
	printf("crawl-data/segment-%c/part-%05" PRIu64 ".warc.gz:%" PRIu64, in_order ? 'a' : 'b', place / in_file,
	       place % in_file * BYTES);
}

static void print_url(uint64_t page)
{
	printf("https://www.site%" PRIu64 ".example/%" PRIu64 "/some-page-of-the-site.html", page % 100003, page);
}

static void print_pair(uint64_t a, uint64_t b, bool in_order, int distance)
{
	print_id(a, in_order);
	putchar('\t');
	print_id(b, false);
	printf("\t%d\t-\tsimhash\t", distance);
	print_url(a);
	putchar('\t');
	print_url(b);
	printf("\t2024-05-%02" PRIu64 "T12:%02" PRIu64 ":00Z\t%" PRIu64 "\t-\t2024-05-%02" PRIu64 "T12:%02" PRIu64 ":00Z\t%" PRIu64
	       "\t-\n",
	       a % 28 + 1, a % 60, 200 + a % 9973, b % 28 + 1, b % 60, 200 + b % 9973);
}

int main(int argc, char **argv)
{
	static const uint64_t sizes[] = { 2, 2, 2, 2, 3, 3, 4, 5 };
	uint64_t left = argc > 1 ? strtoull(argv[1], NULL, 10) : 0, page = 0;
	bool spread = argc == 3 && !strcmp(argv[2], "--spread");
	if (!left || argc > 3 || (argc == 3 && !spread)) {
		fprintf(stderr, "usage: pairs PAIRS [--spread]\n");
		return 2;
	}
	while (left) {
		uint64_t size = sizes[draw(8)];
		for (uint64_t i = 0; i < size; i++)
			for (uint64_t j = i + 1; j < size && left; j++, left--)
				print_pair(page + i, page + j, !spread && !i, (int)draw(9));
		page += size;
	}
	return ferror(stdout) || fflush(stdout);
}
