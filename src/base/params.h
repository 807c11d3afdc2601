/* SPDX-License-Identifier: MIT
 *
 * The parameters in a header line, "k=v k=v": looking one up, and saying how two lists differ.
 */
#ifndef PD_BASE_PARAMS_H
#define PD_BASE_PARAMS_H

#include "base/buf.h"

/* The value of `key`; {NULL, 0} when it is not there. */
struct pd_span pd_param(struct pd_span params, const char *key);
/* "bits: 64 and 128, hash: xxh3 and rabin"; nothing when they are the same. */
void pd_params_differ(struct pd_span a, struct pd_span b, struct pd_buf *out);
/* The 8 hex digits that rows carry for a must-match group. */
void pd_params_hash(struct pd_span must, char out[9]);

#endif
