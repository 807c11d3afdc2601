/* SPDX-License-Identifier: MIT
 *
 * The list of unfinished files is the program's one piece of global state: a signal handler has no other way to find
 * them.  Slots are published by storing the name last and taken back by clearing it first.
 */
#include "base/tempfile.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"

enum { SLOTS = 64 };

static char *volatile unfinished[SLOTS];

static void remove_unfinished(void)
{
	for (int i = 0; i < SLOTS; i++)
		if (unfinished[i])
			unlink(unfinished[i]);
}

static void on_signal(int sig)
{
	remove_unfinished();
	/* The handler was reset (SA_RESETHAND): this ends us the way the signal would have. */
	raise(sig);
}

/* Nothing that needs memory, nor a lock that the thread may hold. */
static void on_no_memory(void)
{
	static const char text[] = "pagededup: out of memory\n";
	remove_unfinished();
	if (write(STDERR_FILENO, text, sizeof text - 1) < 0)
		_exit(2);
	_exit(2);
}

void pd_unfinished_install(void)
{
	pd_out_of_memory_calls(on_no_memory);
	struct sigaction a = { .sa_handler = on_signal, .sa_flags = SA_RESETHAND };
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ };
	sigemptyset(&a.sa_mask);
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
		struct sigaction old;
		/* What our parent ignores (nohup) stays ignored. */
		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(signals[i], &a, NULL);
	}
}

static const char *spool_dir(const char *dir)
{
	if (dir)
		return dir;
	dir = getenv("TMPDIR");
	return dir && *dir ? dir : "/tmp";
}

FILE *pd_spool_open(const char *dir, struct pd_err *e)
{
	dir = spool_dir(dir);
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
		struct pd_buf name = { 0 };
		pd_buf_printf(&name, "%s/pagededup-XXXXXX", dir);
		fd = mkostemp(name.p, O_CLOEXEC);
		if (fd >= 0)
			unlink(name.p);
		pd_buf_release(&name);
	}
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w+");
	if (!f) {
		pd_fail_errno(e, "cannot make a temporary file in %s", dir);
		if (fd >= 0)
			close(fd);
	}
	return f;
}

static int take_slot(char *name)
{
	for (int i = 0; i < SLOTS; i++)
		if (__sync_bool_compare_and_swap(&unfinished[i], NULL, name))
			return i;
	return -1;
}

static void forget(struct pd_outfile *o)
{
	if (o->slot >= 0)
		unfinished[o->slot] = NULL;
	free(o->temp);
	free(o->path);
	*o = (struct pd_outfile){ .slot = -1 };
}

int pd_outfile_check(const char *path, char *const *inputs, int n_inputs, struct pd_err *e)
{
	struct stat out, in;
	if (!path || stat(path, &out) != 0 || !S_ISREG(out.st_mode))
		return PD_OK;
	for (int i = 0; i < n_inputs; i++)
		if (stat(inputs[i], &in) == 0 && in.st_dev == out.st_dev && in.st_ino == out.st_ino)
			return pd_fail(e, PD_ERR_USAGE, "%s is an input too: it would be lost", path);
	return PD_OK;
}

/* A file behind /dev/stdout is somebody else's; one in /dev/shm is a file like any other. */
static bool is_borrowed(const char *path)
{
	return !strncmp(path, "/dev/fd/", 8) || !strcmp(path, "/dev/stdout") || !strcmp(path, "/dev/stderr") || !strncmp(path, "/proc/", 6);
}

/* A pipe, a terminal, /dev/null have no half-written state. */
static int open_directly(struct pd_outfile *o, const char *path, struct pd_err *e)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	o->f = fd < 0 ? NULL : fdopen(fd, "a");
	if (!o->f)
		return pd_fail_errno(e, "cannot write %s", path);
	o->path = pd_strdup(path);
	return PD_OK;
}

static int open_beside(struct pd_outfile *o, const char *path, struct pd_err *e)
{
	struct pd_buf name = { 0 };
	pd_buf_printf(&name, "%s.XXXXXX.part", path);
	int fd = mkostemps(name.p, 5, O_CLOEXEC);
	if (fd < 0) {
		int status = pd_fail_errno(e, "cannot write %s", path);
		pd_buf_release(&name);
		return status;
	}
	mode_t mask = umask(0);
	umask(mask);
	fchmod(fd, 0666 & ~mask);
	o->f = fdopen(fd, "w");
	o->path = pd_strdup(path);
	o->temp = name.p;
	o->slot = take_slot(o->temp);
	return PD_OK;
}

int pd_outfile_open(struct pd_outfile *o, const char *path, struct pd_err *e)
{
	*o = (struct pd_outfile){ .f = stdout, .slot = -1 };
	if (!path || !strcmp(path, "-"))
		return PD_OK;
	struct stat st;
	bool there = stat(path, &st) == 0;
	if ((there && !S_ISREG(st.st_mode)) || is_borrowed(path))
		return open_directly(o, path, e);
	/* A link stays a link: the file behind it is what is written. */
	char *behind = there ? realpath(path, NULL) : NULL;
	int status = open_beside(o, behind ? behind : path, e);
	free(behind);
	return status;
}

int pd_outfile_commit(struct pd_outfile *o, struct pd_err *e)
{
	int status = PD_OK;
	const char *name = o->path ? o->path : "standard output";
	bool bad = fflush(o->f) != 0 || ferror(o->f);
	if (o->path && fclose(o->f) != 0)
		bad = true;
	if (bad)
		status = pd_fail_errno(e, "cannot write %s", name);
	else if (o->temp && rename(o->temp, o->path) != 0)
		status = pd_fail_errno(e, "cannot rename to %s", name);
	if (status && o->temp)
		unlink(o->temp);
	forget(o);
	return status;
}

void pd_outfile_abandon(struct pd_outfile *o)
{
	if (o->path && o->f)
		fclose(o->f);
	if (o->temp)
		unlink(o->temp);
	forget(o);
}
