/* SPDX-License-Identifier: MIT
 *
 * Methods of signing: a page -> a value, which is compared with those of other pages.  In: what a pipeline knows of a page
 * (struct pd_sign_page).  Out: a signature, whose `column` is what rows hold.  What follows (match, compare, the writers)
 * asks for the *kind* of a method and its rule, not at its name.
 *
 * Adding a method: a file of its own with a `struct pd_method`, its name in the two lists of them (below, and at the top of sign.c),
 * rows in tests/shell/methods.sh, a page docs/methods/NAME.md.  Where no kind fits, a kind here and in values.c, with rows in
 * tests/unit/test_methods.c.  Nothing else: `fp --method`, `match`, `cluster --require`, `compare`, `eval`, `store`, `dedup` and the help
 * find it in the table; a store keeps what is bits or keys.
 *
 * A method has parameters.  What is given to `fp` shapes the value, and is recorded in the header of the rows; what is
 * given to `match` (`compares`) says which values belong together.  Both are written as
 *
 *	segments:by=lines:lines=5,exact		names with commas between, each followed by its parameters after colons
 */
#ifndef PD_SIGN_SIGN_H
#define PD_SIGN_SIGN_H

#include "base/err.h"
#include "base/hash.h"
#include "sign/views.h"
#include "topic/topic.h"

enum pd_sign_kind {
	PD_SIGN_BITS,		/* fixed width, compared by Hamming distance */
	PD_SIGN_KEY,		/* equal, or not */
	PD_SIGN_KEYWORDS,	/* two keys, and terms with weights: equal keys, then how far the weights are apart */
	PD_SIGN_SET,		/* items: how many two pages share */
	PD_SIGN_VECTOR,		/* items with weights: their cosine */
};

/* --- the fingerprint's own settings, which have options of their own --- */

enum pd_sign_hash { PD_HASH_XXH3, PD_HASH_RABIN };

/* How much a shingle counts.  `tf` (patent CN101645082, module 300): the set of shingles, each Σ tf of its terms + the
 * feature's weight.  `count`: every occurrence once.  `set`: every distinct shingle of the page once. */
enum pd_sign_weights { PD_WEIGHTS_COUNT, PD_WEIGHTS_SET, PD_WEIGHTS_TF };

struct pd_sign_options {
	const char *method;		/* of the fingerprint: "simhash" */
	int bits;			/* 64, 128, 256 */
	int shingle;			/* w, terms in a shingle: 1 … 16 */
	enum pd_sign_hash hash;
	enum pd_sign_weights weights;
	int feature_weights[PD_FEATURE_COUNT];		/* W_f, added to each shingle's weight (tf only) */
	bool features[PD_FEATURE_COUNT];	/* which features are signed */
	int min_terms;			/* fewer kept terms in signed features: no fingerprint */
	const struct pd_secret *secret;	/* all hashes that are compared depend on it; NULL: anyone can compute them */
};

/* --- methods and their parameters --- */

enum { PD_METHODS_MAX = 16, PD_METHOD_PARAMS = 8 };

struct pd_method_param {
	const char *name;		/* NULL ends the list */
	const char *choices;		/* "body,visible,text": the value is a place in this list; NULL: a number */
	double normal, paper;		/* the default, and that of --preset=paper */
	double least, most;
	bool whole;
	bool compares;			/* given to match, not to fp */
	const char *help;
};

/* When two values belong together.  Each kind reads its own members. */
struct pd_sign_rule {
	int key;		/* keywords: which of the two keys has to be equal */
	double sigma;		/* keywords: the weights are less than so far apart */
	uint64_t least;		/* set: so many shared items at least; 0: not asked for */
	bool all_of_fewer;	/* set: of a page with fewer than that, all */
	bool either;		/* set: one of these two will do */
	double over_share;	/* set: more than this share of the smaller set; negative: not asked for */
	double cosine;		/* vector: more than this */
};

struct pd_method_spec;

/* All that a method is opened with. */
struct pd_method_open {
	const struct pd_sign_options *fingerprint;
	const double *value;			/* of its parameters, in their order */
	const struct pd_sign_tables *tables;	/* shared by threads */
};

struct pd_signature {
	enum pd_sign_kind kind;
	bool present;			/* false: there is nothing to sign, or too little */
	bool few;			/* the page has less than the method was asked to take: all that it has is signed */
	bool capped;			/* the page has more than the method takes: the rest counts for nothing */
	struct pd_buf column;		/* the value as rows hold it (values.h); not of bits */
	/* bits: */
	int bits;
	struct pd_key key;
	uint64_t terms;			/* kept terms of the signed features */
	uint64_t shingles;		/* that were counted */
};

