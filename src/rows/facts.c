/* SPDX-License-Identifier: MIT */
#include "rows/facts.h"

#include <stdlib.h>

#include "base/hash.h"

static bool is_said(struct pd_span s)
{
	return s.n && !pd_span_is(s, "-");
}

static double read_confidence(struct pd_span s)
{
	char text[16], *end;
	if (!is_said(s) || s.n >= sizeof text)
		return 1;
	memcpy(text, s.p, s.n);
	text[s.n] = 0;
	double v = strtod(text, &end);
	return *end || !(v >= 0 && v <= 1) ? 1 : v;
}

struct pd_facts pd_facts_read(struct pd_span url, struct pd_span terms, struct pd_span confidence, struct pd_span languages,
			      struct pd_span subject)
{
	struct pd_facts f = PD_FACTS_UNKNOWN;
	uint64_t n;
	if (pd_span_u64(terms, &n) && n <= INT64_MAX)
		f.terms = (int64_t)n;
	f.confidence = read_confidence(confidence);
	f.language = is_said(languages) ? pd_hash64(languages.p, languages.n) | 1 : 0;
	f.subject = pd_subject_parse(subject);
	pd_subject_set_url(&f.subject, url);
	return f;
}
