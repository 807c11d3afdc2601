/* SPDX-License-Identifier: MIT
 *
 * ARC, the Internet Archive's format before WARC, versions 1 and 2; pd_format_arc is its format.
 */
#ifndef PD_READ_ARC_H
#define PD_READ_ARC_H

#include "read/dump.h"

/* Does it begin like an ARC file, perhaps a damaged one? */
bool pd_arc_looks(struct pd_span head);

#endif
