/* SPDX-License-Identifier: MIT
 *
 * What rows say of a page beside its keys, as far as it decides whether it is a duplicate (match/verify.h).  Plain data: copy
 * it as it is.
 */
#ifndef PD_ROWS_FACTS_H
#define PD_ROWS_FACTS_H

#include "sign/subject.h"

struct pd_facts {
	int64_t terms;		/* of the main text; -1: not said */
	double confidence;	/* in the main text; 1 where not said */
	struct pd_subject subject;
	uint64_t language;	/* a hash; 0: not said */
};

#define PD_FACTS_UNKNOWN ((struct pd_facts){ .terms = -1, .confidence = 1 })

/* From the columns as they stand in a row; "-" and nothing: not said. */
struct pd_facts pd_facts_read(struct pd_span url, struct pd_span terms, struct pd_span confidence, struct pd_span languages,
			      struct pd_span subject);

#endif
