/* SPDX-License-Identifier: MIT
 *
 * Make the n-th step of one kind fail in an unmodified program.  The library is loaded by LD_PRELOAD and counts from
 * main() on.
 *
 *	PD_FAULT=write:7	the seventh write fails; write:7+ it and all later ones; write:0 none: only count
 *	PD_FAULT_ERROR=5	errno of a failed charset (iconv); other kinds use EIO
 *	PD_FAULT_LOG=FILE	two numbers of 64 bits: the steps, and the failed steps
 *
 * "power" reports each step in advance, for a simulation of power cuts (tests/power.py): a line "CALL DESCRIPTOR
 * FLAGS PATH" is written to the socket PD_FAULT_SOCKET, and a byte is read from it.
 *
 * No step of the kind "signal" fails: after the n-th step, SIGINT and SIGTERM are sent.  Files then have names from
 * the start (no O_TMPFILE), so that a file that remains is seen.
 *
 * Memory fails by replacing malloc, a charset by replacing iconv_open.  System calls are caught in the kernel (a
 * seccomp filter that sends SIGSYS), because the streams of the C library call them internally.  Steps never fail if
 * this would break other processes: writes to standard error, and everything before main().
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <iconv.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

/* Calls that this architecture has not: a number that none has. */
#define NONE 100000
#ifndef SYS_open
#define SYS_open NONE
#define SYS_rename NONE
#define SYS_link NONE
#define SYS_unlink NONE
#define SYS_rmdir NONE
#define SYS_mkdir NONE
#define SYS_stat NONE
#define SYS_lstat NONE
#define SYS_access NONE
#define SYS_readlink NONE
#endif
#ifndef SYS_renameat
#define SYS_renameat NONE
#endif
#ifndef SYS_faccessat2
#define SYS_faccessat2 439
#endif

enum { MALLOC, THREAD, ICONV, SIGNAL = 16, POWER };

static const struct kind {
	const char *name;
	int error;
	int n;
	long calls[18];
} kinds[] = {
	[MALLOC] = { "malloc", ENOMEM, 0, { 0 } },
	[THREAD] = { "thread", EAGAIN, 0, { 0 } },
	[ICONV] = { "iconv", EIO, 0, { 0 } },
	{ "read", EIO, 5, { SYS_read, SYS_pread64, SYS_readv, SYS_preadv, SYS_getdents64 } },
	{ "write", ENOSPC, 6, { SYS_write, SYS_pwrite64, SYS_writev, SYS_copy_file_range, SYS_ftruncate, SYS_fallocate } },
	{ "short-write", 0, 2, { SYS_write, SYS_pwrite64 } },
	{ "short-read", 0, 2, { SYS_read, SYS_pread64 } },
	{ "sync", EIO, 5, { SYS_fsync, SYS_fdatasync, SYS_sync_file_range, SYS_msync, SYS_syncfs } },
	{ "rename", EIO, 5, { SYS_rename, SYS_renameat, SYS_renameat2, SYS_link, SYS_linkat } },
	{ "close", EIO, 1, { SYS_close } },
	{ "seek", EIO, 1, { SYS_lseek } },
	{ "map", ENOMEM, 2, { SYS_mmap, SYS_mremap } },
	{ "open", EMFILE, 2, { SYS_open, SYS_openat } },
	{ "stat",
	  EIO,
	  10,
	  { SYS_stat, SYS_lstat, SYS_fstat, SYS_newfstatat, SYS_statx, SYS_access, SYS_faccessat, SYS_faccessat2, SYS_readlink,
	    SYS_readlinkat } },
	{ "remove", EIO, 3, { SYS_unlink, SYS_unlinkat, SYS_rmdir } },
	{ "mkdir", ENOSPC, 2, { SYS_mkdir, SYS_mkdirat } },
	[SIGNAL] = { "signal",
		     0,
		     12,
		     { SYS_open, SYS_openat, SYS_rename, SYS_renameat, SYS_renameat2, SYS_link, SYS_linkat, SYS_unlink,
		       SYS_unlinkat, SYS_rmdir, SYS_mkdir, SYS_mkdirat } },
	[POWER] = { "power",
		    0,
		    16,
		    { SYS_open, SYS_openat, SYS_rename, SYS_renameat, SYS_renameat2, SYS_link, SYS_linkat, SYS_unlink, SYS_unlinkat,
		      SYS_rmdir, SYS_mkdir, SYS_mkdirat, SYS_fsync, SYS_fdatasync, SYS_syncfs, SYS_ftruncate } },
};

static const struct kind *kind;
static long at; /* the step that fails; 0: none */
static int and_all_that_follow, counting;
static uint64_t nowhere[2];
static volatile uint64_t *steps = nowhere;

