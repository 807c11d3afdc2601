/* SPDX-License-Identifier: MIT
 *
 * JSON objects on one line, for JSONL rows and --stats files; jansson writes them, and simdjson reads them.  In strings
 * that are not UTF-8, bad bytes are replaced by U+FFFD.  Keys are written in the order of their addition.
 */
#ifndef PD_BASE_JSON_H
#define PD_BASE_JSON_H

#include "base/buf.h"

struct pd_json; /* an object being built */

/* Initialise, once and before any object: base/alloc.h handles jansson's failed allocations. */
void pd_json_own_memory(void);

struct pd_json *pd_json_new(void);
void pd_json_free(struct pd_json *j);
void pd_json_str(struct pd_json *j, const char *key, struct pd_span value);
/* null when the value is empty. */
void pd_json_str_or_null(struct pd_json *j, const char *key, struct pd_span value);
void pd_json_int(struct pd_json *j, const char *key, int64_t value);
void pd_json_real(struct pd_json *j, const char *key, double value);
void pd_json_bool(struct pd_json *j, const char *key, bool value);
/* `child` becomes a member; it is freed with its parent. */
void pd_json_object(struct pd_json *j, const char *key, struct pd_json *child);
/* Replace the object by the object of a text, with all its members.  False: it is not a JSON object; then it is unchanged. */
bool pd_json_load(struct pd_json *j, struct pd_span text);
/* `child` becomes the last element of the array under `key`; `first`: the only one. */
void pd_json_push_object(struct pd_json *j, const char *key, bool first, struct pd_json *child);
/* An array of strings under `key`: one more. */
void pd_json_push(struct pd_json *j, const char *key, struct pd_span value);
/* The object as text, appended without a newline; the object is cleared. */
void pd_json_write(struct pd_json *j, struct pd_buf *out);

/* --- reading: a JSON object as text, and the values of requested members --- */

struct pd_json_member {
	const char *name;    /* asked for */
	bool present;	     /* a string, a number or a boolean; null, arrays and objects are as good as absent */
	struct pd_buf value; /* a string without its escapes, anything else as text */
};

/* Memory for reading, kept from text to text.  All zeroes is an empty reader. */
struct pd_json_reader {
	struct pd_simdjson *fast;
};

void pd_json_reader_release(struct pd_json_reader *r);

/* Fills present and value of `n` members; of several members with one name the last.  False: no JSON object (RFC 8259),
 * or not in UTF-8. */
bool pd_json_members(struct pd_json_reader *r, struct pd_span text, struct pd_json_member *members, int n);

/* Return the names of the members of an object, separated by ", ", and the name of the longest string that is not a
 * URL, if any; also whether that string is markup.  False: not a JSON object. */
bool pd_json_survey(struct pd_span text, struct pd_buf *names, struct pd_buf *longest, bool *markup);

#endif
