/* SPDX-License-Identifier: MIT
 *
 * Pairs of rows that are not equal, in three steps of `join`:
 *
 *	near	fingerprints, and short rows of a fingerprint, a number and a sketch -> candidates
 *	fetch	candidates and rows -> each row for each candidate that it is compared with
 *	verify	candidates and these rows -> pairs
 *
 * So whole rows are sent only for candidates, once for each, and no task sorts buckets of rows.
 */
#ifndef PD_ENGINE_NEAR_H
#define PD_ENGINE_NEAR_H

#include "tools/engine/buckets.h"

/* Lines of `near`, in which spaces are tabs:
 *
 *	x h FINGERPRINT FINGERPRINT			fingerprints within k, whose rows are compared
 *	x b FINGERPRINT NUMBER FINGERPRINT NUMBER	two rows with similar sketches
 *	c BAND FINGERPRINT NUMBER			a row whose bucket is full in this band
 */
int pd_engine_candidate_parse(struct pd_engine_candidate *c, const struct pd_engine_lines *in, const struct pd_engine_params *p,
			      struct pd_err *e);
int pd_engine_full_parse(struct pd_engine_candidate *c, const struct pd_engine_lines *in, const struct pd_engine_params *p,
			 struct pd_err *e);
/* Parse the fingerprint of a row, and compute its number. */
int pd_engine_row_key(struct pd_engine_row_key *k, const struct pd_engine_lines *in, const struct pd_engine_params *p,
		      struct pd_err *e);

int pd_engine_map_near(const struct pd_engine *t, struct pd_engine_params *p, struct pd_err *e);
int pd_engine_reduce_near(const struct pd_engine *t, struct pd_engine_params *p, struct pd_err *e);
int pd_engine_map_fetch(const struct pd_engine *t, struct pd_engine_params *p, struct pd_err *e);
int pd_engine_reduce_fetch(const struct pd_engine *t, struct pd_engine_params *p, struct pd_err *e);
int pd_engine_map_verify(const struct pd_engine *t, struct pd_engine_params *p, struct pd_err *e);
int pd_engine_reduce_verify(const struct pd_engine *t, struct pd_engine_params *p, struct pd_err *e);

#endif
