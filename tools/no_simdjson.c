/* SPDX-License-Identifier: MIT
 *
 * In place of src/base/simdjson.cc in a static program, if the system has no archive of simdjson (Debian has none): jansson
 * then reads all lines of JSON.
 */
#include "base/simdjson.h"

struct pd_simdjson *pd_simdjson_new(void)
{
	return NULL;
}

void pd_simdjson_free(struct pd_simdjson *s)
{
}

bool pd_simdjson_parse(struct pd_simdjson *s, const char *p, size_t n,
		       void (*member)(void *ctx, const char *name, size_t name_n, const struct pd_simdjson_value *v), void *ctx)
{
	return false;
}
