/* SPDX-License-Identifier: MIT
 *
 * Keys and a plan in, sorted pairs out.  Threads find pairs in an order of their own; sorting at the end makes the
 * result the same for any number of them.
 */
#include "match/join.h"

#include <assert.h>
#include <stdlib.h>

#include "base/threads.h"
#include "match/all.h"
#include "match/blocks.h"
#include "match/memory.h"
#include "match/paper.h"

static int check(const struct pd_keys *keys, const struct pd_plan *plan, struct pd_err *e)
{
	if (plan->bits != keys->bits)
		return pd_fail(e, PD_ERR_USAGE, "a plan for %d bits cannot match keys of %d", plan->bits, keys->bits);
	if (keys->n >= UINT32_MAX || keys->n_against >= UINT32_MAX)
		return pd_fail(e, PD_ERR_LIMIT, "%zu keys: at most 4,294,967,294 can be matched at once", keys->n);
	return PD_OK;
}

static void run_plan(const struct pd_keys *keys, struct pd_plan *plan, int threads, struct pd_items *lists)
{
	if (plan->kind == PD_PLAN_PAPER)
		pd_paper_join(keys, plan, threads, lists);
	else if (plan->kind == PD_PLAN_BLOCKS)
		pd_blocks_join(keys, plan, threads, PD_SPLIT_DEFAULT, lists);
	else
		pd_all_join(keys, plan, threads, lists);
}

void pd_pairs_take(struct pd_pairs *out, struct pd_items *items)
{
	pd_pairs_release(out);
	if (items->n)
		out->v = pd_big_alloc(items->n * sizeof *out->v);
	out->n = items->n;
	for (size_t i = 0; i < items->n; i++) {
		const struct pd_item *it = &items->v[i];
		assert(it->value > 0 && (i == 0 || it->key != it[-1].key));	/* keys are distinct, pairs come once */
		out->v[i] = (struct pd_pair){ (uint32_t)(it->key >> 32), (uint32_t)it->key, (uint16_t)it->value };
	}
	pd_items_release(items);
}

int pd_join(const struct pd_keys *keys, struct pd_plan *plan, int threads, struct pd_pairs *out, struct pd_err *e)
{
	int status = check(keys, plan, e);
	if (status)
		return status;
	threads = threads > 1 ? threads : 1;
	struct pd_items *lists = pd_zalloc((size_t)threads * sizeof *lists);
	run_plan(keys, plan, threads, lists);
	double t = pd_cpu_seconds();
	struct pd_items all = pd_items_gather(lists, threads, threads);
	pd_pairs_take(out, &all);
	plan->took.pairs += pd_cpu_seconds() - t;
	free(lists);
	return PD_OK;
}

void pd_pairs_release(struct pd_pairs *p)
{
	free(p->v);
	*p = (struct pd_pairs){ 0 };
}
