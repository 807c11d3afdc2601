/* SPDX-License-Identifier: MIT
 *
 * A sandbox for processes that parse hostile pages: the kernel refuses system calls that this program never needs (seccomp).
 *
 * The filter lists the refused calls, not the allowed ones.  The C library, Arrow and the tools of developers make
 * system calls that differ by version and machine; a list of all of them would break with the next release, and would
 * then be turned off.  A compromised process would need them to reach other processes, other machines and the kernel:
 *
 *  - starting programs and processes; threads are allowed;
 *  - sockets of any kind;
 *  - tracing, reading and writing other processes, signals to them;
 *  - mounts, namespaces, root folders, device files, users and groups, capabilities of files;
 *  - kernel modules, BPF, performance counters, io_uring, userfaultfd, keys, and other large parts of the kernel;
 *  - memory that can be written and executed, and making memory executable;
 *  - putting characters into a terminal's input.
 *
 * A refused call fails with EPERM; clone3 and io_uring with ENOSYS, which is how libraries find out that they need another way.
 * Files may be opened as before.  The sandbox cannot be left, and threads and libraries inherit it.
 */
#ifndef PD_BASE_SANDBOX_H
#define PD_BASE_SANDBOX_H

#include "base/err.h"

/* Puts this process with all its threads into the sandbox.  PD_ERR_USAGE: the kernel or this build has none, in words.  Built with
 * sanitizers, and under valgrind, there is none: they need refused calls. */
int pd_sandbox_enter(struct pd_err *e);

#endif
