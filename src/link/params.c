/* SPDX-License-Identifier: MIT */
#include "link/params.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/tsv.h"

/* --- a query in pieces --- */

void pd_query_split(struct pd_query *q, struct pd_span query)
{
	struct pd_span item;
	q->n = 0;
	while (query.n && pd_span_split(&query, '&', &item)) {
		if (!item.n)
			continue;
		const char *equals = memchr(item.p, '=', item.n);
		q->items = pd_grow(q->items, q->n, &q->cap, sizeof *q->items);
		q->items[q->n] = (struct pd_query_item){ item, item, (uint32_t)q->n };
		if (equals)
			q->items[q->n].name.n = (size_t)(equals - item.p);
		q->n++;
	}
}

static int by_name(const void *a, const void *b)
{
	const struct pd_query_item *x = a, *y = b;
	int order = pd_span_cmp(x->name, y->name);
	return order ? order : (x->at > y->at) - (x->at < y->at);
}

void pd_query_sort(struct pd_query *q)
{
	for (size_t i = 1; i < q->n; i++)
		if (by_name(&q->items[i - 1], &q->items[i]) > 0) {
			qsort(q->items, q->n, sizeof *q->items, by_name);
			return;
		}
}

void pd_query_release(struct pd_query *q)
{
	free(q->items);
	pd_buf_release(&q->text);
	pd_buf_release(&q->part);
}

/* --- which do not matter --- */

static const struct {
	const char *name;
	unsigned least;
} known[] = {
#define X(n, l) { n, l },
#include "link/params.def"
#undef X
};

static uint64_t hash_lower(struct pd_span s, uint64_t h)
{
	for (size_t i = 0; i < s.n; i++)
		h = (h ^ (unsigned char)pd_ascii_lower(s.p[i])) * UINT64_C(0x100000001B3);
	return h;
}

static uint64_t name_hash(struct pd_span host, struct pd_span name)
{
	uint64_t h = hash_lower(host, UINT64_C(0xCBF29CE484222325));
	h = hash_lower(name, (h ^ '\n') * UINT64_C(0x100000001B3));
	return pd_hash64(&h, sizeof h);
}

int pd_params_name(struct pd_params *p, struct pd_span list, struct pd_err *e)
{
	struct pd_span name;
	while (pd_span_split(&list, ',', &name)) {
		name = pd_span_trim(name);
		const char *star = name.n ? memchr(name.p, '*', name.n) : NULL;
		if (!name.n)
			return pd_fail(e, PD_ERR_USAGE, "an empty name among the parameters to leave out");
		if (star && (star != name.p + name.n - 1 || name.n == 1))
			return pd_fail(e, PD_ERR_USAGE, "parameter '%.*s': a '*' may only end a name", (int)name.n, name.p);
		p->hash += name_hash(pd_span("", 0), name);
		if (!star) {
			pd_map_add(&p->named, name_hash(pd_span("", 0), name));
			continue;
		}
		p->prefixes = pd_grow(p->prefixes, p->n_prefixes, &p->cap_prefixes, sizeof *p->prefixes);
		p->prefixes[p->n_prefixes++] = pd_arena_copy(&p->arena, pd_span(name.p, name.n - 1));
	}
	return PD_OK;
}

void pd_params_know(struct pd_params *p)
{
	p->hash += !p->known;
	p->known = true;
}

enum { HOST, NAME, SAME, DIFFERENT, TEXTS, LEARNT, COLUMNS };
static const char *const columns[] = { "host", "name", "same", "different", "texts", "learnt", NULL };

int pd_params_read(struct pd_params *p, const char *path, struct pd_err *e)
{
	char *paths[] = { (char *)path };
	struct pd_tsv_reader r = { .kind = "params", .columns = columns, .v1_columns = columns, .paths = paths, .n_paths = 1 };
	struct pd_buf host = { 0 }, name = { 0 };
	int status;
	while ((status = pd_tsv_next(&r, e)) == 1) {
		if (!pd_span_is(r.fields[LEARNT], "1"))
			continue;
		if (pd_tsv_value(r.fields[HOST], &host) || pd_tsv_value(r.fields[NAME], &name)) {
			status = pd_fail(e, PD_ERR_FORMAT, "%s:%" PRIu64 ": a value with an escape that does not exist", r.path, r.line_no);
			break;
		}
		uint64_t h = name_hash(pd_buf_span(&host), pd_buf_span(&name));
		if (pd_map_add(&p->named, h))
			p->hash += h;
	}
	pd_buf_release(&host);
	pd_buf_release(&name);
	pd_tsv_release(&r);
	return status;
}

/* The name, or the beginning of one before '*'. */
static bool fits(struct pd_span name, const char *pattern)
{
	size_t n = strlen(pattern);
	if (n && pattern[n - 1] == '*') {
		if (name.n < n)
			return false;
		n--;
	} else if (name.n != n) {
		return false;
	}
	for (size_t i = 0; i < n; i++)
		if (pd_ascii_lower(name.p[i]) != pattern[i])
			return false;
	return true;
}

