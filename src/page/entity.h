/* SPDX-License-Identifier: MIT
 *
 * Character references (&amp; &#8364; &#x20AC;) -> code points, as browsers read them: old names without their
 * semicolon, and the numbers 128 to 159 as windows-1252.
 */
#ifndef PD_PAGE_ENTITY_H
#define PD_PAGE_ENTITY_H

#include "base/span.h"

/* `s` begins with '&'.  How many bytes of it are a reference (0: it is none), and in *cp the code point that it stands
 * for.  `in_value`: inside an attribute value, where `&copy=1` is no reference. */
size_t pd_reference(struct pd_span s, bool in_value, uint32_t *cp);

#endif
