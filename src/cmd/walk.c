/* SPDX-License-Identifier: MIT
 *
 * The options that shape a page's row, as typed -> pd_options.
 */
#include "cmd/walk.h"
#include "inspect/show.h"

/* What the library calls "bits" is --bits here, in messages too. */
static int set(void *options, const char *name, const char *arg, struct pd_err *e)
{
	struct pd_walk_options *o = options;
	int status = pd_option_set(&o->page, pd_span_z(name), pd_span_z(arg), e);
	if (status) {
		char text[sizeof e->text - 2];
		memcpy(text, e->text, sizeof text);
		text[sizeof text - 1] = 0;
		pd_fail(e, status, "--%s", text);
	}
	return status;
}

int pd_walk_bits(void *options, const char *arg, struct pd_err *e)
{
	return set(options, "bits", arg, e);
}

int pd_walk_features(void *options, const char *arg, struct pd_err *e)
{
	return set(options, "features", arg, e);
}

int pd_walk_sketch(void *options, const char *arg, struct pd_err *e)
{
	return set(options, "sketch", arg, e);
}

int pd_walk_status(void *options, const char *arg, struct pd_err *e)
{
	struct pd_walk_options *o = options;
	o->page.status = arg;
	return pd_page_options_check(&(struct pd_page_options){ .status = arg }, e);
}

int pd_walk_content_types(void *options, const char *arg, struct pd_err *e)
{
	struct pd_walk_options *o = options;
	o->page.content_types = arg;
	return pd_page_options_check(&(struct pd_page_options){ .content_types = arg }, e);
}

int pd_walk_url(void *options, const char *arg, struct pd_err *e)
{
	struct pd_walk_options *o = options;
	if (o->urls[1])
		return pd_fail(e, PD_ERR_USAGE, "--url more than twice");
	o->urls[o->urls[0] ? 1 : 0] = arg;
	return PD_OK;
}

static void defaults(struct pd_walk_options *o, int preset)
{
	*o = (struct pd_walk_options){ .preset = preset, .progress = -1, .samples = 1, .stage = PD_STAGE_TOPIC, .sample = 1000 };
	pd_options_init(&o->page, (enum pd_preset)preset);
	o->topic = o->page.topic.method;
	o->hidden = !o->page.html.drop_hidden;
	o->stubs = o->page.match_stubs;
	o->hash = o->page.sign.hash;
	o->weights = o->page.sign.weights;
}

static bool check_learning(const struct pd_walk_options *o, struct pd_log *log)
{
	struct pd_err e = { 0 };
	if (o->save_boilerplate && !o->learn)
		pd_fail(&e, PD_ERR_USAGE, "--save-boilerplate goes with --learn-boilerplate");
	else if (o->learn && o->page.boilerplate)
		pd_fail(&e, PD_ERR_USAGE, "--learn-boilerplate and --boilerplate do not go together");
	else if (o->learn && o->page.topic.method != PD_TOPIC_MAIN)
		pd_fail(&e, PD_ERR_USAGE, "--learn-boilerplate goes with --topic=main alone");
	return e.status && pd_command_failed(log, &e);
}

int pd_walk_parse(const struct pd_usage *u, int argc, char **argv, struct pd_walk_options *o, int *first, struct pd_log *log)
{
	/* Twice: the preset decides what the other options begin with, wherever it stands. */
	defaults(o, PD_PRESET_DEFAULT);
	int code = pd_command_parse(u, argc, argv, o, first, log);
	if (code)
		return code;
	if (o->preset != PD_PRESET_DEFAULT) {
		defaults(o, o->preset);
		code = pd_command_parse(u, argc, argv, o, first, log);
		if (code)
			return code;
	}
	o->page.topic.method = (enum pd_topic_method)o->topic;
	o->page.html.drop_hidden = !o->hidden;
	o->page.match_stubs = o->stubs;
	o->page.sign.hash = (enum pd_sign_hash)o->hash;
	o->page.sign.weights = (enum pd_sign_weights)o->weights;
	log->quiet = o->quiet;
	if (check_learning(o, log))
		return 1 + PD_EXIT_FAILED;
	if (o->stats && !strcmp(o->stats, "-")) {
		struct pd_err e;
		pd_fail(&e, PD_ERR_USAGE, "--stats needs a file of its own, not standard output");
		return 1 + pd_command_failed(log, &e);
	}
	return 0;
}

int pd_walk_command(const struct pd_walker *w, const struct pd_walk_options *o, char **inputs, int n_inputs, struct pd_log *log)
{
	struct pd_err e;
	int status = pd_walk(w, o, inputs, n_inputs, log, &e);
	return pd_command_exit(status, log, &e);
}
