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
 *	option --similar=90%	a line for each word
 *	total pages=...
 */
#ifndef PD_ENGINE_PARAMS_H
#define PD_ENGINE_PARAMS_H

#include "stage/stage.h"

struct pd_engine_params {
	struct pd_buf must, totals;
	char params[16];		/* that rows carry; "": none did */
	struct pd_sketch_options sketch;
	int bits;			/* 0: no row has a fingerprint */
	uint64_t rows, prints, sketched, leaders;
	struct pd_buf options;		/* words, each with a NUL behind it */
	int n_options;
	/* what follows from these */
	struct pd_rows as_rows;		/* no row at all, but what counts and describes them */
	struct pd_match_options match;
	int width, reach;		/* of bands; 0: none are looked at */
};

/* PD_ERR_INPUT: no such file, or damaged. */
int pd_engine_params_read(struct pd_engine_params *p, const char *path, struct pd_err *e);
void pd_engine_params_write(const struct pd_engine_params *p, struct pd_buf *out);
/* The same from bytes in memory. */
int pd_engine_params_parse(struct pd_engine_params *p, struct pd_span text, const char *path, struct pd_err *e);
void pd_engine_params_add_option(struct pd_engine_params *p, const char *word);
/* `o`: what the options say. */
int pd_engine_params_settle(struct pd_engine_params *p, const struct pd_stage_match *o, struct pd_err *e);
void pd_engine_params_release(struct pd_engine_params *p);

#endif
