/* SPDX-License-Identifier: MIT */
#include "base/log.h"

#include <stdarg.h>

#include "base/terminal.h"
#include "base/threads.h"

void pd_log_init(struct pd_log *l, const char *command)
{
	*l = (struct pd_log){ .command = command, .to = stderr };
}

static void wipe(struct pd_log *l)
{
	if (l->line[0])
		fputs("\r\033[K", l->to);
}

/* stderr's own lock keeps lines whole when several threads speak. */
__attribute__((format(printf, 2, 0)))
static void say(struct pd_log *l, const char *fmt, va_list args)
{
	struct pd_buf text = { 0 }, shown = { 0 };
	pd_buf_vprintf(&text, fmt, args);
	pd_terminal_add(&shown, pd_buf_span(&text));
	flockfile(l->to);
	wipe(l);
	fputs("pagededup", l->to);
	if (l->command)
		fprintf(l->to, " %s", l->command);
	fputs(": ", l->to);
	fwrite(pd_buf_z(&shown), 1, shown.n, l->to);
	fputc('\n', l->to);
	if (l->line[0])
		fputs(l->line, l->to);
	fflush(l->to);
	funlockfile(l->to);
	pd_buf_release(&text);
	pd_buf_release(&shown);
}

void pd_log_error(struct pd_log *l, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	say(l, fmt, args);
	va_end(args);
}

void pd_log_bad_row(void *log, const char *why)
{
	pd_log_error(log, "%s; left out", why);
}

void pd_log_note(struct pd_log *l, const char *fmt, ...)
{
	if (l->quiet)
		return;
	va_list args;
	va_start(args, fmt);
	say(l, fmt, args);
	va_end(args);
}

enum { MANY = 100 };

void pd_log_many_end(struct pd_log *l)
{
	uint64_t more = l->n_about > MANY ? l->n_about - MANY : 0;
	l->n_about = 0;
	if (more)
		pd_log_error(l, "%s: %llu more of these are not listed", l->about, (unsigned long long)more);
}

bool pd_log_many(struct pd_log *l, const char *about)
{
	if (strncmp(l->about, about, sizeof l->about - 1) != 0) {
		pd_log_many_end(l);
		snprintf(l->about, sizeof l->about, "%s", about);
	}
	return ++l->n_about <= MANY;
}

void pd_log_progress(struct pd_log *l, const char *fmt, ...)
{
	if (!l->progress)
		return;
	double now = pd_wall_seconds();
	if (fmt && l->line[0] && now - l->drawn < .1)
		return;
	flockfile(l->to);
	wipe(l);
	l->line[0] = 0;
	if (fmt) {
		va_list args;
		va_start(args, fmt);
		vsnprintf(l->line, sizeof l->line, fmt, args);
		va_end(args);
		fputs(l->line, l->to);
	}
	fflush(l->to);
	l->drawn = now;
	funlockfile(l->to);
}
