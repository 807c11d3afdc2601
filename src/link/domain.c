/* SPDX-License-Identifier: MIT */
#include "link/domain.h"

#include <libpsl.h>

#include "link/host.h"

void pd_domain_of(struct pd_span host, struct pd_buf *out)
{
	pd_buf_set(out, host);
	if (!host.n || pd_host_is_address(host))
		return;
	const char *domain = psl_registrable_domain(psl_builtin(), pd_buf_z(out));
	if (!domain)
		return;
	size_t n = strlen(domain);
	memmove(out->p, domain, n + 1);
	out->n = n;
}

bool pd_domain_listed(struct pd_span host, struct pd_buf *scratch)
{
	if (!host.n || pd_host_is_address(host))
		return false;
	const char *dot = memrchr(host.p, '.', host.n);
	if (!dot || dot == host.p)
		return false;
	pd_buf_set(scratch, pd_span(dot + 1, host.n - (size_t)(dot - host.p) - 1));
	return psl_is_public_suffix2(psl_builtin(), pd_buf_z(scratch), PSL_TYPE_ANY | PSL_TYPE_NO_STAR_RULE);
}
