/* SPDX-License-Identifier: MIT
 *
 * A guess at a charset from the bytes alone.
 */
#ifndef PD_TEXT_DETECT_H
#define PD_TEXT_DETECT_H

#include "text/charset.h"

struct pd_text_detector;

/* The program, once: when the detector gets no memory, base/alloc.h says what happens.  It changes what C++ does for all
 * of the process, which is no library's business. */
void pd_detect_own_memory(void);

struct pd_text_detector *pd_text_detector_new(void);
void pd_text_detector_free(struct pd_text_detector *d);
/* NULL: no idea, or a charset that no browser knows. */
const struct pd_charset *pd_text_detect(struct pd_text_detector *d, struct pd_span body);
/* Those that look like ASCII or UTF-8 and give themselves away: UTF-16 without a mark, ISO-2022-JP; else NULL. */
const struct pd_charset *pd_text_detect_plain(struct pd_span body);

#endif
