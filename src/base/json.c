/* SPDX-License-Identifier: MIT
 * With json_read.c the only place that includes jansson. */
#include "base/json.h"

#include <jansson.h>
#include <stdlib.h>

#include "base/utf8.h"

struct pd_json {
	json_t *root;
	struct pd_buf scratch;
};

void pd_json_own_memory(void)
{
	json_set_alloc_funcs(pd_alloc, free);
}

struct pd_json *pd_json_new(void)
{
	struct pd_json *j = pd_zalloc(sizeof *j);
	j->root = json_object();
	return j;
}

void pd_json_free(struct pd_json *j)
{
	if (!j)
		return;
	json_decref(j->root);
	pd_buf_release(&j->scratch);
	free(j);
}

static json_t *string(struct pd_json *j, struct pd_span s)
{
	json_t *v = json_stringn(s.p ? s.p : "", s.n);
	if (v)
		return v;
	pd_buf_clear(&j->scratch);
	for (size_t i = 0; i < s.n;) {
		size_t n = pd_utf8_sequence(s.p + i, s.n - i);
		if (n)
			pd_buf_add(&j->scratch, s.p + i, n);
		else
			pd_buf_add_utf8(&j->scratch, 0xFFFD);
		i += n ? n : 1;
	}
	return json_stringn(j->scratch.p, j->scratch.n);
}

void pd_json_str(struct pd_json *j, const char *key, struct pd_span value)
{
	json_object_set_new(j->root, key, string(j, value));
}

void pd_json_str_or_null(struct pd_json *j, const char *key, struct pd_span value)
{
	json_object_set_new(j->root, key, value.n ? string(j, value) : json_null());
}

void pd_json_int(struct pd_json *j, const char *key, int64_t value)
{
	json_object_set_new(j->root, key, json_integer(value));
}

void pd_json_real(struct pd_json *j, const char *key, double value)
{
	json_object_set_new(j->root, key, json_real(value));
}

void pd_json_bool(struct pd_json *j, const char *key, bool value)
{
	json_object_set_new(j->root, key, json_boolean(value));
}

void pd_json_object(struct pd_json *j, const char *key, struct pd_json *child)
{
	json_object_set(j->root, key, child->root);
	pd_json_free(child);
}

void pd_json_push(struct pd_json *j, const char *key, struct pd_span value)
{
	json_t *list = json_object_get(j->root, key);
	if (!list) {
		list = json_array();
		json_object_set_new(j->root, key, list);
	}
	json_array_append_new(list, string(j, value));
}

/* What a terminal would act on is told in the way of JSON: jansson does so below U+0020 alone. */
static int append(const char *p, size_t n, void *out)
{
	size_t plain = 0, k;
	for (size_t i = 0; i < n; i += k) {
		k = pd_utf8_sequence(p + i, n - i);
		if (!k || !pd_utf8_acts(p + i, k)) {
			k = k ? k : 1;
			continue;
		}
		const char *at = p + i;
		pd_buf_add(out, p + plain, i - plain);
		pd_buf_printf(out, "\\u%04X", (unsigned)pd_utf8_next(&at));
		plain = i + k;
	}
	pd_buf_add(out, p + plain, n - plain);
	return 0;
}

void pd_json_write(struct pd_json *j, struct pd_buf *out)
{
	json_dump_callback(j->root, append, out, JSON_COMPACT | JSON_REAL_PRECISION(6));
	json_object_clear(j->root);
}
