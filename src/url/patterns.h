/* SPDX-License-Identifier: MIT
 *
 * Named patterns -> values of a URL, as features of url/seen.h in addition to those of patent 003, which allows
 * further ones.  A file has a pattern per line: a name, white space, and an extended regular expression of POSIX, which
 * is matched with the canonical form of the URL.  The value is the first group of the first match; without a group the
 * whole match; without a match the empty text.
 */
#ifndef PD_URL_PATTERNS_H
#define PD_URL_PATTERNS_H

#include <regex.h>

#include "base/buf.h"
#include "base/err.h"

enum { PD_PATTERNS_MAX = 12 };

struct pd_patterns {
	regex_t v[PD_PATTERNS_MAX];
	int n;
	struct pd_buf names; /* "id,kind" */
	uint64_t hash;	     /* of names and expressions, in their order */
	struct pd_buf text;  /* of the last URL */
};

/* Returns a message with the line if a pattern is invalid.  The caller always releases it. */
int pd_patterns_open(struct pd_patterns *p, const char *path, struct pd_err *e);
void pd_patterns_release(struct pd_patterns *p);
/* The value of pattern `i`; valid until the call for another URL. */
struct pd_span pd_patterns_value(struct pd_patterns *p, int i);
/* The URL of the following values. */
void pd_patterns_take(struct pd_patterns *p, struct pd_span canonical);

#endif
