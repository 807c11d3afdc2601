/* SPDX-License-Identifier: MIT
 *
 * The table, compiled.
 */
#include "topic/weights.h"

const struct pd_weights pd_weights_default = {
#define X(name, value, meaning) .name = value,
#include "topic/weights.def"
#undef X
};
