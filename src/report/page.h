/* SPDX-License-Identifier: MIT
 *
 * The numbers of a report and some texts -> one HTML page: nothing from outside, no script, readable on a phone, in the
 * dark and with a screen reader (each chart is a table whose rows have bars).  Everything foreign goes through markup.h,
 * and no address of a page becomes a link.
 */
#ifndef PD_REPORT_PAGE_H
#define PD_REPORT_PAGE_H

#include "report/reach.h"
#include "report/sweep.h"

struct pd_report_facts {
	const struct pd_report_sums *sums;
	const struct pd_report_reach *reach;	/* NULL: no pairs were given */
	const struct pd_report_sweep *sweep;	/* NULL: none was given */
	uint64_t bytes_in, bytes_out;		/* of the dumps; 0: not known, bytes are then those of main texts */
};

struct pd_report_text {
	struct pd_span title, text;
};

/* From the head to the end of the numbers. */
void pd_report_page_begin(const struct pd_report_facts *f, struct pd_buf *out);
/* A pair of the sample; `failed`: why a text could not be read, or NULL. */
void pd_report_page_pair(const struct pd_report_sampled *d, const struct pd_report_text *removed, const struct pd_report_text *kept,
			 const char *failed, size_t number, struct pd_buf *out);
/* Where the pairs would be: why there are none. */
void pd_report_page_no_pairs(const char *why, struct pd_buf *out);
void pd_report_page_end(struct pd_buf *out);

#endif
