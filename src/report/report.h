/* SPDX-License-Identifier: MIT
 *
 * Verdicts or answers, perhaps pairs, settings and dumps -> a page for a browser that shows what is removed.  What is damaged
 * makes it poorer, not impossible: it is named on `log` and counted.  The texts of pages come from the caller.
 */
#ifndef PD_REPORT_REPORT_H
#define PD_REPORT_REPORT_H

#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/terminal.h"
#include "read/reader.h"

enum { PD_REPORT_SAMPLE = 12 };

/* Title, address (`url` may be NULL) and main text of the page of this id: 0; 1: it cannot be had, which is no fault, and `e` says
 * why; negative. */
typedef int pd_report_fetch_fn(void *ctx, const char *id, struct pd_buf *title, struct pd_buf *url, struct pd_buf *text, struct pd_err *e);

struct pd_report_options {
	const char *verdicts, *pairs, *sweep;	/* files; "-": standard input; the last two may be NULL */
	const char *output;			/* NULL: standard output */
	const char *tmp_dir;
	int sample, seed;
	struct pd_reader_options in;		/* the dumps */
	bool suspects_go;			/* they are removed, too */
	bool with_texts;			/* there are dumps, whose texts are wanted */
	uint64_t bytes_in, bytes_out;		/* of the dumps; 0: they are measured */
	pd_report_fetch_fn *fetch;
	void *ctx;
};

struct pd_report_result {
	uint64_t clusters, duplicates, suspects;
	bool damaged;				/* rows, texts or sizes were left out */
};

/* 0 or negative, and why. */
int pd_report_write(const struct pd_report_options *o, struct pd_log *log, struct pd_report_result *out, struct pd_err *e);

/* Verdicts, or answers of a store -> the numbers of a report: what is removed, sizes of clusters, the largest of them, what is
 * removed by host, and a sample of removed pages, spread over distances.  The rows are read once, in the order in which `cluster`
 * writes them.  Memory grows with the number of hosts alone; answers, which stand in the order of the questions, take 32 bytes
 * each, and their rows go through temporary files. */

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
	uint64_t pages, input_bytes;	/* of all that was examined; 0: not known */
	uint64_t clusters, members, removed, removed_bytes, bad;
	uint64_t sizes[PD_REPORT_SIZES];	/* clusters of 2, 3, 4, 5 … pages: size_names */
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

/* Pairs rows -> how many pairs there are at each distance, and how many pages each further bit of k removes: pages less
 * chains of pages when pairs up to that distance count.  That is what `cluster --linkage=connected` removes, and the most
 * that star can.  Memory: 24 bytes for a page, 12 for a pair. */

struct pd_report_reach {
	int k;						/* of the header; -1: it says none */
	int most;					/* the largest k that is exact for their width; -1: not known */
	uint64_t bad, all;
	uint64_t pairs[PD_BITS_MAX + 2];		/* [0]: the same text; [d + 1]: distance d */
	uint64_t removed[PD_BITS_MAX + 2];			/* pages that this distance removes and those before it do not */
};

int pd_report_reach_read(struct pd_report_reach *r, const struct pd_report_reading *o, struct pd_err *e);

/* Rows of `eval --sweep --format=tsv` -> a curve of F1 over k for each setting, drawn in the page, and a table with the same
 * numbers beside it. */

enum { PD_REPORT_SETTINGS = 64 };

struct pd_report_setting {
	uint64_t bits, shingle;
	char weights[16];
	int n_k;			/* k from 0 up to n_k - 1 */
	double precision[PD_BITS_MAX + 1], recall[PD_BITS_MAX + 1], f1[PD_BITS_MAX + 1];
	int best;			/* the smallest k of the largest F1 */
};

struct pd_report_sweep {
	struct pd_report_setting *v[PD_REPORT_SETTINGS];	/* the best first */
	int n;
	uint64_t bad;
};

int pd_report_sweep_read(struct pd_report_sweep *s, const struct pd_report_reading *o, struct pd_err *e);
void pd_report_sweep_release(struct pd_report_sweep *s);
/* `k`: the threshold of the verdicts, -1: not known. */
void pd_report_sweep_page(const struct pd_report_sweep *s, int k, struct pd_buf *out);

/* --- a page to label pairs on (label_page.c) ---
 *
 * A page on which a person labels pairs: two texts side by side, three answers, a button that saves a table for eval.  One
 * file, nothing is loaded from outside, and everything foreign is escaped.  The distance is not shown: who
 * sees it labels the number. */

struct pd_label_options {
	char **paths;			/* of rows of pairs, from which the pairs are sampled (group/sample.h) */
	int n_paths, number, max_k, seed;
	const char *output;		/* NULL: standard output */
	pd_report_fetch_fn *fetch;
	void *ctx;
};

struct pd_label_counts {
	uint64_t written, seen;		/* pairs on the page, and of how many */
	bool damaged;			/* rows or pairs were left out, and named */
};

int pd_label_write(const struct pd_label_options *o, struct pd_log *log, struct pd_label_counts *out, struct pd_err *e);

/* --- markup (markup.c) ---
 *
 * Foreign text in HTML that we write: nothing of it becomes markup, and nothing of it is invisible.  Characters that turn
 * the direction of text or take no room are shown by their number, as are control characters; bytes that are not UTF-8
 * become U+FFFD. */

/* As text of an element; marks become <span class="mark">U+202E</span>. */
void pd_markup_text(struct pd_buf *out, struct pd_span s);
/* As the value of an attribute in double quotes: the same bytes come back from the DOM. */
void pd_markup_attribute(struct pd_buf *out, struct pd_span s);

/* Two texts -> HTML of each with what the other does not have marked, word by word.  Bounded: a text is examined up to
 * some thousand words, long stretches that both share are left out, and what was left out is said. */

/* `a` goes into <del>, `b` into <ins>; either buffer is added to. */
void pd_report_texts(struct pd_span a, struct pd_span b, struct pd_buf *html_a, struct pd_buf *html_b);

#endif
