/* SPDX-License-Identifier: MIT
 *
 * Plans -> text.
 */
#include "join/estimate.h"
#include "join/plan.h"

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

static bool same_plan(const struct pd_plan *a, const struct pd_plan *b)
{
	if (a->kind != b->kind || a->kind != PD_PLAN_BLOCKS)
		return a->kind == b->kind;
	return a->n_blocks == b->n_blocks && !memcmp(a->n_bits, b->n_bits, (size_t)a->n_blocks * sizeof *a->n_bits);
}

static void explain_line(const struct pd_plan *p, bool chosen, struct pd_buf *out)
{
	pd_buf_add_z(out, chosen ? "* " : "  ");
	pd_plan_print(p, out);
	pd_buf_add_c(out, '\n');
}

void pd_plan_explain(const struct pd_plan *chosen, struct pd_buf *out)
{
	struct pd_plan list[PD_PLANS_MAX];
	int n = pd_plan_list(list, chosen->bits, chosen->k, chosen->n_a, chosen->n_b);
	bool listed = false;
	pd_buf_printf(out, "%zu different keys of %d bits", chosen->n_a, chosen->bits);
	if (chosen->n_b)
		pd_buf_printf(out, " against %zu", chosen->n_b);
	pd_buf_printf(out, ", k %d, compared by %s; plans, * the one taken:\n", chosen->k, chosen->scan->name);
	for (int i = 0; i < n; i++)
		listed |= same_plan(&list[i], chosen);
	if (!listed)
		explain_line(chosen, true, out);
	for (int i = 0; i < n; i++)
		explain_line(&list[i], same_plan(&list[i], chosen), out);
	const struct pd_plan_took *t = &chosen->took;
	pd_buf_printf(out, "it took %.2f CPU seconds: tables %.2f, meetings %.2f, pairs %.2f", t->tables + t->meetings + t->pairs,
		      t->tables, t->meetings, t->pairs);
}
