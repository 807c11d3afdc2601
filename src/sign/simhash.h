/* SPDX-License-Identifier: MIT
 *
 * M6, the method `simhash` of methods.c: shingles -> hash -> weighted majority of each bit.
 */
#ifndef PD_SIGN_SIMHASH_H
#define PD_SIGN_SIMHASH_H

#include "sign/shingle.h"
#include "sign/rabin.h"

struct pd_method;

struct pd_signer {
	const struct pd_method *method;
	struct pd_sign_options o;
	struct pd_shingler shingler;
	struct pd_rabin *rabin;		/* hash = rabin */
	struct pd_simhash counters;
};

int pd_simhash_check(const struct pd_sign_options *o, struct pd_err *e);
int pd_simhash_sign(struct pd_signer *s, const struct pd_topic *in, struct pd_signature *out);
int pd_simhash_explain(struct pd_signer *s, const struct pd_topic *in, struct pd_buf *out);

#endif
