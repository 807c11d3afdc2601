/* SPDX-License-Identifier: MIT
 *
 * The `languages` column: ISO 639-3 codes as in the Common Crawl index.  What the page declares (<html lang>,
 * content-language) when it is a language that the table knows; else what the script of its text leaves no doubt about;
 * else nothing.  No statistics: a wrong guess is worse than none.
 */
#ifndef PD_TERM_LANGUAGE_H
#define PD_TERM_LANGUAGE_H

#include "base/buf.h"

void pd_language(struct pd_span declared, struct pd_span utf8, struct pd_buf *out);

#endif
