/* SPDX-License-Identifier: MIT
 *
 * In: a source whose input was opened.  Out: what it is.  Its member is open, and nothing of it was taken.
 */
#ifndef PD_READ_RECOGNISE_H
#define PD_READ_RECOGNISE_H

#include "read/source.h"

/* From the start of the input: sets the kind and opens what reads it. */
void pd_source_recognise(struct pd_source *s);
/* From `offset`, where a record must begin.  False: none does. */
bool pd_source_recognise_at(struct pd_source *s, uint64_t offset);

#endif
