/* SPDX-License-Identifier: MIT
 *
 * The second look: a pair whose fingerprints are near -> is it one, by what the sketches say?  A fingerprint of 64 bits
 * cannot tell near-duplicates from pages that are near by chance or by their chrome where k is generous; the similarity
 * estimated from two sketches can.  Inside one host more is asked, because pages of one site share what is left of its
 * chrome.  Sources and measurements: docs/accuracy.md.
 *
 * A pair of which one page has no sketch cannot be looked at again: it counts as before, up to a distance of its own.
 */
#ifndef PD_MATCH_VERIFY_H
#define PD_MATCH_VERIFY_H

#include "base/buf.h"
#include "rows/rows.h"

#define PD_SIMILARITY_UNKNOWN (-1.)

struct pd_verify_options {
	bool off;		/* every pair within k counts */
	double least;		/* estimated Jaccard similarity that a pair needs: 0 ... 1 */
	double least_same_host;
	int k_unknown;		/* Hamming distance up to which pairs without a similarity count */
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

/* The defaults with what was said; k_unknown is the caller's.  unlooked: no second look unless it is asked for.  A similarity
 * that was said holds on one host too, where it is the higher one.  PD_ERR_USAGE: what does not go together. */
int pd_verify_settle(const struct pd_verify_request *r, bool unlooked, struct pd_verify_options *out, struct pd_err *e);

/* What two pages need, in words: lines that end in a newline. */
void pd_verify_explain(const struct pd_verify_options *o, struct pd_buf *out);

/* The k that suits N pages when pairs are looked at again: the largest, up to a quarter of the width, at which a page
 * meets no more than PD_VERIFY_CANDIDATES others by chance, N/2 * P(two random keys are within k); docs/accuracy.md. */
#define PD_VERIFY_CANDIDATES 2
int pd_verify_default_k(int bits, size_t n_keys);

enum pd_look {
	PD_LOOK_NO,
	PD_LOOK_YES,
	PD_LOOK_BY_HOST,	/* yes on different hosts, no on one, or the other way round: ask pd_verify_hosts */
};

/* similarity: estimated, or PD_SIMILARITY_UNKNOWN. */
enum pd_look pd_verify(const struct pd_verify_options *o, double similarity, int distance);
bool pd_verify_hosts(const struct pd_verify_options *o, double similarity, bool same_host);

/* The same for two rows of a row set; hosts are taken from their URLs only where they decide. */
struct pd_verifier {
	const struct pd_verify_options *o;
	const struct pd_rows *rows;
	struct pd_buf scratch[2];
};

bool pd_verify_rows(struct pd_verifier *v, uint32_t a, uint32_t b, int distance, double *similarity);
void pd_verifier_release(struct pd_verifier *v);

#endif
