/* SPDX-License-Identifier: MIT
 *
 * JSON objects parsed by simdjson, for base/json.c.  C++ is in simdjson.cc only.  simdjson refuses some objects that are
 * valid, such as those with integers over 64 bits: then the caller has to parse them in another way.
 */
#ifndef PD_BASE_SIMDJSON_H
#define PD_BASE_SIMDJSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pd_simdjson; /* a parser; it keeps its memory for the next text */

/* NULL: there is no memory. */
struct pd_simdjson *pd_simdjson_new(void);
void pd_simdjson_free(struct pd_simdjson *s);

enum pd_simdjson_kind {
	PD_SIMDJSON_STRING,
	PD_SIMDJSON_INT,
	PD_SIMDJSON_UINT,
	PD_SIMDJSON_REAL,
	PD_SIMDJSON_BOOL,
	PD_SIMDJSON_OTHER
};

struct pd_simdjson_value {
	enum pd_simdjson_kind kind;
	const char *p; /* of a string, without escapes, valid until the next text */
	size_t n;
	int64_t integer; /* or a boolean; an unsigned integer as its bits */
	double real;
};

/* Parse a text and call `member` with each member of the object, in order.  Return false, and call nothing, if the text
 * is not an object that simdjson accepts, is over 16 MB, or has a name with a NUL byte. */
bool pd_simdjson_parse(struct pd_simdjson *s, const char *p, size_t n,
		       void (*member)(void *ctx, const char *name, size_t name_n, const struct pd_simdjson_value *v), void *ctx);

#ifdef __cplusplus
}
#endif

#endif
