/* SPDX-License-Identifier: MIT
 *
 * Verdicts, or answers of a store -> the numbers of a report: what is removed, sizes of clusters, the largest of them, what is
 * removed by host, and a sample of removed pages, spread over distances.  The rows are read once, in the order in which `cluster`
 * writes them.  Memory grows with the number of hosts alone; answers, which stand in the order of the questions, take 32 bytes
 * each, and their rows go through temporary files.
 */
#ifndef PD_REPORT_SUMS_H
#define PD_REPORT_SUMS_H

#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/map.h"

enum { PD_REPORT_LARGEST = 20, PD_REPORT_SIZES = 9, PD_REPORT_SAMPLE_MAX = 100, PD_REPORT_DOUBTS = 16 };

/* Values as they are, not escaped. */
struct pd_report_cluster {
	struct pd_buf id, url, reason;	/* of the page kept */
	uint64_t size, removed_bytes;
};

struct pd_report_host {
	struct pd_span name;		/* "": none */
	uint64_t pages, bytes;		/* removed */
};

/* A removed page, and the page kept in its place; or a suspect, and the page that it may be a duplicate of. */
struct pd_report_sampled {
	uint64_t order, cluster;	/* by the seed: those with the smallest are chosen */
	int stratum;			/* distance + 1; 0: the same text */
	struct pd_buf id, url, reason, dup_of, kept_url, kept_reason;	/* of a suspect there is no kept_url and no kept_reason */
};

struct pd_report_doubt {
	struct pd_buf name;		/* why suspects stay */
	uint64_t pages;
};

struct pd_report_stratum {
	struct pd_report_sampled v[PD_REPORT_SAMPLE_MAX];
	size_t n;
};

struct pd_report_sums {
	uint64_t seed;
	size_t want;			/* pages to sample */
	/* filled */
	struct pd_buf params;		/* of the header: k=, linkage=, keep= */
	uint64_t pages, input_bytes;	/* of all that was looked at; 0: not known */
	uint64_t clusters, members, removed, removed_bytes, bad;
	uint64_t sizes[PD_REPORT_SIZES];	/* clusters, by size: pd_report_size_names */
	struct pd_report_cluster largest[PD_REPORT_LARGEST];
	size_t n_largest;
	struct pd_report_host *hosts;	/* most pages first */
	size_t n_hosts, cap_hosts;
	struct pd_report_stratum *strata[PD_BITS_MAX + 2];
	uint64_t suspects;		/* pages that stay although they may be duplicates */
	struct pd_report_doubt doubts[PD_REPORT_DOUBTS];	/* as they come; the last holds all other ones */
	size_t n_doubts;
	struct pd_report_stratum *suspected;	/* a sample of suspects; NULL: none */
	/* its own */
	struct pd_report_cluster now;
	uint64_t cluster;
	bool any, sampled_now;
	struct pd_index by_name;	/* numbers of hosts, until they are sorted */
	struct pd_arena arena;
	struct pd_buf value, host;
};

extern const char *const pd_report_size_names[PD_REPORT_SIZES];

struct pd_report_reading {
	const char *path;
	const char *tmp_dir;
	void (*bad_row)(void *ctx, const char *why);
	void *ctx;
};

/* `seed` and `want` are set. */
int pd_report_sums_read(struct pd_report_sums *s, const struct pd_report_reading *o, struct pd_err *e);
void pd_report_sums_release(struct pd_report_sums *s);
/* Picks `want` of what was sampled, one for each distance, again and again; nearest first.  Returns how many. */
size_t pd_report_sums_sampled(const struct pd_report_sums *s, const struct pd_report_sampled **out);

#endif
