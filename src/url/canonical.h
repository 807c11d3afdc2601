/* SPDX-License-Identifier: MIT
 *
 * A parsed URL (url.h) -> its form for comparisons: equal texts mean equal URLs.  There are three forms:
 *
 * - standard: the URL as browsers write it;
 * - canonical: merges URLs that no server should distinguish.  In addition to the standard: no user, no fragment
 *   (unless it is kept), no dot at the end of the host; unreserved characters are not escaped, escapes are in upper
 *   case, a stray '%' is escaped; adjacent slashes are merged; the query's parameters are sorted by name (parameters
 *   with one name keep their order, since servers read them as a list), empty ones are removed, and NAME= becomes NAME;
 * - loose: also merges URLs that servers may distinguish but rarely do: http and https, "www.", case, a slash at the
 *   end, session ids, parameters of campaigns.
 *
 * Parameters that are known not to change a page are removed.
 */
#ifndef PD_LINK_CANONICAL_H
#define PD_LINK_CANONICAL_H

#include "base/map.h"
#include "base/terminal.h"
#include "url/url.h"

/* The parameters of a URL's query, and the ones that do not change the page: named by the user, generally known
 * (params.def), or learned from rows of `fp`.
 *
 * Learning compares URLs of one host that differ only in the value or the presence of one parameter: they form a group,
 * if at least two have a text.  A parameter does not change pages if no group has two texts, and at least `least`
 * groups have one text, with at least this many different texts and different values.  So two cases are not evidence:
 * a site that answers every number with the same "not found" page, and a page=1 that is equal to the page without it. */

/* --- splitting a query --- */

struct pd_query_item {
	struct pd_span name, item; /* item: NAME=VALUE, or NAME */
	uint32_t at;
};

struct pd_query {
	struct pd_query_item *items;
	size_t n, cap;
	struct pd_buf text, part; /* scratch */
};

/* --- parameters that do not change a page --- */

struct pd_params {
	struct pd_map named;	  /* hash of host and name; without a host: on all hosts */
	struct pd_span *prefixes; /* NAME* */
	size_t n_prefixes, cap_prefixes;
	bool known;    /* use params.def too */
	uint64_t hash; /* of all that was added, independent of order */
	struct pd_arena arena;
};

/* Add all three: a list, params.def, a file of rows; NULL: none. */
int pd_params_open(struct pd_params *p, const char *named, bool known_too, const char *learnt, struct pd_err *e);
void pd_params_release(struct pd_params *p);

/* --- learning --- */

struct pd_params_counts {
	uint64_t pages, bad;	     /* rows; rows that could not be parsed */
	uint64_t parameters, learnt; /* on all hosts together */
};

enum pd_url_form { PD_FORM_STANDARD, PD_FORM_CANONICAL, PD_FORM_LOOSE };
extern const char *const pd_url_forms[]; /* terminated by NULL */

struct pd_canonical {
	enum pd_url_form form;
	bool keep_fragment;
	const struct pd_params *params; /* to remove; NULL: none */
	struct pd_query query;		/* scratch */
};

/* Write the form to `out`; its content is replaced. */
void pd_canonical_make(struct pd_canonical *c, const struct pd_url *u, struct pd_buf *out);
void pd_canonical_release(struct pd_canonical *c);

/* Parse a URL as given: like pd_url_parse, but, except in the standard form, also "example.org/page", as people write
 * it. */
bool pd_canonical_parse(struct pd_canonical *c, struct pd_span text, const struct pd_url *base, struct pd_url *out);

/* Rows of fp -> the table of params_lesson_write.  Rows that cannot be parsed are reported and counted. */
int pd_params_learn(struct pd_canonical *c, char **paths, int n_paths, unsigned least, struct pd_log *log,
		    struct pd_params_counts *counts, struct pd_buf *out, struct pd_err *e);

/* Split the canonical form of a URL with a host as in u1/u2/…/un of patent 003.  site: host and port; path: from its
 * first slash to the end, without fragment.  Return false if it has no host. */
bool pd_canonical_split(struct pd_span canonical, struct pd_span *site, struct pd_span *path);

#endif
