/* SPDX-License-Identifier: MIT
 * pagededup map, pagededup reduce: the other commands as steps that an engine runs on parts of the data.  What follows `--` are
 * options of the command that a job stands for. */
#include "cmd/walk.h"
#include "engine/engine.h"
#include "write/write.h"

struct engine_options {
	int job;
	struct pd_engine task;
};

#define AT(member) .at = offsetof(struct engine_options, member)

enum job { JOB_FP };
static const char *const map_jobs[] = { "fp", NULL };

#define TASK_OPTS \
	{ .type = PD_OPT_TEXT, .name = "fetch", .arg = "COMMAND", AT(task.fetch), \
	  .help = "read dumps through COMMAND PATH, such as 'hadoop fs -cat'" }

static const struct pd_opt map_opts[] = {
	{ .type = PD_OPT_CHOICE, .name = "job", .arg = "NAME", AT(job), .choices = map_jobs, .help = "fp: paths of dumps to their rows" },
	TASK_OPTS,
	PD_OPT_END,
};

static const struct pd_usage map_usage = {
	.name = "map",
	.synopsis = "--job=NAME [OPTION]... [-- OPTION]...",
	.summary = "Map lines of standard input, as a task of Hadoop, Spark or a shell.",
	.text = "Options behind -- are those of the command that the job stands for, such as 'fp'.",
	.example = "pagededup map --job=fp --fetch='hadoop fs -cat' -- --bits=128 < paths",
	.opts = map_opts,
};

static void start(struct engine_options *o, struct pd_log *log, const char *command)
{
	pd_log_init(log, command);
	*o = (struct engine_options){ .job = -1, .task = { .log = log } };
}

/* 0 go on, else the exit code + 1. */
static int parse_task(const struct pd_usage *u, int argc, char **argv, struct engine_options *o, int *first)
{
	struct pd_err e;
	int code = pd_command_parse(u, argc, argv, o, first, o->task.log);
	if (code || o->job >= 0)
		return code;
	pd_fail(&e, PD_ERR_USAGE, "missing required option --job=NAME");
	return 1 + pd_command_failed(o->task.log, &e);
}

/* The words behind `--` as a command line of their own. */
static char **own_words(char **argv, int first)
{
	return argv + first - 1;
}

static int map_fp(struct engine_options *o, int argc, char **argv)
{
	struct pd_walk_options walk;
	struct pd_err e = { 0 };
	int first, code = pd_walk_parse(pd_cmd_fp.usage, PD_METHOD_SIGNS, argc, argv, &walk, &first, o->task.log);
	if (code)
		return code - 1;
	const char *alone = walk.output ? "output" : walk.files_from ? "files-from" : walk.name ? "name" : walk.stats ? "stats" :
			    walk.left_out ? "left-out" : walk.shingles ? "shingles" : walk.save_boilerplate ? "save-boilerplate" :
			    walk.format == PD_ROWS_JSONL ? "format=jsonl" : NULL;
	if (first < argc)
		pd_fail(&e, PD_ERR_USAGE, "extra operand '%s': paths of dumps come on standard input, a line each", argv[first]);
	else if (alone)
		pd_fail(&e, PD_ERR_USAGE, "--%s is of 'fp' alone, not of its tasks", alone);
	int status = e.status ? e.status : pd_engine_map_fp(&o->task, &walk, &e);
	return pd_command_exit(status, o->task.log, &e);
}

static int run_map(int argc, char **argv)
{
	struct engine_options o;
	struct pd_log log;
	int first;
	start(&o, &log, "map");
	int code = parse_task(&map_usage, argc, argv, &o, &first);
	if (code)
		return code - 1;
	return map_fp(&o, argc - first + 1, own_words(argv, first));
}

const struct pd_command pd_cmd_map = { "Engines", &map_usage, run_map };
