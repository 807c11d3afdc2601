/* SPDX-License-Identifier: MIT */
#include "group/keep.h"

#include <stdlib.h>

#include "group/keep_keys.h"
#include "group/order.h"
#include "group/prefer.h"

const char *const pd_keep_names[PD_KEEPS + 1] = {
	"first", "longest", "newest", "oldest", "shortest-url", "quality", "rank", NULL,
};

static int one_of(struct pd_span word, struct pd_err *e)
{
	struct pd_buf all = { 0 };
	for (int i = 0; i < PD_KEEPS; i++)
		if (pd_span_is(word, pd_keep_names[i]))
			return i;
	for (int i = 0; i < PD_KEEPS; i++)
		pd_buf_printf(&all, "%s%s", i ? ", " : "", pd_keep_names[i]);
	int status = pd_fail(e, PD_ERR_USAGE, "--keep takes a list of %s, not '%.*s'", all.p, (int)word.n, word.p);
	pd_buf_release(&all);
	return status;
}

int pd_keep_parse(const char *list, struct pd_keep_options *out, struct pd_err *e)
{
	struct pd_span rest = pd_span_z(list), word;
	out->n = 0;
	while (pd_span_split(&rest, ',', &word)) {
		int by = one_of(word, e);
		if (by < 0)
			return by;
		if (out->n && out->by[out->n - 1] == PD_KEEP_FIRST)
			return pd_fail(e, PD_ERR_USAGE, "--keep: nothing can follow 'first', since no two pages have the same id");
		for (int i = 0; i < out->n; i++)
			if ((int)out->by[i] == by)
				return pd_fail(e, PD_ERR_USAGE, "--keep names '%s' twice", pd_keep_names[by]);
		out->by[out->n++] = (enum pd_keep)by;
	}
	return PD_OK;
}

void pd_keep_print(const struct pd_keep_options *o, const char *between, struct pd_buf *out)
{
	for (int i = 0; i < o->n; i++) {
		pd_buf_add_z(out, i ? between : "");
		pd_buf_add_z(out, pd_keep_names[o->by[i]]);
	}
	if (!o->n)
		pd_buf_add_z(out, pd_keep_names[PD_KEEP_FIRST]);
}

static int sort_by(struct pd_pages *pages, enum pd_keep by, const struct pd_keep_options *o, const struct pd_pages_options *in,
		   uint32_t *order, struct pd_err *e)
{
	if (by == PD_KEEP_FIRST || !pages->n)
		return PD_OK;
	uint64_t *key = pd_alloc(pages->n * sizeof *key);
	int status = by == PD_KEEP_RANK ? pd_rank_keys(pages, o->rank_file, in, key, e) : PD_OK;
	if (by != PD_KEEP_RANK)
		pd_keep_keys(pages, by, key);
	if (!status)
		pd_order_by(order, pages->n, key);
	free(key);
	return status;
}

static int sort_by_host(struct pd_pages *pages, const char *file, uint32_t *order, struct pd_err *e)
{
	uint64_t *key = pd_alloc((pages->n + 1) * sizeof *key);
	int status = pd_prefer_keys(pages, file, key, e);
	if (!status)
		pd_order_by(order, pages->n, key);
	free(key);
	return status;
}

/* From the last criterion to the first: the sort is stable. */
int pd_keep_order(struct pd_pages *pages, const struct pd_keep_options *o, const struct pd_pages_options *in, struct pd_err *e)
{
	uint32_t *order = pd_ids_order(&pages->ids);
	int status = PD_OK;
	pd_ids_release(&pages->ids);
	bool by_id = !o->prefer_hosts && (!o->n || o->by[0] == PD_KEEP_FIRST);
	if (!by_id) {
		pages->by_id = pd_alloc((pages->n + 1) * sizeof *order);
		memcpy(pages->by_id, order, pages->n * sizeof *order);
	}
	for (int i = o->n; !status && i-- > 0;)
		status = sort_by(pages, o->by[i], o, in, order, e);
	if (!status && o->prefer_hosts)
		status = sort_by_host(pages, o->prefer_hosts, order, e);
	if (!status)
		pd_pages_renumber(pages, order);
	free(order);
	return status;
}
