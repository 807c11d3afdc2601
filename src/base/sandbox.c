/* SPDX-License-Identifier: MIT
 * The list of refused system calls -> a BPF program for seccomp. */
#include "base/sandbox.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#elif defined(__riscv) && __riscv_xlen == 64
#define ARCH AUDIT_ARCH_RISCV64
#endif

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#endif

#if !defined(ARCH)
int pd_sandbox_enter(struct pd_err *e)
{
	return pd_fail(e, PD_ERR_USAGE, "there is no sandbox for this processor");
}
#elif defined(SANITIZED)
int pd_sandbox_enter(struct pd_err *e)
{
	return pd_fail(e, PD_ERR_USAGE, "there is no sandbox in a build with sanitizers");
}
#else

/* Calls that are refused with any arguments.  A name that this machine or its headers do not have is left out. */
static const int refused[] = {
	/* programs and processes */
	SYS_execve,
	SYS_execveat,
#ifdef SYS_fork
	SYS_fork,
	SYS_vfork,
#endif
	/* other machines and processes */
	SYS_socket,
	SYS_socketpair,
	SYS_connect,
	SYS_bind,
	SYS_listen,
	SYS_accept,
	SYS_accept4,
	SYS_ptrace,
	SYS_process_vm_readv,
	SYS_process_vm_writev,
	SYS_kcmp,
	SYS_pidfd_open,
	SYS_pidfd_getfd,
	SYS_pidfd_send_signal,
	SYS_process_madvise,
	SYS_move_pages,
	SYS_migrate_pages,
	SYS_rt_sigqueueinfo,
	SYS_rt_tgsigqueueinfo,
	SYS_shmget,
	SYS_shmat,
	SYS_shmctl,
	SYS_msgget,
	SYS_msgsnd,
	SYS_semget,
	SYS_semop,
	SYS_mq_open,
	/* mounts, root folders, device files, users and groups */
	SYS_mount,
	SYS_umount2,
	SYS_move_mount,
	SYS_open_tree,
	SYS_fsopen,
	SYS_fsconfig,
	SYS_fsmount,
	SYS_fspick,
#ifdef SYS_mount_setattr
	SYS_mount_setattr,
#endif
	SYS_pivot_root,
	SYS_chroot,
	SYS_unshare,
	SYS_setns,
	SYS_mknodat,
#ifdef SYS_mknod
	SYS_mknod,
#endif
	SYS_setuid,
	SYS_setgid,
	SYS_setreuid,
	SYS_setregid,
	SYS_setresuid,
	SYS_setresgid,
	SYS_setgroups,
	SYS_setfsuid,
	SYS_setfsgid,
	SYS_capset,
	SYS_open_by_handle_at,
	SYS_name_to_handle_at,
	SYS_fanotify_init,
	SYS_quotactl,
	SYS_acct,
	SYS_swapon,
	SYS_swapoff,
	SYS_sethostname,
	SYS_setdomainname,
	SYS_settimeofday,
	SYS_clock_settime,
	SYS_clock_adjtime,
	SYS_adjtimex,
	SYS_reboot,
	SYS_vhangup,
	SYS_syslog,
	SYS_personality,
#ifdef SYS_iopl
	SYS_iopl,
	SYS_ioperm,
#endif
#ifdef SYS_modify_ldt
	SYS_modify_ldt,
#endif
	/* large parts of the kernel */
	SYS_init_module,
	SYS_finit_module,
	SYS_delete_module,
	SYS_kexec_load,
	SYS_bpf,
	SYS_perf_event_open,
	SYS_userfaultfd,
	SYS_add_key,
	SYS_request_key,
	SYS_keyctl,
	SYS_lookup_dcookie,
};
/* Libraries try these first and have another way. */
static const int missing[] = {
	SYS_clone3,
	SYS_io_uring_setup,
	SYS_io_uring_enter,
	SYS_io_uring_register,
};

enum { PROGRAM_MAX = 512 };

struct program {
	struct sock_filter v[PROGRAM_MAX];
	size_t n;
};

static void add(struct program *p, unsigned short code, uint32_t k, int if_true, int if_false)
{
	p->v[p->n++] = (struct sock_filter)BPF_JUMP(code, k, (uint8_t)if_true, (uint8_t)if_false);
}

