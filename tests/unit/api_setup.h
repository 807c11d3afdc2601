/* SPDX-License-Identifier: MIT
 *
 * Shared by the tests of the public API: its structs with their sizes, calls that must succeed, a model and a worker.
 */
#ifndef API_SETUP_H
#define API_SETUP_H

#include <check.h>

#include "pagededup.h"

#define INPUT(...) (&(pagededup_input){ .size = sizeof(pagededup_input), __VA_ARGS__ })
#define DONE(call) ck_assert_msg((call) == PAGEDEDUP_OK, "%s: %s", #call, error.text)

static pagededup_model *open_model(const char *settings)
{
	pagededup_model_options options = { .size = sizeof options, .settings = settings };
	pagededup_error error = { .size = sizeof error };
	pagededup_model *m;
	DONE(pagededup_model_open(&m, &options, &error));
	return m;
}

static pagededup_worker *new_worker(pagededup_model *m)
{
	pagededup_error error = { .size = sizeof error };
	pagededup_worker *w;
	DONE(pagededup_worker_new(&w, m, &error));
	return w;
}

#endif
