/* SPDX-License-Identifier: MIT
 *
 * pagededup info: the parameters of fingerprints: defaults, dictionary, stop words.
 */
#include "cmd/walk.h"
#include "sign/sign.h"

static const struct pd_opt opts[] = { PD_WALK_TOPIC_OPTS, PD_WALK_SIGN_OPTS(true), PD_OPT_END };

static const struct pd_usage usage = {
	.name = "info",
	.synopsis = "[OPTION]...",
	.summary = "Print what shapes a fingerprint: parameters, and checksums of dictionary and stop words.",
	.example = "pagededup info --preset=paper",
	.opts = opts,
	.no_operands = true,
};

static void print_info(const struct pd_tables *t)
{
	struct pd_span rest = pd_buf_span(&t->must), item;
	printf("version          %s\n", PD_VERSION);
	printf("fingerprint      version %d\n", PD_FINGERPRINT_VERSION);
	printf("dictionary       %s, %zu words\n", pd_dict_id(t->dict), pd_dict_words(t->dict));
	if (t->words.stopwords)
		printf("stop words       %s, %zu words\n", pd_stopwords_checksum(t->words.stopwords),
		       pd_stopwords_count(t->words.stopwords));
	else
		printf("stop words       none\n");
	for (const struct pd_method *const *m = pd_sign_methods; *m; m++)
		printf("method           %s (%s)\n", (*m)->name, (*m)->summary);
	printf("params           %s\n", t->params);
	while (pd_span_split(&rest, ' ', &item))
		printf("                 %.*s\n", (int)item.n, item.p);
}

static int run_info(int argc, char **argv)
{
	struct pd_walk_options o;
	struct pd_tables t;
	struct pd_log log;
	struct pd_err e;
	int first;
	pd_log_init(&log, "info");
	int code = pd_walk_parse(&usage, PD_METHOD_SIGNS, argc, argv, &o, &first, &log);
	if (code)
		return code - 1;
	if (pd_tables_open(&t, &o.page, &e))
		return pd_command_failed(&log, &e);
	print_info(&t);
	pd_tables_release(&t);
	return PD_EXIT_DONE;
}

const struct pd_command pd_cmd_info = { "Other", &usage, run_info };
