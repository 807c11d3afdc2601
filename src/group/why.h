/* SPDX-License-Identifier: MIT
 *
 * A page's id or URL, a verdicts file, perhaps the pairs -> all that explains what becomes of the page: its row, those of
 * its cluster, the steps to the page kept, and the pages that it is paired with.  The verdicts are read twice, so that
 * memory grows with one cluster alone.
 */
#ifndef PD_GROUP_WHY_H
#define PD_GROUP_WHY_H

#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/fields.h"

enum { PD_WHY_NEAR = 20, PD_WHY_SUGGESTIONS = 3 };

/* Values escaped as in the file; "-" where there is none. */
struct pd_why_row {
	struct pd_span f[PD_VERDICTS_COLUMNS];
};

struct pd_why_near {
	struct pd_span id, url, distance, similarity;
	struct pd_span method;
	struct pd_span doubt;		/* why the two are no pair although they look alike; {NULL, 0}: they are one */
	bool named;			/* in the verdicts: `row` is its row there */
	struct pd_why_row row;
};

struct pd_why_options {
	const char *id, *url;		/* one of them */
	const char *verdicts, *pairs;	/* files; pairs may be NULL */
};

struct pd_why {
	struct pd_span id;		/* of the page, as rows have it */
	struct pd_why_row *rows;	/* of its cluster, as they come; none: the page is not named */
	size_t n, cap;
	const struct pd_why_row *page;	/* among them; NULL: not named */
	const struct pd_why_row **chain;	/* the page, its `via` and so on, up to the page kept */
	size_t n_chain;
	struct pd_why_near near[PD_WHY_NEAR];	/* the nearest pages that it is paired with */
	size_t n_near;
	uint64_t pairs;			/* rows of `pairs` that name the page */
	struct pd_span suggestions[PD_WHY_SUGGESTIONS];	/* ids much like the one that is not named */
	size_t n_suggestions;
	struct pd_arena arena;
};

/* PD_ERR_NOT_FOUND: no page has this URL, or several (the message lists some).  An id that is not named is no error. */
int pd_why_open(struct pd_why *w, const struct pd_why_options *o, struct pd_err *e);
void pd_why_release(struct pd_why *w);
/* Changes that make one id of another, at most 3, and no more than a third of it: small numbers are alike. */
int pd_why_edits(struct pd_span a, struct pd_span b);

#endif
