/* SPDX-License-Identifier: MIT
 *
 * What a walk over pages says of itself: progress, the "# total" line, the closing line, --stats.
 */
#ifndef PD_WALK_COUNTS_H
#define PD_WALK_COUNTS_H

#include "base/terminal.h"
#include "pipeline.h"

struct pd_walk_counts {
	uint64_t skipped[PD_SKIP_COUNT];	/* [PD_SKIP_NONE]: pages */
	uint64_t without_fingerprint;
	uint64_t stubs[PD_STUBS];		/* of them, where they are not matched: redirects, error pages … */
	uint64_t barren;			/* inputs of which not one page could be read */
	struct pd_reader_stats input;
	double seconds[PD_PHASES], elapsed;
};

struct pd_walk_progress {
	double started;
	uint64_t pages;
};

void pd_walk_progress_start(struct pd_walk_progress *p);
/* One record more. */
void pd_walk_progress(struct pd_walk_progress *p, const struct pd_reader *r, struct pd_log *log, bool page);
void pd_walk_total(const struct pd_walk_counts *c, struct pd_buf *out);
int pd_walk_stats(const struct pd_walk_counts *c, const char *path, struct pd_err *e);
/* Says the closing line; were damaged records left out, or whole inputs? */
bool pd_walk_close(const struct pd_walk_counts *c, struct pd_log *log);

#endif
