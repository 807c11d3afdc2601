/* SPDX-License-Identifier: MIT
 *
 * Rows of `eval --sweep --format=tsv` -> a curve of F1 over k for each setting, drawn in the page, and a table with the same
 * numbers beside it.
 */
#ifndef PD_REPORT_SWEEP_H
#define PD_REPORT_SWEEP_H

#include "base/buf.h"
#include "base/hash.h"
#include "report/sums.h"

enum { PD_REPORT_SETTINGS = 64 };

struct pd_report_setting {
	uint64_t bits, shingle;
	char weights[16];
	int n_k;			/* k from 0 up to n_k - 1 */
	double precision[PD_BITS_MAX + 1], recall[PD_BITS_MAX + 1], f1[PD_BITS_MAX + 1];
	int best;			/* the smallest k of the largest F1 */
};

struct pd_report_sweep {
	struct pd_report_setting *v[PD_REPORT_SETTINGS];	/* the best first */
	int n;
	uint64_t bad;
};

int pd_report_sweep_read(struct pd_report_sweep *s, const struct pd_report_reading *o, struct pd_err *e);
void pd_report_sweep_release(struct pd_report_sweep *s);
/* `k`: the threshold of the verdicts, -1: not known. */
void pd_report_sweep_page(const struct pd_report_sweep *s, int k, struct pd_buf *out);

#endif
