/* SPDX-License-Identifier: MIT */
#include "sign/sign.h"

#include <stdlib.h>

#include "sign/simhash.h"

const struct pd_method *const pd_sign_methods[] = { &pd_simhash_method, NULL };

struct pd_signer {
	const struct pd_method *method;
	void *state;
};

int pd_signer_new(struct pd_signer **out, const struct pd_sign_options *o, struct pd_err *e)
{
	const struct pd_method *const *m = pd_sign_methods;
	void *state;
	while (*m && strcmp((*m)->name, o->method))
		m++;
	if (!*m)
		return pd_fail(e, PD_ERR_USAGE, "unknown method '%s'", o->method);
	int status = (*m)->open(&state, o, e);
	if (status)
		return status;
	*out = pd_zalloc(sizeof **out);
	**out = (struct pd_signer){ *m, state };
	return PD_OK;
}

void pd_signer_free(struct pd_signer *s)
{
	if (!s)
		return;
	s->method->close(s->state);
	free(s);
}

int pd_sign(struct pd_signer *s, const struct pd_topic *in, struct pd_signature *out)
{
	return s->method->sign(s->state, in, out);
}

int pd_sign_explain(struct pd_signer *s, const struct pd_topic *in, struct pd_buf *out)
{
	return s->method->explain(s->state, in, out);
}
