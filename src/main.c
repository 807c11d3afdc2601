/* SPDX-License-Identifier: MIT
 *
 * The one table of commands: it feeds dispatch and help, and what is tested against the manual.
 */
#include <stdlib.h>

#include "base/file.h"
#include "base/json.h"
#include "cmd/command.h"
#include "page/html.h"
#include "text/text.h"

static const struct pd_command *const commands[] = {
	&pd_cmd_boilerplate, &pd_cmd_fp, &pd_cmd_match, &pd_cmd_cluster, &pd_cmd_apply, &pd_cmd_dedup, &pd_cmd_report,
	&pd_cmd_store,
	&pd_cmd_link, &pd_cmd_rank, &pd_cmd_url, &pd_cmd_sites,
	&pd_cmd_map, &pd_cmd_reduce,
	&pd_cmd_text, &pd_cmd_show, &pd_cmd_compare, &pd_cmd_why, &pd_cmd_eval, &pd_cmd_sample, &pd_cmd_estimate,
	&pd_cmd_info, &pd_cmd_dict, &pd_cmd_selftest, &pd_cmd_completion, &pd_cmd_version, &pd_cmd_help,
	NULL,
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
