/* SPDX-License-Identifier: MIT
 *
 * In: a JSON object as text.  Out: the values of the members that are asked for.
 */
#ifndef PD_BASE_JSON_READ_H
#define PD_BASE_JSON_READ_H

#include "base/buf.h"

struct pd_json_member {
	const char *name;	/* asked for */
	bool present;		/* a string, a number or a boolean; null, arrays and objects are as good as absent */
	struct pd_buf value;	/* a string without its escapes, anything else as text */
};

/* Fills present and value of `n` members.  False: no JSON object (RFC 8259), or not in UTF-8. */
bool pd_json_members(struct pd_span text, struct pd_json_member *members, int n);

/* Of an object: the names of its members, with ", " between them, and the name of the longest string that is no URL, if
 * there is one; is that string markup?  False: no JSON object. */
bool pd_json_survey(struct pd_span text, struct pd_buf *names, struct pd_buf *longest, bool *markup);

#endif
