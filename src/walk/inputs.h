/* SPDX-License-Identifier: MIT
 *
 * What became of each input, told in the order of the inputs: the list of what was left out (--left-out), and the inputs of
 * which not one page could be read, with the reason.
 *
 * Records are read one after the other, looked at by many threads, and written in the order in which they were read.  What
 * happens to inputs on the way (one begins, damage) happens while they are read; so it travels with the next record, as events
 * before what a worker made of it, and is taken apart where results are written.
 */
#ifndef PD_WALK_INPUTS_H
#define PD_WALK_INPUTS_H

#include "base/outfile.h"
#include "base/terminal.h"
#include "read/page.h"

enum pd_walk_event { PD_WALK_INPUT, PD_WALK_DAMAGE, PD_WALK_ALIAS, PD_WALK_LEFT_OUT, PD_WALK_PAGE };

struct pd_walk_inputs {
	struct pd_outfile list;		/* --left-out */
	bool lists;
	/* the input that results come from now */
	struct pd_buf label, why;
	bool open;
	uint64_t pages, told, skipped[PD_SKIP_COUNT];
	uint64_t barren;		/* inputs without a page, so far */
};

/* `left_out`: a file to write, or NULL. */
int pd_walk_inputs_open(struct pd_walk_inputs *in, const char *left_out, struct pd_err *e);
/* Append an event.  An input begins: `label` is what it is called; empty: what comes is a part of a larger one, of which
 * nothing is asked. */
void pd_walk_event_input(struct pd_buf *out, struct pd_span label);
/* Something is left out: its id, URL, type, and the reason, with more words if there are some; `skip` of PD_WALK_LEFT_OUT. */
void pd_walk_event_left_out(struct pd_buf *out, enum pd_walk_event what, enum pd_skip skip, struct pd_span id, struct pd_span url,
			    struct pd_span type, struct pd_span reason);
/* The end of a page's events: what follows was made of it. */
void pd_walk_event_page(struct pd_buf *out);
/* Takes the events off *result; true: what is left was made of a page. */
bool pd_walk_inputs_take(struct pd_walk_inputs *in, struct pd_span *result, struct pd_log *log);
/* After the last result: the events that no record came after, then the last input is closed and the list written. */
int pd_walk_inputs_end(struct pd_walk_inputs *in, struct pd_span events, struct pd_log *log, struct pd_err *e);
void pd_walk_inputs_release(struct pd_walk_inputs *in);

#endif
