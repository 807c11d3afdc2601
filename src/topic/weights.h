/* SPDX-License-Identifier: MIT
 *
 * The numbers that decide in the main extractor, each a member of one structure (weights.def has their values and
 * meanings).  The program uses pd_weights_default alone; bench/extract.c, for tools/fit-extract, tries others.
 */
#ifndef PD_TOPIC_WEIGHTS_H
#define PD_TOPIC_WEIGHTS_H

struct pd_weights {
#define X(name, value, meaning) double name;
#include "topic/weights.def"
#undef X
};

extern const struct pd_weights pd_weights_default;

#endif
