/* SPDX-License-Identifier: MIT
 *
 * All stages in one run: dumps -> dumps without near-duplicates, in a folder.  A journal allows resuming an
 * interrupted run.
 */
#ifndef PD_RUN_DEDUP_H
#define PD_RUN_DEDUP_H

#include "run/journal.h"
#include "run/stage.h"
#include "run/walk.h"

/* The data of a report about a run. */
struct pd_dedup_report {
	const char *verdicts, *pairs, *output; /* files; the pairs are computed for one more bit */
	const char *matched;		       /* the pairs of the verdicts; NULL: not all verdicts are made of them */
	const char *boilerplate;	       /* the table with which the rows were made; NULL: none */
	struct pd_reader_options in;	       /* the dumps */
	const struct pd_map *new;     /* hashes of the ids of all pages, as rows have them; empty: there are no old pages */
	uint64_t bytes_in, bytes_out; /* bytes of the dumps; 0: without an output */
};

struct pd_dedup_options {
	struct pd_walk_options walk; /* first: rows of options are shared */
	struct pd_stage_match match;
	struct pd_stage_cluster cluster;
	const char *tmp_dir;
	char **against; /* rows or key files of old pages, which are never changed; pages like them are removed */
	int n_against;
	const char *given;   /* all given options that influence the result; they must be the same to resume the run */
	double max_wrong;    /* the estimate must promise at most this share of wrong removals; 0: not given */
	int sample_weights;  /* enum pd_sample_weights: with dry_run, also write weights.tsv */
	const char *removed; /* the folder for removed records; NULL: they are not kept */
	bool no_boilerplate, keep_others, remove_suspects, remove_parts, rewrite_revisits, link, keep_rows, dry_run, resume;
	bool again_with;   /* only cluster the pairs of a finished run with other options */
	const char *again; /* the command that resumes this run, for a message after a signal; NULL: no message */
	/* Write the report.  Return 0; 1: something could not be read; or a negative status.  NULL: no report. */
	int (*report)(const struct pd_dedup_options *o, const struct pd_dedup_report *report, struct pd_log *log, struct pd_err *e);
};

struct pd_dedup_result {
	union pd_dedup_counts counts;
	union pd_journal_output removed;
	uint64_t removals; /* sum of pd_estimate_removal, if there is an estimate */
	bool incomplete;   /* a page could not be read for the report, or differs from its row */
};

/* Run all stages; `o` must be settled.  Return 0, or a negative status and the error. */
int pd_dedup(const struct pd_dedup_options *o, char **inputs, int n_inputs, struct pd_log *log, struct pd_dedup_result *out,
	     struct pd_err *e);

/* A finished run, whose pairs can be clustered again. */
struct pd_dedup_again {
	uint64_t pages, duplicates;
	double least; /* similarity of its pairs */
};

/* Read it from its folder; *pairs: the path of its pairs. */
int pd_dedup_again(const char *folder, struct pd_dedup_again *out, struct pd_buf *pairs, struct pd_err *e);

#endif
