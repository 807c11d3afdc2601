/* SPDX-License-Identifier: MIT
 *
 * Parse the bytes as a page and as a sequence of tags: the events are the same if libxml2 does not see the contents
 * of balanced elements.
 */
#include "fuzz.h"
#include "text/text.c" /* for its functions that are not exported */
#include "../unit/html_events.h"

static void check(struct pd_span page)
{
	static const enum pd_saxer_want wants[] = { 0, PD_SAXER_ALL_ATTRIBUTES | PD_SAXER_LINKS };
	static struct events *v[2][2];
	for (int i = 0; i < 2; i++) {
		if (!v[i][0]) {
			v[i][0] = events_new(wants[i]);
			v[i][1] = events_new(wants[i] | PD_SAXER_ENTIRE);
		}
		HOLDS(events_differ(v[i][0], v[i][1], page, false) == SIZE_MAX);
		HOLDS(events_differ(v[i][0], v[i][1], page, true) == SIZE_MAX);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct pd_buf page = { 0 };
	struct pd_text_tally tally = { 0 };
	text_utf8_repair(fuzz_span(data, n), &page, &tally);
	check(pd_buf_span(&page));
	tag_soup(fuzz_span(data, n), &page);
	check(pd_buf_span(&page));
	pd_buf_release(&page);
	return 0;
}
