/* SPDX-License-Identifier: MIT
 *
 * M6 (module 300): features -> a signature.  A signature is a kind, not a method: what follows (match, store, compare)
 * looks at the kind alone.  Only `bits` is built; methods.c is the one table that maps a method's name to its kind,
 * parameters and function.
 *
 * Adding a method: a file of its own with a `sign` function, a row in methods.c, a kind here if none fits, test rows in
 * tests/unit/test_sign.c, a paragraph in docs/methods.md.
 */
#ifndef PD_SIGN_SIGN_H
#define PD_SIGN_SIGN_H

#include "base/err.h"
#include "base/hash.h"
#include "topic/topic.h"

enum pd_kind {
	PD_KIND_BITS,		/* fixed width, compared by Hamming distance */
};

enum pd_sign_hash { PD_HASH_XXH3, PD_HASH_RABIN };

/* How much a shingle counts.  `tf` (M6): the set of shingles, each Σ tf of its terms + the feature's weight.  `count`:
 * every occurrence once.  `set`: every distinct shingle of the page once. */
enum pd_sign_weights { PD_WEIGHTS_COUNT, PD_WEIGHTS_SET, PD_WEIGHTS_TF };

struct pd_sign_options {
	const char *method;		/* "simhash" */
	int bits;			/* 64, 128, 256 */
	int shingle;			/* w, terms in a shingle: 1 … 16 */
	enum pd_sign_hash hash;
	enum pd_sign_weights weights;
	int feature_weights[PD_FEATURE_COUNT];		/* W_f, added to each shingle's weight (tf only) */
	bool features[PD_FEATURE_COUNT];	/* which features are signed */
	int min_terms;			/* fewer kept terms in signed features: no fingerprint */
};

struct pd_signature {
	enum pd_kind kind;
	int bits;
	bool present;			/* false: too little text */
	struct pd_key key;
	uint64_t terms;			/* kept terms of the signed features */
	uint64_t shingles;		/* that were counted */
};

struct pd_signer;	/* tables and scratch for one thread */

int pd_signer_new(struct pd_signer **out, const struct pd_sign_options *o, struct pd_err *e);
void pd_signer_free(struct pd_signer *s);
int pd_sign(struct pd_signer *s, const struct pd_topic *in, struct pd_signature *out);
/* The shingles that `pd_sign` counts, one a line: weight, feature, hash, text; for `show --stage=features`. */
int pd_sign_explain(struct pd_signer *s, const struct pd_topic *in, struct pd_buf *out);

#endif
