/* SPDX-License-Identifier: MIT
 *
 * In: lines that are JSON objects, plain or compressed.  Out: a record a line, and the place where the line begins.  A
 * line that cannot be read is damage; reading goes on at the next one.
 */
#ifndef PD_READ_JSONL_H
#define PD_READ_JSONL_H

#include "base/json.h"
#include "read/dump.h"

/* What the members are called; NULL: "url", "text", "html", "id". */
struct pd_read_jsonl_fields {
	const char *url, *text, *html, *id;
};

enum { PD_JSONL_URL, PD_JSONL_TEXT, PD_JSONL_HTML, PD_JSONL_ID, PD_JSONL_FIELDS };

struct pd_read_jsonl {
	struct pd_read_member *m;
	size_t max_block, max_line;
	struct pd_json_member fields[PD_JSONL_FIELDS];
	struct pd_buf line;		/* a line that does not lie in the window as a whole */
	bool over;			/* it is longer than max_line */
	struct pd_read_place place;		/* of the record given, or of the damage */
	const char *reason;
	uint64_t useful, lines;		/* records with text or HTML; all of them */
	struct pd_buf names;		/* of the first without: what its members are called, and which may be meant */
};

void pd_read_jsonl_init(struct pd_read_jsonl *j, const struct pd_read_jsonl_fields *fields, size_t max_block);
void pd_read_jsonl_release(struct pd_read_jsonl *j);
void pd_read_jsonl_open(struct pd_read_jsonl *j, struct pd_read_member *m);
/* As pd_read_dump_next. */
int pd_read_jsonl_next(struct pd_read_jsonl *j, struct pd_record *out);
/* Read to its end: NULL, or why no line of it was a page, and what to do. */
const char *pd_read_jsonl_useless(const struct pd_read_jsonl *j);
/* Is what begins like this JSONL: is one of its first lines an object with one of the fields, or are two of them objects of
 * any kind?  `more`: it goes on. */
bool pd_read_jsonl_looks(struct pd_read_jsonl *j, struct pd_span head, bool more);

#endif
