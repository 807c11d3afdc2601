/* SPDX-License-Identifier: MIT
 *
 * Plans -> text.
 */
#include "match/estimate.h"
#include "match/plan.h"

static void print_blocks(const struct pd_plan *p, struct pd_buf *out)
{
	int narrow = p->n_bits[0], wide = p->n_bits[0];
	for (int i = 1; i < p->n_blocks; i++) {
		narrow = p->n_bits[i] < narrow ? p->n_bits[i] : narrow;
		wide = p->n_bits[i] > wide ? p->n_bits[i] : wide;
	}
	pd_buf_printf(out, " %d x %d", p->n_blocks, narrow);
	if (wide > narrow)
		pd_buf_printf(out, "-%d", wide);
	pd_buf_add_z(out, " bits, radii");
	for (int i = 0; i < p->n_blocks; i++)
		if (p->radius[i] < 0)
			pd_buf_add_z(out, " -");
		else
			pd_buf_printf(out, " %d", p->radius[i]);
	pd_buf_add_c(out, ',');
}

void pd_plan_print(const struct pd_plan *p, struct pd_buf *out)
{
	static const char *const names[] = { "auto", "paper", "blocks", "all" };
	pd_buf_printf(out, "%s:", names[p->kind]);
	if (p->n_blocks && p->kind == PD_PLAN_BLOCKS)
		print_blocks(p, out);
	pd_buf_printf(out, " about %.2g CPU seconds", p->cost);
}
