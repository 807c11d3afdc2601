/* SPDX-License-Identifier: MIT
 *
 * Keys and a plan in, sorted pairs out.  Threads find pairs in an order of their own; sorting at the end makes the
 * result the same for any number of them.
 */
#include "join/join.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/threads.h"
#include "join/choose.h"

static int check_keys(const struct pd_join_keys *keys, const struct pd_join_plan *plan, struct pd_err *e)
{
	if (plan->bits != keys->bits)
		return pd_fail(e, PD_ERR_USAGE, "a plan for %d bits cannot match keys of %d", plan->bits, keys->bits);
	if (keys->n >= UINT32_MAX || keys->n_against >= UINT32_MAX)
		return pd_fail(e, PD_ERR_LIMIT, "%zu keys: at most 4,294,967,294 can be matched at once", keys->n);
	return PD_OK;
}

static void run_engine(const struct pd_join_keys *keys, struct pd_join_plan *plan, int threads, struct pd_items *lists)
{
	if (plan->kind == PD_PLAN_PAPER)
		pd_join_paper(keys, plan, threads, lists);
	else if (plan->kind == PD_PLAN_BLOCKS)
		pd_join_blocks(keys, plan, threads, PD_SPLIT_DEFAULT, lists);
	else
		pd_join_brute_force(keys, plan, threads, lists);
}

/* Pairs are shorter than items, and written where the items stood. */
void pd_join_pairs_take(struct pd_join_pairs *out, struct pd_items *items)
{
	char *to = (char *)items->v;
	pd_join_pairs_release(out);
	for (size_t i = 0; i < items->n; i++) {
		struct pd_item it = items->v[i];
		struct pd_join_pair p = { (uint32_t)(it.key >> 32), (uint32_t)it.key, (uint16_t)it.value };
		assert(p.distance > 0 && p.a != p.b);	/* keys are distinct */
		memcpy(to + i * sizeof p, &p, sizeof p);
	}
	*out = (struct pd_join_pairs){ (struct pd_join_pair *)to, items->n, items->mapped };
	if (!items->mapped && items->n)
		out->v = pd_realloc(out->v, items->n * sizeof *out->v);
	*items = (struct pd_items){ 0 };
}

/* Bytes of the tables of a plan for one key, while they are built. */
static size_t table_bytes(const struct pd_join_plan *plan)
{
	size_t words = (size_t)plan->bits / 64, half = 18, whole = 4 + 8 * words, most = half;
	for (int i = 0; i < plan->n_blocks; i++)
		if (plan->radius[i] >= 0 && !plan->halves[i] && whole > most)
			most = whole;
	if (plan->kind == PD_PLAN_PAPER)
		return 2 * sizeof(struct pd_item) + 8 * words;	/* the order, sorted with a copy, and the keys in it */
	return plan->kind == PD_PLAN_BLOCKS ? most : whole;
}

/* Stretches of one of the two lists of keys. */
struct stretches {
	const struct pd_join_keys *keys;
	const uint32_t *ids;		/* NULL: the keys are called by their places */
	size_t n, parts;
	uint32_t *made;			/* the names of a stretch, where there are none */
};

static struct stretches divide(const struct pd_join_keys *keys, const uint32_t *ids, size_t n, size_t most)
{
	struct stretches s = { .keys = keys, .ids = ids, .n = n, .parts = (n + most - 1) / most };
	if (!s.parts)
		s.parts = 1;
	if (!ids)
		s.made = pd_alloc((n / s.parts + 2) * sizeof *s.made);
	return s;
}

static const uint32_t *stretch_at(struct stretches *s, size_t i, size_t *n)
{
	size_t from = s->n * i / s->parts;
	*n = s->n * (i + 1) / s->parts - from;
	if (s->ids)
		return s->ids + from;
	for (size_t j = 0; j < *n; j++)
		s->made[j] = (uint32_t)(from + j);
	return s->made;
}

/* One stretch with itself, or with another, by the plan that suits so many keys. */
static int run_stretch(const struct pd_join_keys *part, struct pd_join_plan *plan, int threads, struct pd_items *lists, struct pd_err *e)
{
	struct pd_join_plan own;
	int status = pd_join_plan_choose_against(&own, plan->kind, plan->bits, plan->k, part->n, part->n_against, e);
	if (status)
		return status;
	own.took = plan->took;
	run_engine(part, &own, threads, lists);
	plan->took = own.took;
	return PD_OK;
}

/* Stretch by stretch, each pair of stretches once.  Names ascend, so those of an earlier stretch are smaller. */
static int run_stretches(const struct pd_join_keys *keys, struct pd_join_plan *plan, int threads, struct stretches *a, struct stretches *b,
			 struct pd_items *lists, struct pd_err *e)
{
	int status = PD_OK;
	for (size_t i = 0; !status && i < a->parts; i++) {
		struct pd_join_keys part = *keys;
		part.ids = stretch_at(a, i, &part.n);
		if (!keys->against)
			status = run_stretch(&part, plan, threads, lists, e);
		for (size_t j = keys->against ? 0 : i + 1; !status && j < b->parts; j++) {
			part.against = stretch_at(b, j, &part.n_against);
			status = run_stretch(&part, plan, threads, lists, e);
		}
	}
	return status;
}

static int run_within(const struct pd_join_keys *keys, struct pd_join_plan *plan, int threads, struct pd_budget *budget,
		      struct pd_items *lists, struct pd_err *e)
{
	size_t bytes = table_bytes(plan), room = pd_budget_left(budget) / 2, most = room / (2 * (bytes + sizeof(uint32_t)));
	if ((double)(keys->n + keys->n_against) * (double)bytes <= (double)room) {
		run_engine(keys, plan, threads, lists);
		return PD_OK;
	}
	/* Two tables, and the names of two stretches. */
	struct stretches a = divide(keys, keys->ids, keys->n, most);
	struct stretches b = keys->against ? divide(keys, keys->against, keys->n_against, most) : divide(keys, keys->ids, keys->n, most);
	int status = run_stretches(keys, plan, threads, &a, &b, lists, e);
	plan->took.stretches = a.parts * b.parts;
	free(a.made);
	free(b.made);
	return status;
}

int pd_join_within(const struct pd_join_keys *keys, struct pd_join_plan *plan, int threads, struct pd_budget *budget,
		   struct pd_join_pairs *out, struct pd_err *e)
{
	int status = check_keys(keys, plan, e), gathered;
	if (status)
		return status;
	threads = threads > 1 ? threads : 1;
	struct pd_items *lists = pd_items_lists(threads, budget), all;
	status = run_within(keys, plan, threads, budget, lists, e);
	double t = pd_cpu_seconds();
	bool over = pd_join_is_over(keys);
	gathered = pd_items_gather(lists, threads, threads, over ? NULL : &all, e);
	if (over)
		pd_join_pairs_release(out);
	else
		pd_join_pairs_take(out, &all);
	plan->took.pairs += pd_cpu_seconds() - t;
	return status ? status : gathered;
}

int pd_join(const struct pd_join_keys *keys, struct pd_join_plan *plan, int threads, struct pd_join_pairs *out, struct pd_err *e)
{
	return pd_join_within(keys, plan, threads, NULL, out, e);
}

void pd_join_pairs_release(struct pd_join_pairs *p)
{
	if (p->mapped)
		munmap(p->v, p->mapped);
	else
		free(p->v);
	*p = (struct pd_join_pairs){ 0 };
}