/* A system call from an address that the filter lets through. */
long fault_syscall(long number, long a, long b, long c, long d, long e, long f);
extern const char fault_syscall_end[];
#if defined(__x86_64__)
__asm__(".text\n.globl fault_syscall\n.hidden fault_syscall\nfault_syscall:\n"
	"mov %rdi, %rax\nmov %rsi, %rdi\nmov %rdx, %rsi\nmov %rcx, %rdx\nmov %r8, %r10\nmov %r9, %r8\nmov 8(%rsp), %r9\n"
	"syscall\n.globl fault_syscall_end\n.hidden fault_syscall_end\nfault_syscall_end:\nret\n");
#define ARGUMENT(u, i) ((u)->uc_mcontext.gregs[(const int[]){ REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8, REG_R9 }[i]])
#define RESULT(u) ((u)->uc_mcontext.gregs[REG_RAX])
#elif defined(__aarch64__)
__asm__(".text\n.globl fault_syscall\n.hidden fault_syscall\nfault_syscall:\n"
	"mov x8, x0\nmov x0, x1\nmov x1, x2\nmov x2, x3\nmov x3, x4\nmov x4, x5\nmov x5, x6\n"
	"svc #0\n.globl fault_syscall_end\n.hidden fault_syscall_end\nfault_syscall_end:\nret\n");
#define ARGUMENT(u, i) ((u)->uc_mcontext.regs[i])
#define RESULT(u) ((u)->uc_mcontext.regs[0])
#endif

/* One more step: does it fail? */
static int fails(void)
{
	if (!__atomic_load_n(&counting, __ATOMIC_RELAXED))
		return 0;
	uint64_t n = __atomic_add_fetch(&steps[0], 1, __ATOMIC_RELAXED);
	int fail = at && (and_all_that_follow ? n >= (uint64_t)at : n == (uint64_t)at);
	if (fail)
		__atomic_add_fetch(&steps[1], 1, __ATOMIC_RELAXED);
	return fail;
}

/* --- memory --- */

extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t k, size_t n);
extern void *__libc_realloc(void *p, size_t n);
extern void *__libc_memalign(size_t align, size_t n);

static int refused(void)
{
	if (!kind || kind != &kinds[MALLOC] || !fails())
		return 0;
	errno = ENOMEM;
	return 1;
}

void *malloc(size_t n)
{
	return refused() ? NULL : __libc_malloc(n);
}

void *calloc(size_t k, size_t n)
{
	return refused() ? NULL : __libc_calloc(k, n);
}

void *realloc(void *p, size_t n)
{
	return refused() ? NULL : __libc_realloc(p, n);
}

void *aligned_alloc(size_t align, size_t n)
{
	return refused() ? NULL : __libc_memalign(align, n);
}

int posix_memalign(void **p, size_t align, size_t n)
{
	void *q = refused() ? NULL : __libc_memalign(align, n);
	if (q)
		*p = q;
	return q ? 0 : ENOMEM;
}

/* --- threads --- */

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
	__typeof__(&pthread_create) next;
	*(void **)&next = dlsym(RTLD_NEXT, "pthread_create");
	return kind == &kinds[THREAD] && fails() ? EAGAIN : next(thread, attr, run, arg);
}

/* --- charsets --- */

iconv_t iconv_open(const char *to, const char *from)
{
	__typeof__(&iconv_open) next;
	const char *error = getenv("PD_FAULT_ERROR");
	*(void **)&next = dlsym(RTLD_NEXT, "iconv_open");
	if (kind != &kinds[ICONV] || !fails())
		return next(to, from);
	errno = error ? atoi(error) : kind->error;
	return (iconv_t)-1;
}

/* --- system calls --- */

/* A call that is caught while its signal is held back kills the process. */
int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	__typeof__(&sigprocmask) next;
	sigset_t free_of_ours;
	*(void **)&next = dlsym(RTLD_NEXT, "sigprocmask");
	if (set) {
		free_of_ours = *set;
		if (how != SIG_UNBLOCK)
			sigdelset(&free_of_ours, SIGSYS);
	}
	return next(how, set ? &free_of_ours : NULL, old);
}

int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	return sigprocmask(how, set, old) ? errno : 0;
}

