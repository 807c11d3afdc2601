/* SPDX-License-Identifier: MIT */
#include "base/columns.h"

#include <string.h>

int pd_columns_at_first(const char *kind, int all)
{
	return !strcmp(kind, "fp") ? PD_FP_SUBJECT : all;
}

const char *const pd_fp_columns[PD_FP_COLUMNS + 1] = {
	"fingerprint", "id",	     "url",	   "fetch_time", "content_digest", "text_digest", "content_charset", "languages",
	"terms",       "text_bytes", "confidence", "flags",	 "quality",	   "sketch",	  "user_id",	     "params",
	"subject",
};

const char *const pd_pairs_columns[PD_PAIRS_COLUMNS + 1] = {
	"id_a",	 "id_b",	 "distance",	 "similarity", "method",       "url_a",	       "url_b",
	"fetch_time_a", "text_bytes_a", "quality_a", "fetch_time_b", "text_bytes_b", "quality_b",
};

const char *const pd_verdicts_columns[PD_VERDICTS_COLUMNS + 1] = {
	"cluster_id", "id",	    "url",	  "is_duplicate", "dup_of", "via",
	"distance",   "similarity", "text_bytes", "weight",	  "reason",
};

const char *const pd_answers_columns[PD_ANSWERS_COLUMNS + 1] = {
	"cluster_id", "id",	    "url",	  "is_duplicate", "dup_of", "via",
	"distance",   "similarity", "text_bytes", "weight",	  "reason", "status", "matches",
};
