/* SPDX-License-Identifier: MIT */
#include "sign/sign.h"

#include <stdlib.h>

#include "sign/methods.h"
#include "sign/simhash.h"

int pd_signer_new(struct pd_signer **out, const struct pd_sign_options *o, struct pd_err *e)
{
	const struct pd_method *m = pd_method_by_name(o->method);
	if (!m)
		return pd_fail(e, PD_ERR_USAGE, "unknown method '%s'", o->method);
	int status = m->check(o, e);
	if (status)
		return status;
	struct pd_signer *s = pd_zalloc(sizeof *s);
	s->method = m;
	s->o = *o;
	pd_shingler_init(&s->shingler, o);
	if (o->hash == PD_HASH_RABIN)
		s->rabin = pd_rabin_new(o->bits);
	*out = s;
	return PD_OK;
}

void pd_signer_free(struct pd_signer *s)
{
	if (!s)
		return;
	pd_shingler_release(&s->shingler);
	pd_rabin_free(s->rabin);
	free(s);
}

int pd_sign(struct pd_signer *s, const struct pd_topic *in, struct pd_signature *out)
{
	return s->method->sign(s, in, out);
}

int pd_sign_explain(struct pd_signer *s, const struct pd_topic *in, struct pd_buf *out)
{
	return s->method->explain(s, in, out);
}
