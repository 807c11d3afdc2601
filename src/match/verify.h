/* SPDX-License-Identifier: MIT
 *
 * Verification: a pair whose fingerprints are near -> is it one, by what the sketches say?  A fingerprint of 64 bits
 * cannot tell near-duplicates from pages that are near by chance or by their chrome where k is generous; the similarity
 * estimated from two sketches can.  Inside one host more is asked, because pages of one site share what is left of its
 * chrome, and pages of one template nearly all of their text: those with another subject or in another language, those with
 * few terms, and those whose main text is doubtful need more than others (verify.def).  Sources and
 * measurements: docs/accuracy.md.
 *
 * A pair of which one page has no sketch cannot be verified: it counts as before, up to a distance of its own.
 */
#ifndef PD_MATCH_VERIFY_H
#define PD_MATCH_VERIFY_H

#include "base/buf.h"
#include "rows/rows.h"

#define PD_SIMILARITY_UNKNOWN (-1.)

/* The numbers that no command line sets (verify.def has their values and meanings).  The program uses pd_verify_numbers_default
 * alone; bench/decide.c tries others. */
struct pd_verify_numbers {
#define X(name, value, meaning) double name;
#include "match/verify.def"
#undef X
};

extern const struct pd_verify_numbers pd_verify_numbers_default;

struct pd_verify_options {
	bool off;		/* every pair within k counts */
	double least;		/* estimated Jaccard similarity that a pair needs: 0 ... 1 */
	double least_same_host;
	int k_unknown;		/* Hamming distance up to which pairs without a similarity count */
	const struct pd_verify_numbers *numbers;	/* NULL: those of verify.def */
};

/* Measured: docs/accuracy.md. */
#define PD_VERIFY_DEFAULTS { .least = .5, .least_same_host = .7 }

/* What a command line may say of it. */
struct pd_verify_request {
	const char *similar;			/* "90%": everywhere; NULL: not said */
	double similarity, similarity_same_host;	/* negative: not said */
	int verify;				/* 1, 0; -1: not said */
};

#define PD_VERIFY_NOTHING_SAID { .similarity = -1, .similarity_same_host = -1, .verify = -1 }

/* The defaults with what was said; k_unknown is the caller's.  off_by_default: no verification unless it is asked for.  A similarity
 * that was said holds on one host too, where it is the higher one.  PD_ERR_USAGE: what does not go together. */
int pd_verify_settle(const struct pd_verify_request *r, bool off_by_default, struct pd_verify_options *out, struct pd_err *e);

/* What two pages need, in words: lines that end in a newline. */
void pd_verify_explain(const struct pd_verify_options *o, struct pd_buf *out);

/* The k that suits N pages when pairs are verified: the largest, up to a quarter of the width, at which a page
 * meets no more than PD_VERIFY_CANDIDATES others by chance, N/2 * P(two random keys are within k); docs/accuracy.md. */
#define PD_VERIFY_CANDIDATES 2
int pd_verify_default_k(int bits, size_t n_keys);

/* What two pages are to each other. */
enum pd_verification {
	PD_VERIFIED_NO,		/* not alike */
	PD_VERIFIED_YES,		/* duplicates */
	/* alike by their sketches, and one would not remove either unseen: */
	PD_VERIFIED_FEW_TERMS,
	PD_VERIFIED_UNSURE,		/* of what their main text is */
	PD_VERIFIED_OTHER_SUBJECT,
	PD_VERIFIED_OTHER_LANGUAGE,
};

extern const char *const pd_verification_names[];	/* "-" for no and yes */

/* Can pages with this similarity (estimated, or PD_SIMILARITY_UNKNOWN) be anything but PD_VERIFIED_NO?  Asked first: it needs
 * nothing else of them. */
bool pd_verify_maybe(const struct pd_verify_options *o, double similarity, int distance);
/* Of pages whose hosts are not known as much is asked as of one host, but for the least similarity itself. */
enum pd_hosts { PD_HOSTS_DIFFER, PD_HOSTS_SAME, PD_HOSTS_UNKNOWN };

/* The decision, the same for every command.  A similarity that is not known decides by the distance alone. */
enum pd_verification pd_verify(const struct pd_verify_options *o, double similarity, int distance, const struct pd_facts *a,
		       const struct pd_facts *b, enum pd_hosts hosts);
/* The same for two pages without a fingerprint whose texts are equal. */
enum pd_verification pd_verify_equal_texts(const struct pd_verify_options *o, const struct pd_facts *a, const struct pd_facts *b,
				   bool same_host);

/* --- doubts --- */

/* Of each row the other that it is most like among those that were examined and doubted: alike by the similarity that any two
 * pages need, and not by that which these need.  So there are no more such pairs than rows, and which they are does not depend
 * on the order in which rows were examined. */
struct pd_doubts {
	enum pd_doubts_realms { PD_DOUBTS_ALL, PD_DOUBTS_INSIDE, PD_DOUBTS_BETWEEN } realms;	/* of rows->realm, when that counts */
	uint64_t *best;			/* by row; 0: none */
	size_t n;			/* rows */
	struct pd_array memory;
};

struct pd_doubt {
	uint32_t a, b;			/* rows, a < b */
	enum pd_verification result;
	double similarity;		/* in thousandths */
};

/* `rows` know their realms where those count. */
void pd_doubts_init(struct pd_doubts *d, enum pd_doubts_realms realms, const struct pd_rows *rows);
/* `a` and `b` in any order, from any thread.  What is of one side, or not of the realms asked for, is passed over. */
void pd_doubts_note(struct pd_doubts *d, const struct pd_rows *rows, uint32_t a, uint32_t b, enum pd_verification result, double similarity);
/* The doubt of row *at or of one after it, each once; *at is moved past it.  False: there is none. */
bool pd_doubts_next(const struct pd_doubts *d, uint32_t *at, struct pd_doubt *out);
/* The doubt of one row, whatever the others' are; false: it has none. */
bool pd_doubts_of(const struct pd_doubts *d, uint32_t row, struct pd_doubt *out);
void pd_doubts_release(struct pd_doubts *d);

/* --- rows --- */

/* The same for two rows of a row set. */
struct pd_verifier {
	const struct pd_verify_options *o;
	const struct pd_rows *rows;
	bool texts;		/* rows without a fingerprint, of equal text */
	bool apart;		/* as if all were on different hosts */
	struct pd_doubts *doubts;	/* what is doubted is noted here; NULL: nowhere.  Threads may share it. */
	struct pd_buf scratch[2];
	struct pd_verifier_row *known;	/* what was read of rows, some of them */
	uint32_t n_known;
};

/* Are they duplicates?  *similarity: 1 for equal texts. */
bool pd_verify_rows(struct pd_verifier *v, uint32_t a, uint32_t b, int distance, double *similarity);
void pd_verifier_release(struct pd_verifier *v);

#endif
