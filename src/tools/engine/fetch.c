/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/engine/engine.h"

extern char **environ;

/* Return the command's words, the path and optionally another path, terminated by NULL; the caller frees them, and the
 * text in `text`. */
static char **words_of(const char *command, const char *path, const char *other, struct pd_buf *text)
{
	char **v = NULL, *word;
	size_t n = 0, cap = 0;
	pd_buf_set(text, pd_span_z(command));
	for (char *at = text->p; (word = strsep(&at, " ")) != NULL;) {
		v = pd_grow(v, n + 3, &cap, sizeof *v);
		if (*word)
			v[n++] = word;
	}
	v[n++] = (char *)path;
	if (other)
		v[n++] = (char *)other;
	v[n] = NULL;
	return v;
}

static int spawn(long *pid, char **words, int out, struct pd_err *e)
{
	posix_spawn_file_actions_t actions;
	pid_t child = 0;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	int error = posix_spawnp(&child, words[0], &actions, NULL, words, environ);
	posix_spawn_file_actions_destroy(&actions);
	*pid = child;
	errno = error;
	return error ? pd_fail_errno(e, "cannot run '%s'", words[0]) : PD_OK;
}

int pd_engine_fetch_open(struct pd_engine_fetch *f, const char *command, const char *path, struct pd_err *e)
{
	struct pd_buf text = { 0 };
	int ends[2];
	*f = (struct pd_engine_fetch){ .path = path, .saved = -1 };
	if (pipe2(ends, O_CLOEXEC) < 0)
		return pd_fail_errno(e, "cannot make a pipe");
	char **words = words_of(command, path, NULL, &text);
	int status = spawn(&f->pid, words, ends[1], e);
	close(ends[1]);
	if (!status && ((f->saved = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)) < 0 || dup2(ends[0], STDIN_FILENO) < 0))
		status = pd_fail_errno(e, "cannot read the output of '%s'", words[0]);
	close(ends[0]);
	clearerr(stdin);
	if (status && f->pid)
		waitpid((pid_t)f->pid, NULL, 0);
	free(words);
	pd_buf_release(&text);
	return status;
}

bool pd_engine_fetch_failed(const struct pd_engine_fetch *f)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
	siginfo_t how = { 0 };
	int n = 0;
	while (poll(&in, 1, -1) < 0 && errno == EINTR)
		;
	if (ioctl(STDIN_FILENO, FIONREAD, &n) < 0 || n)
		return false;
	return !waitid(P_PID, (id_t)f->pid, &how, WEXITED | WNOWAIT) && (how.si_code != CLD_EXITED || how.si_status);
}

static int ended(long pid, const char *path, const char *option, bool matters, struct pd_err *e)
{
	int how = 0;
	while (waitpid((pid_t)pid, &how, 0) < 0)
		if (errno != EINTR)
			return pd_fail_errno(e, "%s: cannot wait for the command of %s", path, option);
	if (!matters || (WIFEXITED(how) && !WEXITSTATUS(how)))
		return PD_OK;
	if (WIFSIGNALED(how))
		return pd_fail(e, PD_ERR_SYSTEM, "%s: the command of %s was ended by signal %d", path, option, WTERMSIG(how));
	return pd_fail(e, PD_ERR_SYSTEM, "%s: the command of %s failed with exit status %d", path, option, WEXITSTATUS(how));
}

/* If the output of a command was not read completely, this may have ended it. */
int pd_engine_fetch_close(struct pd_engine_fetch *f, bool read, struct pd_err *e)
{
	bool back = dup2(f->saved, STDIN_FILENO) >= 0;
	close(f->saved);
	clearerr(stdin);
	int status = ended(f->pid, f->path, "--fetch", read, e);
	return status || back ? status : pd_fail_errno(e, "cannot restore standard input");
}

/* Its output is written where messages are written. */
int pd_engine_put_file(const char *command, const char *file, const char *to, struct pd_err *e)
{
	struct pd_buf text = { 0 };
	long pid = 0;
	char **words = words_of(command, file, to, &text);
	int status = spawn(&pid, words, STDERR_FILENO, e);
	if (!status)
		status = ended(pid, to, "--store", true, e);
	free(words);
	pd_buf_release(&text);
	return status;
}
