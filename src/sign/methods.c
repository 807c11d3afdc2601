/* SPDX-License-Identifier: MIT */
#include "sign/methods.h"

#include "sign/simhash.h"

const struct pd_method pd_methods[] = {
	{ "simhash", PD_KIND_BITS, "M6: simhash of term shingles", pd_simhash_check, pd_simhash_sign, pd_simhash_explain },
	{ 0 },
};

const struct pd_method *pd_method_by_name(const char *name)
{
	for (const struct pd_method *m = pd_methods; m->name; m++)
		if (!strcmp(m->name, name))
			return m;
	return NULL;
}
