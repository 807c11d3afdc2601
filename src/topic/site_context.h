/* SPDX-License-Identifier: MIT
 *
 * Under which text does a line stand?  A simhash of 64 bits of the words of a text, two by two: the same text, edited a
 * little, differs in a few bits, another one in about half of them.  Words are cut at anything that is no letter or
 * digit, ideographs and kana stand alone; no dictionary is needed, because these signatures are only compared with others
 * of the same host.
 */
#ifndef PD_TOPIC_SITE_CONTEXT_H
#define PD_TOPIC_SITE_CONTEXT_H

#include "base/hash.h"

struct pd_site_context {
	struct pd_simhash sum;
	uint64_t last;		/* hash of the word before; 0: none */
};

void pd_site_context_clear(struct pd_site_context *c);
/* A word ends with the piece that it stands in. */
void pd_site_context_add(struct pd_site_context *c, struct pd_span utf8);
uint64_t pd_site_context_end(struct pd_site_context *c);

#endif
