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
 * Parameters that do not change a page are left out where they are known.
 */
#ifndef PD_LINK_CANONICAL_H
#define PD_LINK_CANONICAL_H

#include "base/map.h"
#include "base/terminal.h"
#include "link/url.h"

/* The parameters of a URL's query, and which of them do not change the page: named by the user, known by everybody
 * (params.def), or learnt from rows of `fp`.
 *
 * Learning compares URLs of one host that differ in the value of one parameter alone, or in whether it is there, wherever there
 * are two or more with a text: a group.  A parameter does not change pages where no group had two texts, so many groups had
 * one, these texts are so many different ones, and so are the values: a site that answers any number with the same "not found"
 * teaches nothing, nor does page=1, which is the page without it. */

/* --- a query in pieces --- */

struct pd_query_item {
	struct pd_span name, item;	/* item: NAME=VALUE, or NAME */
	uint32_t at;
};

struct pd_query {
	struct pd_query_item *items;
	size_t n, cap;
	struct pd_buf text, part;	/* scratch of who makes the pieces */
};

/* --- which do not matter --- */

struct pd_params {
	struct pd_map named;		/* hash of host and name; without a host: anywhere */
	struct pd_span *prefixes;	/* NAME* */
	size_t n_prefixes, cap_prefixes;
	bool known;			/* those of params.def too */
	uint64_t hash;			/* of all that was added, in whatever order */
	struct pd_arena arena;
};

/* "sid,utm_*,PHPSESSID": case does not matter.  PD_ERR_USAGE. */
int pd_params_name(struct pd_params *p, struct pd_span list, struct pd_err *e);
void pd_params_know(struct pd_params *p);
/* Rows that pd_params_lesson_write wrote. */
int pd_params_read(struct pd_params *p, const char *path, struct pd_err *e);
/* All three: a list, those of params.def, a file of rows; NULL: none. */
int pd_params_open(struct pd_params *p, const char *named, bool known_too, const char *learnt, struct pd_err *e);
void pd_params_release(struct pd_params *p);

/* --- learning --- */

struct pd_params_lesson;

struct pd_params_lesson *pd_params_lesson_new(void);
void pd_params_lesson_free(struct pd_params_lesson *l);
/* A page: its host, its URL in canonical form, and a digest of its text. */
void pd_params_lesson_add(struct pd_params_lesson *l, struct pd_span host, struct pd_span url, struct pd_span digest);

struct pd_params_counts {
	uint64_t pages, bad;		/* rows, and those that could not be read */
	uint64_t parameters, learnt;	/* of all hosts together */
};

/* A row for each parameter with a group, by host and name: host, name, groups of one text, groups of several, different
 * texts and values of the former, and whether it was learnt, for which `least` groups, texts and values are needed. */
void pd_params_lesson_write(struct pd_params_lesson *l, unsigned least, struct pd_params_counts *counts, struct pd_buf *out);

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

/* A URL as it came: as pd_url_parse, and "example.org/page", as people write it, but in the standard form. */
bool pd_canonical_parse(struct pd_canonical *c, struct pd_span text, const struct pd_url *base, struct pd_url *out);

/* Rows of fp in, the table of pd_params_lesson_write out.  Rows that cannot be read are named and counted. */
int pd_params_learn(struct pd_canonical *c, char **paths, int n_paths, unsigned least, struct pd_log *log,
		    struct pd_params_counts *counts, struct pd_buf *out, struct pd_err *e);

/* The canonical form in pieces: u1/u2/…/un of patent 003, of a URL with a host.  site: host and port; path: from its first slash
 * to the end, without fragment.  False: it has no host. */
bool pd_canonical_split(struct pd_span canonical, struct pd_span *site, struct pd_span *path);

#endif
