/* SPDX-License-Identifier: MIT
 *
 * A URL that was parsed (url.h) -> the text by which it counts as the same as others.  Three forms:
 *
 * - standard: the URL as browsers write it, and no more;
 * - canonical: what no server should tell apart is one.  Beside the standard: no user, no fragment (unless it is kept), no dot at
 *   the end of the host; unreserved characters are not escaped, escapes are in upper case, a stray '%' is one; slashes side by
 *   side are one; parameters of the query stand in order of their names (those of one name as they came, since servers read them
 *   as a list), without empty ones, and NAME= is NAME;
 * - loose: also what servers may tell apart but seldom do: http and https, "www.", letters' case, a slash at the end, session
 *   ids, parameters of campaigns.
 *
 * Parameters that do not change a page are left out where they are known (params.h).
 */
#ifndef PD_LINK_CANONICAL_H
#define PD_LINK_CANONICAL_H

#include "link/params.h"
#include "link/url.h"

enum pd_url_form { PD_FORM_STANDARD, PD_FORM_CANONICAL, PD_FORM_LOOSE };
extern const char *const pd_url_forms[];	/* NULL at the end */

struct pd_canonical {
	enum pd_url_form form;
	bool keep_fragment;
	const struct pd_params *params;		/* to leave out; NULL: none */
	struct pd_query query;			/* scratch */
};

/* Replaces `out`. */
void pd_canonical_make(struct pd_canonical *c, const struct pd_url *u, struct pd_buf *out);
void pd_canonical_release(struct pd_canonical *c);

/* The canonical form in pieces: u1/u2/…/un of patent 003, of a URL with a host.  site: host and port; path: from its first slash
 * to the end, without fragment.  False: it has no host. */
bool pd_canonical_split(struct pd_span canonical, struct pd_span *site, struct pd_span *path);

#endif
