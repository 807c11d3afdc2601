/* SPDX-License-Identifier: MIT
 *
 * A sample of a dump -> what a whole run would find, take and need, as a short table for people.
 *
 * Numbers of records and pages follow from the bytes that the sample's records take; their range is two standard errors
 * of that ratio over the places of the sample.  Near-duplicates cannot be counted so: a page and its partner are
 * seldom both in a small sample.  What has a partner inside the sample is the least share; the most comes from the pairs between
 * different places, of which a sample of n out of N pages holds about (n/N)^2.
 */
#ifndef PD_INSPECT_ESTIMATE_H
#define PD_INSPECT_ESTIMATE_H

#include "pipeline.h"
#include "read/sample.h"
#include "rows/rows.h"

struct pd_estimate_page {
	struct pd_key key;
	struct pd_sketch sketch;
	uint64_t text, host;	/* hashes of the text digest and of the host; host 0: none */
	struct pd_facts facts;
	bool present, has_text;
	int place;
};

struct pd_name_count {
	char name[32];
	uint64_t n;
};

struct pd_name_counts {
	struct pd_name_count *v;
	size_t n, cap;
};

struct pd_estimate {
	/* set by the caller before it is printed */
	struct pd_read_sample_stats sample;
	uint64_t records, damaged;
	double cpu_seconds;	/* for all records of the sample */
	double limit;		/* > 0: the sample was ended after so many seconds */
	int bits, threads;
	struct pd_sketch_options sketch;
	/* by pd_estimate_add */
	struct pd_estimate_page *pages;
	size_t n, cap;
	uint64_t too_short, at_place[PD_SAMPLE_PLACES];
	struct pd_name_counts languages, charsets;
	struct pd_buf scratch;
};

/* The pipeline has run over a page that stands at this place of the sample. */
void pd_estimate_add(struct pd_estimate *e, struct pd_pipeline *p, int place);
void pd_estimate_print(struct pd_estimate *e, struct pd_buf *out);
void pd_estimate_release(struct pd_estimate *e);

#endif
