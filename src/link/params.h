/* SPDX-License-Identifier: MIT
 *
 * The parameters of a URL's query, and which of them do not change the page: named by the user, known by everybody
 * (params.def), or learnt from rows of `fp`.
 *
 * Learning looks at URLs of one host that differ in the value of one parameter alone, wherever there are two or more with a
 * text: a group.  A parameter does not change pages where no group had two texts, so many groups had one, and these
 * texts are so many different ones: a site that answers any number with the same "not found" teaches nothing.
 */
#ifndef PD_LINK_PARAMS_H
#define PD_LINK_PARAMS_H

#include "base/buf.h"
#include "base/err.h"
#include "base/map.h"

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

/* The pieces between '&' that are not empty; they borrow from `query`, which has no '?'. */
void pd_query_split(struct pd_query *q, struct pd_span query);
/* By name; those of one name stay in their order. */
void pd_query_sort(struct pd_query *q);
void pd_query_release(struct pd_query *q);

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
/* Rows that pd_params_learn wrote. */
int pd_params_read(struct pd_params *p, const char *path, struct pd_err *e);
/* Does this parameter not matter on that host? */
bool pd_params_has(const struct pd_params *p, struct pd_span host, const struct pd_query_item *item);
void pd_params_release(struct pd_params *p);

/* --- learning --- */

struct pd_params_lesson;

struct pd_params_lesson *pd_params_lesson_new(void);
void pd_params_lesson_free(struct pd_params_lesson *l);
/* A page: its host, its URL in canonical form, and a digest of its text. */
void pd_params_lesson_add(struct pd_params_lesson *l, struct pd_span host, struct pd_span url, struct pd_span digest);

struct pd_params_counts {
	uint64_t parameters, learnt;	/* of all hosts together */
};

/* A row for each parameter with a group, by host and name: host, name, groups of one text, groups of several, different
 * texts, and whether it was learnt, for which `least` groups and texts are needed. */
struct pd_params_counts pd_params_lesson_write(struct pd_params_lesson *l, unsigned least, struct pd_buf *out);

#endif
