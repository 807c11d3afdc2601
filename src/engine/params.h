/* SPDX-License-Identifier: MIT
 *
 * The file of parameters that all tasks of a job are given: what its rows are and how many, and the options of matching.  So each task
 * settles k, bands and what a pair needs as one process with all rows would.  Text, in lines:
 *
 *	# pagededup task 1
 *	must version=4 method=simhash ...
 *	params 474aff6f
 *	sketch 128x4x3
 *	bits 64
 *	rows 1000		with all that follow: counts
 *	prints 990
 *	sketched 980
 *	leaders 700		rows with a sketch that stand for themselves and for those that are the same
 *	distinct 720		fingerprints that differ
 *	parts 0			above 0: some fingerprint has more unlike pages than match compares with those near it
 *	dense 0			1: so many of them are within k of each other that match would not name all pairs
 *	full 12		rows of full buckets of bands, a row as often as it is in one
 *	split h0.1f 3		a bucket that is in three parts, each two of which meet in a task of their own
 *	option --similar=90%	a line for each word
 *	total pages=...
 */
#ifndef PD_ENGINE_PARAMS_H
#define PD_ENGINE_PARAMS_H

#include "base/map.h"
#include "stage/stage.h"

#define PD_ENGINE_PARTS 64	/* of a bucket, at most */

struct pd_engine_params {
	struct pd_buf must, totals;
	char params[16];		/* that rows carry; "": none did */
	struct pd_sketch_options sketch;
	int bits;			/* 0: no row has a fingerprint */
	uint64_t rows, fingerprints, sketched, leaders, distinct, parts, dense, full;
	struct pd_names split;		/* buckets, and in how many parts each is */
	uint32_t *split_parts;
	size_t cap_split;
	struct pd_buf options;		/* words, each with a NUL behind it */
	int n_options;
	/* what follows from these */
	struct pd_rows as_rows;		/* no row at all, but what counts and describes them */
	struct pd_match_options match;
	int width, reach;		/* of bands; 0: none are looked at */
	int asked_width;
	bool leaves_dense;		/* what is dense is left to sketches, which find it in their bands */
	uint64_t near_most;		/* pairs within k; beyond, they are dense */
};

/* Does one task match all rows that stand for others?  It does where which pages count is decided by all of them. */
static inline bool pd_engine_params_one_task(const struct pd_engine_params *p)
{
	return (p->dense && !p->leaves_dense) || (p->parts && p->match.candidates == PD_CANDIDATES_HAMMING);
}

/* PD_ERR_INPUT: no such file, or damaged. */
int pd_engine_params_read(struct pd_engine_params *p, const char *path, struct pd_err *e);
void pd_engine_params_write(const struct pd_engine_params *p, struct pd_buf *out);
/* The same from bytes in memory. */
int pd_engine_params_parse(struct pd_engine_params *p, struct pd_span text, const char *path, struct pd_err *e);
void pd_engine_params_add_split(struct pd_engine_params *p, struct pd_span bucket, uint32_t parts);
void pd_engine_params_add_option(struct pd_engine_params *p, const char *word);
/* `o`: what the options say. */
int pd_engine_params_settle(struct pd_engine_params *p, const struct pd_stage_match *o, struct pd_err *e);
void pd_engine_params_release(struct pd_engine_params *p);

#endif
