/* SPDX-License-Identifier: MIT
 *
 * Why two pages match, or do not: distance, shared shingles and lines of main text.
 */
#ifndef PD_INSPECT_COMPARE_H
#define PD_INSPECT_COMPARE_H

#include "base/terminal.h"
#include "pipeline.h"

/* Both pipelines have run over their page, with the same options `o`. */
void pd_compare(struct pd_pipeline *a, struct pd_pipeline *b, const struct pd_sign_options *o, struct pd_buf *out);

/* Which lines of it are what, for pd_print. */
extern const struct pd_paint pd_compare_paint[];

#endif