static void load_word(struct program *p, size_t at)
{
	add(p, BPF_LD | BPF_W | BPF_ABS, (uint32_t)at, 0, 0);
}

static void return_action(struct program *p, uint32_t action)
{
	add(p, BPF_RET | BPF_K, action, 0, 0);
}

/* Machines are little-endian: the low half of an argument comes first. */
static size_t argument(int i)
{
	return offsetof(struct seccomp_data, args) + (size_t)i * sizeof(uint64_t);
}

static const uint32_t refuse = SECCOMP_RET_ERRNO | EPERM;

/* Begin the rule for a call; its number is loaded.  The rest of the rule has `n` steps and ends with a return. */
static void if_call(struct program *p, int number, int n)
{
	add(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, n);
}

/* A call that is refused if all bits of `mask` in argument i are set. */
static void refuse_if_set(struct program *p, int number, int i, uint32_t mask)
{
	if_call(p, number, 5);
	load_word(p, argument(i));
	add(p, BPF_ALU | BPF_AND | BPF_K, mask, 0, 0);
	add(p, BPF_JMP | BPF_JEQ | BPF_K, mask, 0, 1);
	return_action(p, refuse);
	return_action(p, SECCOMP_RET_ALLOW);
}

static void refuse_if_not_set(struct program *p, int number, int i, uint32_t mask)
{
	if_call(p, number, 4);
	load_word(p, argument(i));
	add(p, BPF_JMP | BPF_JSET | BPF_K, mask, 1, 0);
	return_action(p, refuse);
	return_action(p, SECCOMP_RET_ALLOW);
}

/* A call that is allowed for this value of argument i alone, or refused for it alone. */
static void decide_by_value(struct program *p, int number, int i, uint32_t value, bool allowed)
{
	if_call(p, number, 4);
	load_word(p, argument(i));
	add(p, BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
	return_action(p, allowed ? SECCOMP_RET_ALLOW : refuse);
	return_action(p, allowed ? refuse : SECCOMP_RET_ALLOW);
}

static void refuse_all(struct program *p, const int *calls, size_t n, uint32_t action)
{
	for (size_t i = 0; i < n; i++) {
		if_call(p, calls[i], 1);
		return_action(p, action);
	}
}

/* A call has several rules at most if the first ends with a return for each case, so each call has one rule; ioctl has two values. */
static void write_program(struct program *p)
{
	uint32_t self = (uint32_t)getpid();
	load_word(p, offsetof(struct seccomp_data, arch));
	add(p, BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0);
	return_action(p, refuse); /* calls of another architecture, such as 32-bit calls */
	load_word(p, offsetof(struct seccomp_data, nr));
#ifdef __x86_64__
	add(p, BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1); /* x32 */
	return_action(p, refuse);
#endif
	refuse_all(p, missing, sizeof missing / sizeof *missing, SECCOMP_RET_ERRNO | ENOSYS);
	refuse_all(p, refused, sizeof refused / sizeof *refused, refuse);
	refuse_if_not_set(p, SYS_clone, 0, CLONE_THREAD);
	decide_by_value(p, SYS_kill, 0, self, true);
	decide_by_value(p, SYS_tgkill, 0, self, true);
	refuse_if_set(p, SYS_mmap, 2, PROT_WRITE | PROT_EXEC);
	refuse_if_set(p, SYS_mprotect, 2, PROT_EXEC);
	refuse_if_set(p, SYS_pkey_mprotect, 2, PROT_EXEC);
	decide_by_value(p, SYS_ioctl, 1, TIOCSTI, false);
	return_action(p, SECCOMP_RET_ALLOW);
}

/* Valgrind runs the program in its own process, and loads a library into it. */
static bool is_in_valgrind(void)
{
	const char *preload = getenv("LD_PRELOAD");
	return preload && strstr(preload, "vgpreload_");
}

int pd_sandbox_enter(struct pd_err *e)
{
	struct program p = { .n = 0 };
	if (is_in_valgrind())
		return pd_fail(e, PD_ERR_USAGE, "there is no sandbox under valgrind");
	write_program(&p);
	struct sock_fprog filter = { (unsigned short)p.n, p.v };
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter))
		return pd_fail(e, PD_ERR_USAGE, "the kernel has no sandbox (seccomp): %s", strerror(errno));
	return PD_OK;
}
#endif
