/* SPDX-License-Identifier: MIT
 *
 * The main text of a page -> a signature, by one of the methods of the table.
 */
#ifndef PD_SIGN_SIGN_H
#define PD_SIGN_SIGN_H

#include "sign/method.h"

extern const struct pd_method *const pd_sign_methods[];	/* NULL ends it */

struct pd_signer;	/* a method's state for one thread */

/* PD_ERR_USAGE: no such method, or options that it cannot take. */
int pd_signer_new(struct pd_signer **out, const struct pd_sign_options *o, struct pd_err *e);
void pd_signer_free(struct pd_signer *s);
int pd_sign(struct pd_signer *s, const struct pd_topic *in, struct pd_signature *out);
/* What the signature is made of: of a simhash its shingles, one a line: weight, feature, hash, text. */
int pd_sign_explain(struct pd_signer *s, const struct pd_topic *in, struct pd_buf *out);

#endif
