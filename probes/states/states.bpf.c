// clang-format off
//go:build ignore

// clang-format on
// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * What the threads of the watched processes are doing now: one walk over all tasks
 * (iter/task, since 5.8) adds one to what each of theirs was found in. User space starts
 * some twenty walks a second, and empties the table once a second. Only one walk runs at
 * a time, so nothing is counted while the table is read.
 */
#include "kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char __license[] SEC("license") = "Dual BSD/GPL";

#include "registers.h"
#include "calls.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct inode___here {
	unsigned short i_mode;
	unsigned long i_ino;
};

struct file___here {
	struct inode___here *f_inode;
	void *private_data;
};

struct socket___here {
	struct sock *sk;
};

struct fdtable {
	unsigned int max_fds;
	struct file___here **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct task_struct___here {
	int exit_state;
	unsigned in_iowait : 1;
	struct files_struct *files;
	int on_cpu;
	unsigned long nvcsw;
	unsigned long nivcsw;
};

struct bpf_iter__task {
	struct task_struct *task;
};

#pragma clang attribute pop

/* Bits of a task's state (include/linux/sched.h). */
#define TASK_UNINTERRUPTIBLE 0x02
#define TASK_STOPPED 0x04
#define TASK_TRACED 0x08
#define TASK_NOLOAD 0x400

/* include/uapi/linux/futex.h; the rest are flags. glibc's, Go's and Rust's locks have the
 * value 2 while others wait. */
#define FUTEX_OPERATION 0x7f
#define FUTEX_WAIT 0
#define FUTEX_LOCK_PI 6
#define FUTEX_WAIT_BITSET 9
#define FUTEX_LOCK_PI2 13
#define TAKEN 2

/* What a thread is in: enum of states.go. */
enum doing { RUNS = 1, SLEEPS, UNINTERRUPTIBLE, STOPPED };

/* What a descriptor is of: enum of states.go. */
enum kind { OF_OTHER, OF_SOCKET, OF_PIPE, OF_FILE };

/* include/uapi/linux/stat.h */
#define S_IFMT 0170000
#define S_IFSOCK 0140000
#define S_IFREG 0100000
#define S_IFIFO 0010000

struct found_key {
	__u64 object;	/* the descriptor's inode, or the futex's address */
	__u8 raddr[16]; /* whom a socket that this process connected has at its other end */
	__u16 rport;
	__u16 family; /* 0: it is no such socket */
	__u32 tgid;
	__u32 tid;
	__s32 nr; /* the system call; negative: in none */
	__s32 fd; /* its first argument where that is a descriptor; -1 */
	__u8 doing;
	__u8 io;   /* it waits for a device */
	__u8 lock; /* for a lock that another holds, not to be told of something */
	__u8 kind; /* of the descriptor */
};

struct found_value {
	__u32 n;
	__u32 parent; /* that is watched with those that it began; 0: found for itself alone */
	__u8 comm[16];
};

/* Processes that are watched; with CHILDREN those that they began, too. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 256);
	__type(key, __u32);
	__type(value, __u8);
} watched SEC(".maps");

#define CHILDREN 2

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, struct found_key);
	__type(value, struct found_value);
} found SEC(".maps");

/* Where a thread slept when it was looked at last. While it has been on no CPU since, it is
 * there still, and is not read again: most threads of a server are such. */
struct asleep {
	struct found_key k;
	__u64 start; /* its number may be another thread's by now */
	__u64 switches;
	__u64 state;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, __u32);
	__type(value, struct asleep);
} asleep SEC(".maps");

/* Calls whose first argument is a descriptor, and that of futex(2). */
#define MOST_CALLS 512
const volatile __u8 on_fd[MOST_CALLS];
const volatile __u32 nr_futex = 202;

__u64 lost; /* that found no room */

static __always_inline void whom(struct found_key *k, const struct sock *sk)
{
	__u16 family = BPF_CORE_READ(sk, __sk_common.skc_family);

	if (BPF_CORE_READ(sk, sk_max_ack_backlog)) /* it listens, or was accepted */
		return;
	k->rport = bpf_ntohs(BPF_CORE_READ(sk, __sk_common.skc_dport));
	if (!k->rport)
		return;
	if (family == AF_INET)
		BPF_CORE_READ_INTO((__u32 *)k->raddr, sk, __sk_common.skc_daddr);
	else if (family == AF_INET6)
		BPF_CORE_READ_INTO((struct in6_addr *)k->raddr, sk, __sk_common.skc_v6_daddr);
	else
		return;
	k->family = family;
}

