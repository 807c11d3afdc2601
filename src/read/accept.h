/* SPDX-License-Identifier: MIT
 *
 * In: lists as typed.  Out: which HTTP statuses and which media types make a page.
 */
#ifndef PD_READ_ACCEPT_H
#define PD_READ_ACCEPT_H

#include "read/page.h"

struct pd_accept {
	uint64_t status[1000 / 64 + 1];		/* a bit for each */
	struct pd_buf types;			/* lower case, each between commas */
};

/* PD_ERR_USAGE: a list that cannot be read. */
int pd_accept_init(struct pd_accept *a, const struct pd_page_options *o, struct pd_err *e);
void pd_accept_release(struct pd_accept *a);
bool pd_accept_status(const struct pd_accept *a, int status);
bool pd_accept_type(const struct pd_accept *a, struct pd_span media);

#endif
