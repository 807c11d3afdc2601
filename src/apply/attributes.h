/* SPDX-License-Identifier: MIT
 *
 * What goes, as tables for those who join: one JSON Lines file for each input that loses a page, a row for each page in
 * the order of the input.
 *
 *	{"id":"crawl.jsonl:1432","user_id":"doc-17","url":"http://…","duplicate_of":"crawl.jsonl:0"}
 *
 * FOLDER/NAME.jsonl is named as the output of the input is; pages that are files of their own go to one file,
 * FOLDER/pages.jsonl.  Memory: the rows of one input.
 */
#ifndef PD_APPLY_ATTRIBUTES_H
#define PD_APPLY_ATTRIBUTES_H

#include "base/json.h"
#include "base/outfile.h"
#include "read/record.h"

struct pd_apply_attributes {
	const char *folder;
	struct pd_outfile pages;	/* of pages that are files */
	bool pages_open;
	struct pd_json *json;
	struct pd_buf rows, path;	/* of the input at hand */
};

void pd_apply_attributes_init(struct pd_apply_attributes *a, const char *folder);
void pd_apply_attributes_release(struct pd_apply_attributes *a);
/* A page of the input at hand goes. */
void pd_apply_attributes_add(struct pd_apply_attributes *a, const struct pd_record *r, struct pd_span dup_of);
/* The input is done; `place`: its name; `page`: it is one page. */
int pd_apply_attributes_next(struct pd_apply_attributes *a, const char *place, bool page, struct pd_err *e);
/* All are done. */
int pd_apply_attributes_end(struct pd_apply_attributes *a, struct pd_err *e);

#endif
