/* SPDX-License-Identifier: MIT
 *
 * In: the inputs of a reader.  Out: some of their records, from places that lie evenly in their bytes, and how many
 * bytes those records stand for: what an estimate needs before a long run.
 *
 * A place is gone to only where a record can be found again in the middle of a file: dumps that are plain or
 * compressed by record, and plain JSONL.  Anything else is read from its beginning: a folder gives some of its files, a
 * dump that is compressed as a whole, tar and standard input their first records.  What is small is read as a whole.
 */
#ifndef PD_READ_SAMPLE_H
#define PD_READ_SAMPLE_H

#include "read/reader.h"

enum { PD_SAMPLE_PLACES = 64 };

/* Neighbours in a dump are alike, so places tell how far an estimate can be trusted. */
struct pd_read_sample_place {
	uint64_t records;	/* given, of any kind */
	uint64_t measured;	/* of them, those whose bytes are known */
	uint64_t bytes;		/* that these take in the inputs */
};

struct pd_read_sample_stats {
	const struct pd_read_sample_place *places;
	int n_places;		/* those that were used: the first of them */
	int place;		/* of the record given last */
	uint64_t bytes_total;	/* of all inputs */
	uint64_t files, damaged;
	int jumps;		/* places that were gone to; 0: all records stand at the beginning, or are all */
	bool unknown_size;	/* standard input, or another input whose size is not known, is among them */
	bool whole;		/* nothing was left out: the records given are all */
	double seek_seconds;	/* CPU spent on finding places */
};

struct pd_read_sampler;

/* About `n` records that may be pages, n > 0.  `o` must stay while the sampler is in use. */
int pd_read_sampler_open(struct pd_read_sampler **out, const struct pd_reader_options *o, int n, struct pd_err *e);
/* 1 a record, 0 the end of the sample, negative: an input cannot be read. */
int pd_read_sampler_next(struct pd_read_sampler *s, struct pd_record *out, struct pd_err *e);
void pd_read_sampler_stats(const struct pd_read_sampler *s, struct pd_read_sample_stats *out);
void pd_read_sampler_free(struct pd_read_sampler *s);

#endif
