/* SPDX-License-Identifier: MIT
 *
 * What each stage made of a page, as text: `pagededup show --stage=…`, and the golden files of the tests.
 */
#ifndef PD_INSPECT_SHOW_H
#define PD_INSPECT_SHOW_H

#include "base/terminal.h"
#include "pipeline.h"

enum pd_stage { PD_STAGE_UTF8, PD_STAGE_HTML, PD_STAGE_BLOCKS, PD_STAGE_TERMS, PD_STAGE_TOPIC, PD_STAGE_FEATURES, PD_STAGE_SIGNATURE };
extern const char *const pd_stage_names[];	/* NULL at the end */

/* The pipeline has run over the page with keep_xhtml and explain set. */
void pd_show(struct pd_pipeline *p, enum pd_stage stage, struct pd_buf *out);

/* Which lines of it are what, for pd_print; NULL: the page itself, as it is. */
const struct pd_paint *pd_show_paint(enum pd_stage stage);

#endif
