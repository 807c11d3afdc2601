/* SPDX-License-Identifier: MIT
 *
 * A run of `dedup`, shared by its files: dedup.c says what is asked for and walks through the stages, dedup_stats.c says
 * what came out.
 *
 *	FOLDER/verdicts.tsv, stats.json, report.html	what was found
 *	FOLDER/…				the inputs without what goes
 *	FOLDER/.dedup/journal			what is done
 *	FOLDER/.dedup/N.fp, pairs.tsv		rows of unit N of the inputs, pairs: until the run has ended
 *	FOLDER/.dedup/more.tsv			pairs of one bit more, for the report
 *	FOLDER/.dedup/site.bp			what the sites repeat, where that is learned: as long
 */
#ifndef PD_DEDUP_DEDUP_H
#define PD_DEDUP_DEDUP_H

#include "cmd/cluster.h"
#include "dedup/journal.h"
#include "cmd/match.h"
#include "walk/walk.h"

struct pd_dedup_options {
	struct pd_walk_options walk;	/* first: rows of options are shared */
	struct pd_match_command match;
	struct pd_cluster_command cluster;
	const char *tmp_dir;
	const char *given;		/* all that was asked for and shapes the result: a run is resumed with the same */
	bool no_boilerplate, keep_others, link, keep_rows, dry_run, resume;
};

struct pd_dedup_counts {
	uint64_t pages, without_fingerprint, left_out, damaged, bytes;	/* of the "# total" lines */
	uint64_t clusters, duplicates;
};

struct pd_dedup {
	const struct pd_dedup_options *o;
	char **inputs;
	int n_inputs;
	struct pd_log *log;
	struct pd_journal journal;
	struct pd_buf path;			/* see pd_dedup_path */
	struct pd_dedup_counts counts;
	uint64_t lost;				/* broken members that had to be packed again */
	bool incomplete;			/* something could not be read, as the report says */
	bool told;				/* a stage has said why it failed */
	struct pd_err err;
};

/* A path in the folder; dies at the next call. */
const char *pd_dedup_path(struct pd_dedup *d, const char *name);
/* The table of what sites repeat that the rows are made with, as a path in `path` or an option's; NULL: none, as
 * without inputs. */
const char *pd_dedup_boilerplate(struct pd_dedup *d);
/* The folder: made, or found as --resume wants it; what a killed process left beside `path` goes; the end of a run. */
int pd_dedup_enter(struct pd_dedup *d);
void pd_dedup_sweep(const char *path);
int pd_dedup_leave(struct pd_dedup *d);
/* Would every output have a place?  Asked before hours are spent. */
int pd_dedup_check(struct pd_dedup *d);
/* All stages. */
int pd_dedup_run(struct pd_dedup *d);
/* The pairs again, with those of one bit more, to a file: for the report. */
int pd_dedup_more_pairs(struct pd_dedup *d, const char *output);
/* Counts from verdicts.tsv, into `counts`. */
int pd_dedup_count(struct pd_dedup *d);
/* report.html, from the verdicts, the pairs and the inputs. */
int pd_dedup_write_report(struct pd_dedup *d);
/* stats.json: the same for a run that was broken off and gone on with. */
int pd_dedup_write_stats(struct pd_dedup *d);

#endif
