/* SPDX-License-Identifier: MIT
 *
 * The one table of signature methods: name -> kind and function.  match, store, compare and eval look at the kind
 * alone.
 */
#ifndef PD_SIGN_METHODS_H
#define PD_SIGN_METHODS_H

#include "sign/sign.h"

struct pd_method {
	const char *name;
	enum pd_kind kind;
	const char *summary;
	int (*check)(const struct pd_sign_options *o, struct pd_err *e);
	int (*sign)(struct pd_signer *s, const struct pd_topic *in, struct pd_signature *out);
	int (*explain)(struct pd_signer *s, const struct pd_topic *in, struct pd_buf *out);
};

extern const struct pd_method pd_methods[];	/* a row without a name ends it */
const struct pd_method *pd_method_by_name(const char *name);

#endif
