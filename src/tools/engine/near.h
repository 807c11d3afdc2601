/* SPDX-License-Identifier: MIT
 *
 * Pairs of rows that are not equal, in three steps of `join`:
 *
 *	near	fingerprints, without their rows -> candidates; rows in buckets of bands -> pairs
 *	fetch	candidates and rows -> each row for each candidate that it is compared with
 *	verify	candidates and these rows -> pairs
 *
 * So whole rows are sent only for candidates, once for each, and no task sorts buckets of rows.
 */
#ifndef PD_ENGINE_NEAR_H
#define PD_ENGINE_NEAR_H

#include "tools/engine/buckets.h"

/* Two fingerprints within k whose rows are compared.  A line "x h FINGERPRINT FINGERPRINT". */
struct pd_engine_candidate {
	struct pd_key fingerprint[2];
	struct pd_span hex[2]; /* the same, in the line */
};

int pd_engine_candidate_parse(struct pd_engine_candidate *c, const struct pd_engine_lines *in, const struct pd_engine_params *p,
			      struct pd_err *e);

int pd_engine_map_near(const struct pd_engine *t, struct pd_engine_params *p, struct pd_err *e);
int pd_engine_reduce_near(const struct pd_engine *t, struct pd_engine_params *p, struct pd_err *e);
int pd_engine_map_fetch(const struct pd_engine *t, struct pd_engine_params *p, struct pd_err *e);
int pd_engine_reduce_fetch(const struct pd_engine *t, struct pd_engine_params *p, struct pd_err *e);
int pd_engine_map_verify(const struct pd_engine *t, struct pd_engine_params *p, struct pd_err *e);
int pd_engine_reduce_verify(const struct pd_engine *t, struct pd_engine_params *p, struct pd_err *e);

#endif