/* `state` is what the method keeps for one thread: parameters, tables, scratch. */
struct pd_method {
	const char *name;
	enum pd_sign_kind kind;
	const char *summary;
	const struct pd_method_param *params;	/* NULL: it has options of its own */
	bool uses_links;		/* pd_sign_page.links are wanted */
	bool uses_idf, uses_synonyms;	/* values made with another table do not go together */
	const char *few;		/* what a page may have too little of, for messages; NULL: nothing */
	const char *capped;		/* what became of those that have more than is taken, for messages; NULL: nothing is capped */
	bool (*wants_body)(const double *value);	/* the page's body is all it reads; NULL: never */
	int (*open)(void **state, const struct pd_method_open *with, struct pd_err *e);
	void (*close)(void *state);
	void (*sign)(void *state, const struct pd_sign_page *in, struct pd_signature *out);
	int (*explain)(void *state, const struct pd_sign_page *in, struct pd_buf *out);	/* what the value is made of; may be NULL */
	void (*settle)(double *value);	/* defaults that hang on other parameters, of both sides; may be NULL */
	void (*rule)(const double *value, struct pd_sign_rule *out);
};

extern const struct pd_method pd_simhash_method, pd_exact_method, pd_segments_method, pd_abstract_method,
	pd_keywords_method, pd_semantic_method, pd_overlap_method, pd_vsm_method, pd_punctuation_method,
	pd_links_method;

extern const struct pd_method *const pd_sign_methods[];	/* NULL ends it */

/* A method with values for its parameters. */
struct pd_method_spec {
	const struct pd_method *method;
	double value[PD_METHOD_PARAMS];
};

struct pd_methods {
	struct pd_method_spec v[PD_METHODS_MAX];
	int n;
};

/* Whose parameters are meant: those that fp takes, or match.  What is not said has its default. */
enum pd_method_side { PD_METHOD_SIGNS, PD_METHOD_COMPARES, PD_METHOD_BOTH };

/* Reads a list; PD_ERR_USAGE names what is wrong and what it may be. */
int pd_methods_read(struct pd_methods *out, struct pd_span list, enum pd_method_side side, bool paper, struct pd_err *e);
/* The list as headers hold it: each with all parameters of that side.  It reads back as the same. */
void pd_methods_print(const struct pd_methods *m, enum pd_method_side side, struct pd_buf *out);
/* Its place in the list, or -1. */
int pd_methods_find(const struct pd_methods *m, struct pd_span name);
/* The place of the one whose values are bits, the fingerprint, or -1. */
int pd_methods_fingerprint(const struct pd_methods *m);
/* Takes the values of one side from another spec of the same method; with those of both there, it is settled. */
void pd_method_spec_take(struct pd_method_spec *to, const struct pd_method_spec *from, enum pd_method_side side);
/* All methods with their parameters, for people. */
void pd_methods_help(struct pd_buf *out);

/* --- signing --- */

struct pd_signer;	/* a method's state for one thread */

/* PD_ERR_USAGE: options that it cannot take. */
int pd_signer_new(struct pd_signer **out, const struct pd_method_spec *spec, const struct pd_sign_options *fingerprint,
		  const struct pd_sign_tables *t, struct pd_err *e);
/* That of the fingerprint alone.  PD_ERR_USAGE: no such method too. */
int pd_signer_fingerprint(struct pd_signer **out, const struct pd_sign_options *o, struct pd_err *e);
void pd_signer_free(struct pd_signer *s);
/* Does it read the body alone, so that it can sign before the page's text is known? */
bool pd_signer_wants_body(const struct pd_signer *s);
/* `out` is filled anew, its column's memory used again. */
void pd_sign(struct pd_signer *s, const struct pd_sign_page *in, struct pd_signature *out);
/* What the signature is made of: of a simhash its shingles, one a line: weight, feature, hash, text. */
int pd_sign_explain(struct pd_signer *s, const struct pd_sign_page *in, struct pd_buf *out);

/* --- hashes that are compared: with a secret the keyed ones, without (NULL) XXH3 --- */

static inline uint64_t pd_sign_hash64(const struct pd_secret *secret, struct pd_span s)
{
	return secret ? pd_keyed64(secret, s.p, s.n) : pd_hash64(s.p, s.n);
}

static inline void pd_sign_hash128(const struct pd_secret *secret, struct pd_span s, uint64_t w[2])
{
	if (secret)
		pd_keyed128(secret, s.p, s.n, w);
	else
		pd_hash128(s.p, s.n, 0, w);
}

static inline uint64_t pd_sign_hash_term(const struct pd_secret *secret, const struct pd_terms *all, const struct pd_term *term)
{
	return secret ? pd_sign_hash64(secret, pd_term_text(all, term)) : term->hash;
}

/* pd_sign_hash128 of a text in its folded form (term/fold.h), 32 hex digits; nothing for a text that folds to nothing. */
void pd_text_digest(struct pd_folder *f, const struct pd_secret *secret, struct pd_span text, struct pd_buf *scratch, struct pd_buf *out);

#endif
