/* SPDX-License-Identifier: MIT
 *
 * What a method of signing is: a name, a kind, and functions from the main text of a page to a signature.  What follows
 * (match, store, compare) looks at the kind of a signature and not at its method.  Only the kind `bits` is built.
 *
 * Adding a method: a file of its own with a `struct pd_method`, a row in the table of sign.c, a kind here if none fits,
 * test rows in tests/unit/test_sign.c, a paragraph in docs/methods.md.
 */
#ifndef PD_SIGN_METHOD_H
#define PD_SIGN_METHOD_H

#include "base/err.h"
#include "base/hash.h"
#include "topic/topic.h"

enum pd_signature_kind {
	PD_SIGNATURE_BITS,	/* fixed width, compared by Hamming distance */
};

enum pd_sign_hash { PD_HASH_XXH3, PD_HASH_RABIN };

/* How much a shingle counts.  `tf` (patent CN101645082, module 300): the set of shingles, each Σ tf of its terms + the
 * feature's weight.  `count`: every occurrence once.  `set`: every distinct shingle of the page once. */
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
	enum pd_signature_kind kind;
	int bits;
	bool present;			/* false: too little text */
	struct pd_key key;
	uint64_t terms;			/* kept terms of the signed features */
	uint64_t shingles;		/* that were counted */
};

/* `state` is what the method keeps for one thread: options, tables, scratch. */
struct pd_method {
	const char *name;
	enum pd_signature_kind kind;
	const char *summary;
	int (*open)(void **state, const struct pd_sign_options *o, struct pd_err *e);
	void (*close)(void *state);
	int (*sign)(void *state, const struct pd_topic *in, struct pd_signature *out);
	int (*explain)(void *state, const struct pd_topic *in, struct pd_buf *out);
};

#endif
