/* SPDX-License-Identifier: MIT
 *
 * A file of options (base/opt.h): every word is a long option of the table, and the printed form of the words is read
 * back as the same words.  An error names the file and a line.
 */
#include "fuzz.h"
#include "base/opt.h"

static int take_list(void *options, const char *arg, struct pd_err *e)
{
	return PD_OK;
}

static const char *const choices[] = { "one", "two", NULL };

static const struct pd_opt opts[] = {
	{ .type = PD_OPT_FLAG, .name = "flag" },
	{ .type = PD_OPT_SWITCH, .name = "switch" },
	{ .type = PD_OPT_INT, .name = "count", .arg = "N", .min = 0, .max = 64 },
	{ .type = PD_OPT_REAL, .name = "share", .arg = "S", .min = 0, .max = 1 },
	{ .type = PD_OPT_SIZE, .name = "size", .arg = "SIZE" },
	{ .type = PD_OPT_TEXT, .name = "text", .arg = "TEXT" },
	{ .type = PD_OPT_CHOICE, .name = "choice", .arg = "NAME", .choices = choices },
	{ .type = PD_OPT_CALL, .name = "list", .arg = "FILE", .call = take_list },
	{ .type = PD_OPT_INT, .name = "other-mode", .only = 2, .arg = "N", .max = 9 },
	PD_OPT_END,
};
static const struct pd_opt other_opts[] = { { .type = PD_OPT_TEXT, .name = "elsewhere", .arg = "TEXT" }, PD_OPT_END };
static const struct pd_usage usage = { .name = "fuzz", .opts = opts }, other = { .name = "other", .opts = other_opts };

enum { WORDS = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static char *argv[WORDS];
	const struct pd_usage *const all[] = { &usage, &other, NULL };
	struct pd_buf words = { 0 }, printed = { 0 }, again = { 0 };
	struct pd_err e = { 0 };
	int argc = 1;
	int status = pd_opt_config(&usage, all, 1, "file", pd_span((const char *)data, n), &words, &e);
	HOLDS(!status || (!strncmp(e.text, "file:", 5) && e.text[5] >= '1' && e.text[5] <= '9'));
	argv[0] = (char *)"fuzz";
	for (size_t at = 0; !status && at < words.n && argc < WORDS - 1; at += strlen(words.p + at) + 1) {
		HOLDS(!strncmp(words.p + at, "--", 2));
		argv[argc++] = words.p + at;
	}
	argv[argc] = NULL;
	if (!status && argc < WORDS - 1) {
		pd_opt_print_config(&usage, argc, argv, &printed);
		/* The same options, in the order of the table. */
		HOLDS(pd_opt_config(&usage, all, 1, "printed", pd_buf_span(&printed), &again, &e) == PD_OK && again.n == words.n);
	}
	pd_buf_release(&words);
	pd_buf_release(&printed);
	pd_buf_release(&again);
	return 0;
}
