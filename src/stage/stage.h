/* SPDX-License-Identifier: MIT
 *
 * Stages as commands run them, with all that is said on the way: files of fp rows -> a file of pairs, and files of pairs -> a
 * file of verdicts: what `match` and `cluster` do, and `dedup` as two of several stages; files of fp rows and what is kept of earlier
 * ones: `store`; pairs or clusters, or pages, held against what is known of them: `eval`.
 */
#ifndef PD_STAGE_STAGE_H
#define PD_STAGE_STAGE_H

#include "base/terminal.h"
#include "group/group.h"
#include "group/score.h"
#include "walk/walk.h"
#include "write/write.h"

/* Done, but rows that could not be read were left out, which the options do not call right. */
enum { PD_STAGE_DAMAGED = 1 };

/* Who takes pairs instead of a file: the library.  All return 0, or negative: stop. */
struct pd_stage_pairs {
	int (*rows)(void *ctx, const struct pd_rows *rows, const struct pd_match_options *match);	/* first of all, those that pairs are of */
	int (*pairs)(void *ctx, const struct pd_match_pair *pairs, size_t n);		/* in order */
	int (*methods_pair)(void *ctx, const struct pd_match_methods_pair *pair);	/* … where several methods find them */
	int (*suspect)(void *ctx, const struct pd_match_pair *pair, const char *why);
	void (*bad_row)(void *ctx, const char *why);
	void *ctx;
};

struct pd_stage_match {
	int preset;			/* -1: as the rows were made */
	int k, plan, scope, jobs, format, candidates, band_width;
	bool all_pairs, explain, quiet, ignore_damaged;
	bool one_more;			/* k and one bit more, for a report on what that would change */
	struct pd_verify_request verification;	/* off with the preset paper, unless asked for */
	const char *output, *tmp_dir, *stats;
	const char *method;		/* what is joined, as typed; NULL: what the rows were signed by */
	const struct pd_methods *methods;	/* the same, read already; NULL: as `method` says */
	const char *sites;		/* whose hosts are, for the scopes same-site and other-sites */
	const char *rule, *rule_weights, *links, *ranks;	/* rules on links as typed, and rows of `link` and of `rank`; NULL: none */
	const char *save;		/* only write the rows as a key file */
	size_t memory;			/* 0: half of the machine's */
	char **against;			/* the collection, when there is one */
	int n_against;
	struct pd_tsv_sources sources;	/* of paths that are no files */
	const struct pd_stage_pairs *to;	/* NULL: into `output`, with all that is said */
};

struct pd_stage_match pd_stage_match_defaults(void);
/* Do the options of the verification go together?  Asked before hours are spent. */
int pd_stage_match_check(const struct pd_stage_match *o, struct pd_err *e);
/* How rows are matched by these options: of the rows only what counts and describes them is asked. */
int pd_stage_match_settle(const struct pd_stage_match *o, const struct pd_rows *rows, struct pd_match_options *out, struct pd_err *e);
/* 0, PD_STAGE_DAMAGED, or negative, and why.  `log` may be NULL with `to`. */
int pd_stage_match_run(const struct pd_stage_match *o, char **paths, int n_paths, struct pd_log *log, struct pd_err *e);

/* --- cluster --- */

struct pd_stage_cluster {
	int linkage, action, format, scope;
	const char *keep;		/* as typed */
	char *shingles;			/* a file of fp --shingles; NULL: none */
	bool texts_follow;		/* group.shingles are set later */
	struct pd_group_options group;	/* complete after pd_stage_cluster_settle, but for the inputs */
	bool quiet, ignore_damaged;
	const char *output;
	int (*row)(void *ctx, struct pd_span row);	/* the library takes them instead of `output`; 0, or negative: stop */
	void *ctx;
};

/* Looks at options together and fills `group`; PD_ERR_USAGE. */
int pd_stage_cluster_settle(struct pd_stage_cluster *o, struct pd_err *e);
/* After pd_stage_cluster_settle (`log` may be NULL with `row`): 0, PD_STAGE_DAMAGED, or negative, and why. */
int pd_stage_cluster_run(const struct pd_stage_cluster *o, char **paths, int n_paths, struct pd_log *log, struct pd_err *e);

/* --- store --- */

enum pd_stage_store_action { PD_STORE_INIT, PD_STORE_ADD, PD_STORE_CHECK, PD_STORE_REMOVE, PD_STORE_COMPACT, PD_STORE_VERIFY, PD_STORE_INFO,
			     PD_STORE_EXPORT };

/* Numbers that nobody gave are -1. */
struct pd_stage_store {
	const char *dir;
	char **operands;		/* rows; or ids, to be removed.  None: standard input */
	int n_operands;
	int preset, bits, k, on_duplicate, same_url, format;	/* bits: 0, 1, 2 are 64, 128, 256 */
	int keys;			/* 0 lmdb, 1 bloom */
	const char *method, *require, *key;	/* key: a file with the secret, for init; NULL: a new one */
	double count, error;		/* of a filter; 0: the usual ones */
	struct pd_verify_request verification;
	bool line_buffered, quiet, ignore_damaged, by_url;
	bool no_key;
};

/* 0, PD_STAGE_DAMAGED, or negative, and why. */
int pd_stage_store_run(enum pd_stage_store_action action, const struct pd_stage_store *o, struct pd_log *log, struct pd_err *e);

/* --- eval --- */

struct pd_stage_eval {
	struct pd_walk_options walk;	/* first: the options of pages are parsed into it */
	struct pd_truth_options truth;	/* but for bad_row and ctx, which are set here */
	const char *pairs, *clusters;	/* one of the two, or a sweep */
	bool suspects;
	int bootstrap, seed, format;	/* format: enum pd_write_eval_format */
	bool sweep;
	int max_k, verify;
	int shingle[16], n_shingle, weights[3], n_weights, bits[3], n_bits;	/* to try; none: those of docs/eval.md */
};

/* The truth, then for a sweep the dumps: 0, PD_STAGE_DAMAGED, or negative, and why. */
int pd_stage_eval_run(const struct pd_stage_eval *o, char **operands, int n, struct pd_log *log, struct pd_err *e);

#endif