static long call_with_signals(long call, const long *a)
{
	long flags = call == SYS_open ? a[1] : call == SYS_openat ? a[2] : 0;
	int come = fails();
	long result = (flags & O_TMPFILE) == O_TMPFILE ? -EOPNOTSUPP : fault_syscall(call, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (come) {
		kill(getpid(), SIGINT);
		kill(getpid(), SIGTERM);
	}
	return result;
}

/* --- power cuts --- */

static int to_simulation;

static char *add_number(char *to, long n)
{
	char digits[24];
	int i = 0;
	unsigned long u = n < 0 ? -(unsigned long)n : (unsigned long)n;
	do
		digits[i++] = (char)('0' + u % 10);
	while (u /= 10);
	if (n < 0)
		*to++ = '-';
	while (i)
		*to++ = digits[--i];
	*to++ = ' ';
	return to;
}

static void report_step(long call, const long *a)
{
	static int busy;
	char line[4200], *to = line, byte;
	int at_folder = call == SYS_openat,
	    syncs = call == SYS_fsync || call == SYS_fdatasync || call == SYS_syncfs || call == SYS_ftruncate;
	const char *path = call == SYS_open ? (const char *)a[0] : at_folder ? (const char *)a[1] : "";
	long flags = call == SYS_open ? a[1] : at_folder ? a[2] : call == SYS_ftruncate ? a[1] : 0;
	if ((call == SYS_open || at_folder) && !(flags & (O_CREAT | O_TRUNC)))
		return;
	to = add_number(to, call);
	to = add_number(to, syncs || at_folder ? (int)a[0] : AT_FDCWD);
	to = add_number(to, flags);
	for (size_t i = 0; path[i] && i < 4096; i++)
		*to++ = path[i];
	*to++ = '\n';
	while (__atomic_exchange_n(&busy, 1, __ATOMIC_ACQUIRE))
		fault_syscall(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
	fault_syscall(SYS_write, to_simulation, (long)line, to - line, 0, 0, 0);
	fault_syscall(SYS_read, to_simulation, (long)&byte, 1, 0, 0, 0);
	__atomic_store_n(&busy, 0, __ATOMIC_RELEASE);
}

static void on_call(int sig, siginfo_t *info, void *context)
{
	ucontext_t *u = context;
	long call = info->si_syscall, a[6];
	for (int i = 0; i < 6; i++)
		a[i] = (long)ARGUMENT(u, i);
	if (kind == &kinds[SIGNAL]) {
		RESULT(u) = call_with_signals(call, a);
		return;
	}
	if (kind == &kinds[POWER]) {
		report_step(call, a);
		RESULT(u) = fault_syscall(call, a[0], a[1], a[2], a[3], a[4], a[5]);
		return;
	}
	int to_stderr = (call == SYS_write || call == SYS_writev) && a[0] == STDERR_FILENO;
	int fail = !to_stderr && fails();
	/* Close a file even if close fails; if no other error occurs, half of the data is written or read. */
	if (fail && !kind->error && a[2] > 1)
		a[2] /= 2;
	long result = fail && kind->error && call != SYS_close ? 0 : fault_syscall(call, a[0], a[1], a[2], a[3], a[4], a[5]);
	RESULT(u) = fail && kind->error ? -kind->error : result;
}

static int catch_calls(void)
{
	struct sigaction a = { .sa_sigaction = on_call, .sa_flags = SA_SIGINFO | SA_NODEFER };
	uint64_t free_at = (uint64_t)(uintptr_t)fault_syscall_end;
	struct sock_filter code[64], *p = code;
	*p++ = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, instruction_pointer));
	*p++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)free_at, 0, 3);
	*p++ = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, instruction_pointer) + 4);
	*p++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(free_at >> 32), 0, 1);
	*p++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	*p++ = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (int i = 0; i < kind->n; i++) {
		*p++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)kind->calls[i], 0, 1);
		*p++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
	}
	*p++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = { (unsigned short)(p - code), code };
	return sigaction(SIGSYS, &a, NULL) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static void give_up(const char *why)
{
	if (write(STDERR_FILENO, why, strlen(why)) < 0)
		_exit(99);
	_exit(99);
}

static void begin(void)
{
	const char *fault = getenv("PD_FAULT"), *log = getenv("PD_FAULT_LOG");
	if (!fault || !log)
		return;
	int fd = open(log, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || ftruncate(fd, sizeof nowhere) < 0)
		give_up("no PD_FAULT_LOG\n");
	void *map = mmap(NULL, sizeof nowhere, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	const char *colon = strchr(fault, ':');
	for (size_t i = 0; colon && i < sizeof kinds / sizeof *kinds; i++)
		if (strlen(kinds[i].name) == (size_t)(colon - fault) && !strncmp(kinds[i].name, fault, (size_t)(colon - fault)))
			kind = &kinds[i];
	if (map == MAP_FAILED || !kind)
		give_up("PD_FAULT is KIND:NUMBER\n");
	at = atol(colon + 1);
	and_all_that_follow = fault[strlen(fault) - 1] == '+';
	steps = map;
	to_simulation = getenv("PD_FAULT_SOCKET") ? atoi(getenv("PD_FAULT_SOCKET")) : -1;
	if (kind->n && catch_calls())
		give_up("system calls cannot be caught here\n");
	__atomic_store_n(&counting, 1, __ATOMIC_RELAXED);
}

static int (*real_main)(int, char **, char **);

static int counted_main(int argc, char **argv, char **env)
{
	begin();
	return real_main(argc, argv, env);
}

int __libc_start_main(int (*f)(int, char **, char **), int argc, char **argv, void (*init)(void), void (*fini)(void),
		      void (*rtld_fini)(void), void *stack_end);

int __libc_start_main(int (*f)(int, char **, char **), int argc, char **argv, void (*init)(void), void (*fini)(void),
		      void (*rtld_fini)(void), void *stack_end)
{
	__typeof__(&__libc_start_main) next;
	*(void **)&next = dlsym(RTLD_NEXT, "__libc_start_main");
	real_main = f;
	return next(counted_main, argc, argv, init, fini, rtld_fini, stack_end);
}
