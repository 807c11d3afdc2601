/* SPDX-License-Identifier: MIT
 *
 * Inputs and the pages to remove -> the inputs without them, one output for each input.  All inputs are listed and
 * checked by name before anything is written (conflicts of outputs, and the file of the verdicts for each input).
 * Then they are processed one after the other, and each output gets its name when it is complete.
 *
 *	pd_apply_open(&a, &o, e);
 *	while ((r = pd_apply_next(a, &done, e)) == 1) …
 *
 * An input without removed records is copied or linked.  If pages of dumps are removed, it is also read for its
 * revisit records.  Memory: the paths of all inputs, and the memory of one scan (scan.h).
 */
#ifndef PD_APPLY_APPLY_H
#define PD_APPLY_APPLY_H

#include "apply/options.h"

/* The result of an input. */
struct pd_apply_result {
	const struct pd_read_file *file; /* the input; valid until the handle is freed */
	const char *output;		 /* the output; NULL if the input is a removed page or the run does not write */
	const char *place;		 /* its name in a folder of outputs */
	bool page;			 /* the input is a single page and is removed */
	bool skipped;
	bool linked;			   /* the output is a hard link to the input */
	int error;			   /* errno of a file of a folder or a list that cannot be opened and was skipped */
	uint64_t pages, removed_with_page; /* removed records: pages, and others with them */
	uint64_t revisits;		   /* revisit records that replace pages, or other revisits */
	uint64_t restored, missing;	   /* restored records; revisit records that are kept without their original */
	bool repacked;			   /* restored to the same content, compressed again */
	uint64_t bytes_in, bytes_out;
	uint64_t rewritten, lost; /* members compressed again; bytes of broken ones that could not be kept */
};

struct pd_apply;

/* `o` must outlive the handle. PD_ERR_USAGE: two inputs would become one file, or a similar conflict. */
int pd_apply_open(struct pd_apply **out, const struct pd_apply_options *o, struct pd_err *e);
/* The next input: 1; 0 no more; negative. */
int pd_apply_next(struct pd_apply *a, struct pd_apply_result *out, struct pd_err *e);
void pd_apply_free(struct pd_apply *a);

#endif
