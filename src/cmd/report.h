/* SPDX-License-Identifier: MIT
 *
 * What `report` and `dedup` share: verdicts, perhaps pairs and the dumps -> a page that shows what goes.
 */
#ifndef PD_CMD_REPORT_H
#define PD_CMD_REPORT_H

#include "cmd/walk.h"

struct pd_report_command {
	struct pd_walk_options walk;	/* first: the options of pages are parsed into it */
	const char *verdicts, *pairs, *sweep;
	int sample, seed;
	char **inputs;
	int n_inputs;
	bool with_texts;		/* fetch them: ids name files as they are, or by base names as `inputs` has them */
	uint64_t bytes_in, bytes_out;	/* of the dumps; 0: they are measured */
};

enum { PD_REPORT_SAMPLE = 12 };

int pd_report_run(const struct pd_report_command *o, struct pd_log *log);

#endif
