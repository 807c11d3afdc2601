/* SPDX-License-Identifier: MIT
 *
 * What the fuzz targets share.  A target is one function that takes bytes, hands them to a parser and aborts when
 * something does not hold that the parser's header promises; the sanitizers see the rest.  libFuzzer calls it with bytes
 * that it invents, replay.c with files.
 *
 * Adding a target: fuzz_NAME.c here, a few small inputs in corpus/NAME/; NAME.dict when its language has words.
 * A crash that was mended: its input goes to crashes/NAME/ and is run by every `make check`.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/parquet.h"
#include "base/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Prints what did not hold, and dies: libFuzzer keeps the input. */
static inline void fuzz_hold(bool holds, const char *what, const char *file, int line)
{
	if (holds)
		return;
	fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
	abort();
}
#define HOLDS(condition) fuzz_hold((condition), #condition, __FILE__, __LINE__)

/* Nothing is a span without a pointer, as everywhere in the program. */
static inline struct pd_span fuzz_span(const uint8_t *data, size_t n)
{
	return pd_span(n ? (const char *)data : NULL, n);
}

/* Do these bytes begin as Parquet's and Arrow's files do?  Whatever wants text refuses them: a file read whole, and one read by lines
 * when its first line does. */
static inline bool fuzz_columns(const uint8_t *data, size_t n)
{
	return pd_parquet_form(data, n, NULL) != PD_FORM_OTHER;
}

/* The first byte chooses settings; what is left is the input. */
static inline unsigned fuzz_first(const uint8_t **data, size_t *n)
{
	if (!*n)
		return 0;
	(*n)--;
	return *(*data)++;
}

/* The path of a file in memory that holds these bytes, the same path each time. */
static inline const char *fuzz_file(const void *data, size_t n)
{
	static int fd = -1;
	static char path[64];
	if (fd < 0)
		fd = memfd_create("input", 0);
	HOLDS(fd >= 0 && ftruncate(fd, 0) == 0 && pwrite(fd, data, n, 0) == (ssize_t)n);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	return path;
}

static inline bool fuzz_utf8(struct pd_span s)
{
	for (size_t i = 0, k; i < s.n; i += k)
		if (!(k = pd_utf8_sequence(s.p + i, s.n - i)))
			return false;
	return true;
}

/* A number that depends on every byte: reads them all. */
static inline uint64_t fuzz_sum(struct pd_span s)
{
	return s.n ? pd_hash64(s.p, s.n) : 0;
}

#endif
