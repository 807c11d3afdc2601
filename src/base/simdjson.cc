// SPDX-License-Identifier: MIT
// The only place that includes simdjson.  No exceptions: all calls return an error code.
#include "base/simdjson.h"

#include <cstring>
#include <new>
#include <simdjson.h>

using namespace simdjson;

/* A parser takes up to 14 bytes per byte of the longest text. */
enum { MOST = 16 << 20, KEEP = 4 << 20 };

struct pd_simdjson {
	dom::parser parser;
};

/* jansson refuses such names, so both refuse them. */
static bool has_nul_name(const dom::element &value)
{
	dom::object object;
	dom::array array;
	if (!value.get(object)) {
		for (const auto &member : object)
			if (memchr(member.key.data(), 0, member.key.size()) || has_nul_name(member.value))
				return true;
	} else if (!value.get(array)) {
		for (const auto &element : array)
			if (has_nul_name(element))
				return true;
	}
	return false;
}

static pd_simdjson_value value_of(const dom::element &e)
{
	pd_simdjson_value v = {};
	bool boolean;
	uint64_t bits;
	switch (e.type()) {
	case dom::element_type::STRING:
		v.kind = PD_SIMDJSON_STRING;
		v.p = e.get_c_str().value_unsafe();
		v.n = e.get_string_length().value_unsafe();
		break;
	case dom::element_type::INT64:
		v.kind = PD_SIMDJSON_INT;
		v.integer = e.get_int64().value_unsafe();
		break;
	case dom::element_type::UINT64:
		v.kind = PD_SIMDJSON_UINT;
		bits = e.get_uint64().value_unsafe();
		v.integer = (int64_t)bits;
		break;
	case dom::element_type::DOUBLE:
		v.kind = PD_SIMDJSON_REAL;
		v.real = e.get_double().value_unsafe();
		break;
	case dom::element_type::BOOL:
		v.kind = PD_SIMDJSON_BOOL;
		boolean = e.get_bool().value_unsafe();
		v.integer = boolean;
		break;
	default: v.kind = PD_SIMDJSON_OTHER;
	}
	return v;
}

extern "C" pd_simdjson *pd_simdjson_new(void)
{
	return new (std::nothrow) pd_simdjson;
}

extern "C" void pd_simdjson_free(pd_simdjson *s)
{
	delete s;
}

extern "C" bool pd_simdjson_parse(pd_simdjson *s, const char *p, size_t n,
				  void (*member)(void *ctx, const char *name, size_t name_n, const pd_simdjson_value *v), void *ctx)
{
	if (n > MOST)
		return false;
	if (s->parser.capacity() > KEEP && n <= KEEP)
		s->parser = dom::parser();
	dom::element root;
	dom::object object;
	if (s->parser.parse(p, n, true).get(root) || root.get(object) || has_nul_name(root))
		return false;
	for (const auto &m : object) {
		pd_simdjson_value v = value_of(m.value);
		member(ctx, m.key.data(), m.key.size(), &v);
	}
	return true;
}