static bool is_known(const struct pd_query_item *item)
{
	unsigned digits = 0;
	for (size_t i = item->name.n; i < item->item.n; i++) {
		char c = item->item.p[i];
		digits += (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
	}
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (digits >= known[i].least && fits(item->name, known[i].name))
			return true;
	return false;
}

static bool begins(struct pd_span name, struct pd_span prefix)
{
	if (name.n < prefix.n)
		return false;
	for (size_t i = 0; i < prefix.n; i++)
		if (pd_ascii_lower(name.p[i]) != pd_ascii_lower(prefix.p[i]))
			return false;
	return true;
}

bool pd_params_has(const struct pd_params *p, struct pd_span host, const struct pd_query_item *item)
{
	if (p->named.n && (pd_map_has(&p->named, name_hash(pd_span("", 0), item->name)) ||
			   pd_map_has(&p->named, name_hash(host, item->name))))
		return true;
	for (size_t i = 0; i < p->n_prefixes; i++)
		if (begins(item->name, p->prefixes[i]))
			return true;
	return p->known && is_known(item);
}

void pd_params_release(struct pd_params *p)
{
	pd_map_release(&p->named);
	free(p->prefixes);
	pd_arena_release(&p->arena);
}

/* --- learning --- */

/* URLs of a host that differ in one parameter's value alone. */
struct group {
	uint64_t value, text;	/* of the first */
	uint32_t owner;
	bool several, differ;	/* values; texts */
};

struct owner {
	uint64_t same, different, texts;
};

struct pd_params_lesson {
	struct pd_names owners;		/* host, newline, name */
	struct pd_map at;		/* hash of a group: its place */
	struct group *groups;
	size_t n, cap;
	struct pd_query query;
	struct pd_buf rest, owner;
};

struct pd_params_lesson *pd_params_lesson_new(void)
{
	return pd_zalloc(sizeof(struct pd_params_lesson));
}

void pd_params_lesson_free(struct pd_params_lesson *l)
{
	if (!l)
		return;
	pd_names_release(&l->owners);
	pd_map_release(&l->at);
	free(l->groups);
	pd_query_release(&l->query);
	pd_buf_release(&l->rest);
	pd_buf_release(&l->owner);
	free(l);
}

static void add_to_group(struct pd_params_lesson *l, uint64_t key, uint32_t owner, uint64_t value, uint64_t text)
{
	uint32_t *at = pd_map_put(&l->at, key);
	if (!*at) {
		l->groups = pd_grow(l->groups, l->n, &l->cap, sizeof *l->groups);
		l->groups[l->n++] = (struct group){ .value = value, .text = text, .owner = owner };
		*at = (uint32_t)l->n;
		return;
	}
	struct group *g = &l->groups[*at - 1];
	g->several |= g->value != value;
	g->differ |= g->text != text;
}

void pd_params_lesson_add(struct pd_params_lesson *l, struct pd_span host, struct pd_span url, struct pd_span digest)
{
	const char *question = url.n ? memchr(url.p, '?', url.n) : NULL;
	if (!question || !host.n || !digest.n)
		return;
	size_t path = (size_t)(question - url.p);
	pd_query_split(&l->query, pd_span(question + 1, url.n - path - 1));
	for (size_t i = 0; i < l->query.n; i++) {
		struct pd_span name = l->query.items[i].name, item = l->query.items[i].item;
		pd_buf_set(&l->rest, pd_span(url.p, path));
		for (size_t j = 0; j < l->query.n; j++) {
			pd_buf_add_c(&l->rest, '\n');
			pd_buf_add_span(&l->rest, j == i ? name : l->query.items[j].item);
		}
		pd_buf_set(&l->owner, host);
		pd_buf_add_c(&l->owner, '\n');
		for (size_t j = 0; j < name.n; j++)
			pd_buf_add_c(&l->owner, pd_ascii_lower(name.p[j]));
		add_to_group(l, pd_hash64_seed(l->rest.p, l->rest.n, i + 1), pd_names_add(&l->owners, pd_buf_span(&l->owner)),
			     pd_hash64(item.p, item.n), pd_hash64(digest.p, digest.n));
	}
}

static struct owner *count(const struct pd_params_lesson *l)
{
	struct owner *owners = pd_zalloc((l->owners.n + 1) * sizeof *owners);
	struct pd_map texts = { 0 };
	for (size_t i = 0; i < l->n; i++) {
		const struct group *g = &l->groups[i];
		struct owner *o = &owners[g->owner];
		if (!g->several)
			continue;
		o->different += g->differ;
		o->same += !g->differ;
		o->texts += !g->differ && pd_map_add(&texts, pd_hash64_seed(&g->text, sizeof g->text, g->owner));
	}
	pd_map_release(&texts);
	return owners;
}

static int owner_order(const void *a, const void *b, void *names)
{
	const struct pd_span *v = names;
	return pd_span_cmp(v[*(const uint32_t *)a], v[*(const uint32_t *)b]);
}

struct pd_params_counts pd_params_lesson_write(struct pd_params_lesson *l, unsigned least, struct pd_buf *out)
{
	struct pd_params_counts counts = { 0 };
	struct owner *owners = count(l);
	uint32_t *order = pd_alloc((l->owners.n + 1) * sizeof *order);
	for (size_t i = 0; i < l->owners.n; i++)
		order[i] = (uint32_t)i;
	if (l->owners.n)
		qsort_r(order, l->owners.n, sizeof *order, owner_order, l->owners.v);
	pd_buf_add_z(out, "# pagededup params 1 |");
	pd_buf_printf(out, " least=%u\n#", least);
	for (int i = 0; i < COLUMNS; i++)
		pd_buf_printf(out, "%s%c", columns[i], i < COLUMNS - 1 ? '\t' : '\n');
	for (size_t i = 0; i < l->owners.n; i++) {
		const struct owner *o = &owners[order[i]];
		struct pd_span name = l->owners.v[order[i]], host;
		if (!o->same && !o->different)
			continue;
		bool learnt = !o->different && o->same >= least && o->texts >= least;
		pd_span_split(&name, '\n', &host);
		pd_tsv_add(out, host);
		pd_buf_add_c(out, '\t');
		pd_tsv_add(out, name);
		pd_buf_printf(out, "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%d\n", o->same, o->different, o->texts, learnt);
		counts.parameters++;
		counts.learnt += learnt;
	}
	free(order);
	free(owners);
	return counts;
}
