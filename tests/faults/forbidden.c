/* SPDX-License-Identifier: MIT
 *
 * Simulates a compromised parser: loaded by LD_PRELOAD, it makes system calls that the program never needs as soon as
 * a page is parsed, in the thread that parses it, and writes to PD_FORBIDDEN_LOG a line for each: its name, and
 * "done" or errno in words.  The last ones are calls that the program needs.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static FILE *to;

static void tell(const char *name, long result)
{
	fprintf(to, "%s\t%s\n", name, result < 0 ? strerrorname_np(errno) : "done");
}

static void *nothing(void *ctx)
{
	return ctx;
}

static long fork_once(void)
{
	long child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (!child)
		_exit(0);
	if (child > 0)
		waitpid((pid_t)child, NULL, 0);
	return child;
}

static void try_all(void)
{
	char *none[] = { NULL }, byte = 'x';
	struct iovec local = { &byte, 1 }, remote = { &byte, 1 };
	void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	tell("execve", execve("/nonexistent", none, none));
	tell("fork", fork_once());
	tell("socket-inet", socket(AF_INET, SOCK_STREAM, 0));
	tell("socket-unix", socket(AF_UNIX, SOCK_STREAM, 0));
	tell("socket-netlink", socket(AF_NETLINK, SOCK_RAW, 0));
	tell("socketpair", socketpair(AF_UNIX, SOCK_STREAM, 0, (int[2]){ 0 }));
	tell("ptrace", ptrace(PTRACE_PEEKUSER, getppid(), NULL, NULL));
	tell("process_vm_readv", syscall(SYS_process_vm_readv, getpid(), &local, 1, &remote, 1, 0));
	tell("kill-parent", kill(getppid(), 0));
	tell("mount", syscall(SYS_mount, "none", "/nonexistent", "tmpfs", 0, NULL));
	tell("unshare", unshare(0));
	tell("chroot", chroot("/"));
	tell("setuid", syscall(SYS_setuid, getuid()));
	tell("bpf", syscall(SYS_bpf, 0, NULL, 0));
	tell("perf_event_open", syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0));
	tell("keyctl", syscall(SYS_keyctl, 0, 0, 0, 0, 0));
	tell("io_uring_setup", syscall(SYS_io_uring_setup, 0, NULL));
	tell("memory-to-write-and-execute",
	     (long)mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	tell("memory-made-executable", mprotect(page, 4096, PROT_READ | PROT_EXEC));
	tell("type-into-terminal", ioctl(1, TIOCSTI, &byte));

	pthread_t thread;
	errno = pthread_create(&thread, NULL, nothing, NULL);
	tell("allowed: a thread", errno ? -1 : 0);
	if (!errno)
		pthread_join(thread, NULL);
	tell("allowed: a signal to itself", kill(getpid(), 0));
	tell("allowed: a file", open("/proc/self/status", O_RDONLY));
	tell("allowed: memory", mprotect(page, 4096, PROT_READ | PROT_WRITE));
}

/* libxml2's function, which parses a page. */
void *htmlCtxtReadMemory(void *context, const char *bytes, int size, const char *url, const char *encoding, int options);

void *htmlCtxtReadMemory(void *context, const char *bytes, int size, const char *url, const char *encoding, int options)
{
	static int tried;
	void *(*parse)(void *, const char *, int, const char *, const char *, int) =
		(void *(*)(void *, const char *, int, const char *, const char *, int))dlsym(RTLD_NEXT, "htmlCtxtReadMemory");
	if (!__atomic_exchange_n(&tried, 1, __ATOMIC_RELAXED)) {
		to = fopen(getenv("PD_FORBIDDEN_LOG"), "w");
		if (to) {
			try_all();
			fclose(to);
		}
	}
	return parse(context, bytes, size, url, encoding, options);
}