/* What is behind a descriptor, nothing when it is none. */
static __always_inline void descriptor(struct found_key *k, struct task_struct *p, __u32 fd)
{
	struct fdtable *t = BPF_CORE_READ((struct task_struct___here *)p, files, fdt);
	struct file___here **at = BPF_CORE_READ(t, fd), *file = NULL;
	struct socket___here *s;

	if (!at || fd >= BPF_CORE_READ(t, max_fds))
		return;
	if (bpf_probe_read_kernel(&file, sizeof(file), at + fd) || !file)
		return;
	k->object = BPF_CORE_READ(file, f_inode, i_ino);
	switch (BPF_CORE_READ(file, f_inode, i_mode) & S_IFMT) {
	case S_IFSOCK:
		k->kind = OF_SOCKET;
		s = BPF_CORE_READ(file, private_data);
		whom(k, BPF_CORE_READ(s, sk));
		return;
	case S_IFIFO:
		k->kind = OF_PIPE;
		return;
	case S_IFREG:
		k->kind = OF_FILE;
	}
}

static __always_inline void waits_in(struct found_key *k, struct task_struct *p)
{
	struct system_call c = {.nr = -1};
	__u32 nr;

	read_call(&c, p);
	k->nr = c.nr;
	nr = c.nr;
	barrier_var(nr);		  /* or the check below would be of another register */
	if (c.nr < 0 || nr >= MOST_CALLS) /* a 32-bit call's number is of another table */
		return;
	if (on_fd[nr & (MOST_CALLS - 1)]) {
		k->fd = (__s32)c.args[0];
		if (k->fd >= 0)
			descriptor(k, p, k->fd);
	} else if (nr == nr_futex) {
		__u32 op = (__u32)c.args[1] & FUTEX_OPERATION;

		k->object = c.args[0];
		k->lock = op == FUTEX_LOCK_PI || op == FUTEX_LOCK_PI2 ||
			  ((op == FUTEX_WAIT || op == FUTEX_WAIT_BITSET) && (__u32)c.args[2] == TAKEN);
	}
}

/* A service that forks answers by whichever of its processes: the one that is slow next may be
 * one that began a moment ago. The family is the parent of such. */
static __always_inline int is_watched(struct task_struct *p, __u32 tgid, __u32 *family)
{
	__u32 parent = p->real_parent->tgid;
	__u8 *how = bpf_map_lookup_elem(&watched, &parent);

	*family = how && *how == CHILDREN ? parent : 0;
	return *family || bpf_map_lookup_elem(&watched, &tgid);
}

/* What a thread that is not running was found in. */
static __always_inline void find(struct found_key *k, struct task_struct *p, __u32 state)
{
	if (state & (TASK_STOPPED | TASK_TRACED)) {
		k->doing = STOPPED;
		return;
	}
	k->doing = SLEEPS;
	if (state & TASK_UNINTERRUPTIBLE && !(state & TASK_NOLOAD)) {
		k->doing = UNINTERRUPTIBLE;
		k->io = BPF_CORE_READ_BITFIELD_PROBED((struct task_struct___here *)p, in_iowait);
	}
	waits_in(k, p);
}

static __always_inline void count(struct found_key *k, struct task_struct *p, __u32 family)
{
	struct found_value *v = bpf_map_lookup_elem(&found, k), first = {.n = 1, .parent = family};

	if (v) {
		v->n++;
		return;
	}
	bpf_probe_read_kernel_str(first.comm, sizeof(first.comm), p->comm);
	if (bpf_map_update_elem(&found, k, &first, BPF_NOEXIST))
		lost++;
}

SEC("iter/task")
int look(struct bpf_iter__task *ctx)
{
	struct task_struct *p = ctx->task;
	struct task_struct___here *t = (void *)p;
	struct asleep now = {.k = {.nr = -1, .fd = -1}}, *before;
	__u32 tid, family;

	if (!p)
		return 0;
	now.k.tgid = p->tgid;
	if (!is_watched(p, now.k.tgid, &family))
		return 0;
	if (t->exit_state)
		return 0;
	tid = now.k.tid = p->pid;
	now.state = state_of(p);
	if (!now.state) {
		now.k.doing = RUNS;
		count(&now.k, p, family);
		return 0;
	}
	now.start = p->start_time;
	now.switches = t->nvcsw + t->nivcsw;
	before = bpf_map_lookup_elem(&asleep, &tid);
	/* Who is on a CPU still is about to sleep, somewhere else. */
	if (before && before->switches == now.switches && before->start == now.start &&
	    before->state == now.state && !(bpf_core_field_exists(t->on_cpu) && t->on_cpu)) {
		now.k = before->k;
	} else {
		find(&now.k, p, now.state);
		bpf_map_update_elem(&asleep, &tid, &now, BPF_ANY);
	}
	count(&now.k, p, family);
	return 0;
}
