/* SPDX-License-Identifier: MIT
 *
 * The one table of commands: it feeds dispatch and help, and what is tested against the manual.
 */
#include <stdlib.h>

#include "base/json.h"
#include "base/outfile.h"
#include "cmd/command.h"
#include "page/html.h"
#include "text/text.h"

static const struct pd_command commands[] = {
	{ "Pipeline", &pd_usage_boilerplate, pd_cmd_boilerplate },
	{ "Pipeline", &pd_usage_fp, pd_cmd_fp },
	{ "Pipeline", &pd_usage_match, pd_cmd_match },
	{ "Pipeline", &pd_usage_cluster, pd_cmd_cluster },
	{ "Pipeline", &pd_usage_apply, pd_cmd_apply },
	{ "Pipeline", &pd_usage_dedup, pd_cmd_dedup },
	{ "Pipeline", &pd_usage_report, pd_cmd_report },
	{ "Store", &pd_usage_store, pd_cmd_store },
	{ "Inspecting and measuring", &pd_usage_text, pd_cmd_text },
	{ "Inspecting and measuring", &pd_usage_show, pd_cmd_show },
	{ "Inspecting and measuring", &pd_usage_compare, pd_cmd_compare },
	{ "Inspecting and measuring", &pd_usage_why, pd_cmd_why },
	{ "Inspecting and measuring", &pd_usage_eval, pd_cmd_eval },
	{ "Inspecting and measuring", &pd_usage_sample, pd_cmd_sample },
	{ "Inspecting and measuring", &pd_usage_estimate, pd_cmd_estimate },
	{ "Other", &pd_usage_info, pd_cmd_info },
	{ "Other", &pd_usage_dict, pd_cmd_dict },
	{ "Other", &pd_usage_selftest, pd_cmd_selftest },
	{ "Other", &pd_usage_completion, .run_about = pd_cmd_completion },
	{ "Other", &pd_usage_version, pd_cmd_version },
	{ "Other", &pd_usage_help, .run_about = pd_cmd_help },
	{ 0 },
};

/* Standard output is flushed and checked once, after any command: a full disk must not look like success. */
static int finish(int code, const char *command)
{
	struct pd_log log;
	struct pd_err e;
	pd_log_init(&log, command);
	if (fflush(stdout) == 0 && !ferror(stdout))
		return code;
	if (code == PD_EXIT_FAILED)	/* told already */
		return code;
	pd_fail_errno(&e, "cannot write standard output");
	return pd_command_failed(&log, &e);
}

/* What libraries allocate for us ends the program too when there is no memory: a page that is half parsed must not look
 * like a short one. */
static void own_memory(void)
{
	pd_html_own_memory();
	pd_json_own_memory();
	pd_text_own_memory();
}

int main(int argc, char **argv)
{
	struct pd_log log;
	pd_log_init(&log, NULL);
	pd_unfinished_install();
	own_memory();
	if (argc < 2) {
		struct pd_err e;
		pd_fail(&e, PD_ERR_USAGE, "missing command");
		return pd_command_failed(&log, &e);
	}
	const struct pd_command *c = pd_command_find(commands, argv[1], &log);
	if (!c)
		return PD_EXIT_FAILED;
	int code = c->run ? c->run(argc - 1, argv + 1) : c->run_about(commands, argc - 1, argv + 1);
	return finish(code, c->usage->name);
}
