// clang-format off
//go:build ignore

// clang-format on
// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * System calls of the chosen processes, counted where they return: by process,
 * thread, call, descriptor and errno.
 *
 * The table of rows exists twice. Programs write to the one that the lowest bit of
 * `epoch` names; once a second user space adds one to epoch, waits for a grace
 * period, and reads and empties the other in peace: nothing is counted twice or
 * not at all.
 */
#include "kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char __license[] SEC("license") = "Dual BSD/GPL";

#include "spent.h"
#include "tables.h"
#include "regs.h"
#include "descriptors.h"
#include "peek.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct signal_struct {
	atomic_t live;
};

typedef struct {
	unsigned long sig[1];
} sigset_t;

struct sigpending {
	sigset_t signal;
};

struct task_struct___signal {
	struct signal_struct *signal;
	struct sigpending pending;
};
#pragma clang attribute pop

#define SIGKILL_BIT (1UL << 8)
#define ERESTARTSYS 512 /* from here on codes that no process sees: include/linux/errno.h */

/* The thread's process ends, or another thread of it has called execve(2): each
 * thread is sent SIGKILL (kernel/signal.c, zap_other_threads, complete_signal). */
static __always_inline bool is_killed(void)
{
	struct task_struct___signal *task = (void *)bpf_get_current_task();

	return BPF_CORE_READ(task, pending.signal.sig[0]) & SIGKILL_BIT;
}

/* Since when a process is looked at, ns; 0: it is not. */
static __always_inline __u64 target(__u32 pid)
{
	__u32 low = pid & 0xffff;
	__u8 *some = bpf_map_lookup_elem(&maybe, &low);
	__u64 *since;

	if (!some || !*some)
		return 0;
	since = bpf_map_lookup_elem(&targets, &pid);
	return since ? *since : 0;
}

static __always_inline __u64 traced_since(__u32 pid)
{
	if (all)
		return pid == self ? 0 : attached;
	return target(pid);
}

/* The thread's place, made when it has none. */
static __always_inline struct in_call *place_of(__u64 task)
{
	static const struct in_call none;
	struct in_call *in = bpf_map_lookup_elem(&threads, &task);

	if (in)
		return in;
	bpf_map_update_elem(&threads, &task, &none, BPF_NOEXIST);
	in = bpf_map_lookup_elem(&threads, &task);
	if (!in)
		add(&lost[LOST_THREADS], 1);
	return in;
}

static __always_inline void fill(struct in_call *in, const void *regs, long nr, __u64 who)
{
	bool compat = is_compat();
	struct arguments args = {};
	__u32 kind = 0, n = nr;

	if (!compat && is_x86())
		n &= ~X32_BIT;
	if (n < NUMBERS) {
		asm volatile("" : "+r"(n)); /* or the mask is left out, and the verifier wants it */
		n &= NUMBERS - 1;
		kind = compat ? kinds32[n] : kinds[n];
	}
	in->pid = who >> 32;
	in->tid = who;
	in->nr = ((__u32)nr & ~NR_COMPAT) | (compat ? NR_COMPAT : 0);
	in->kind = kind;
	in->fd = FD_NONE;
	in->asked = 0;
	if (!kind)
		return;
	arguments_of(&args, regs, compat);
	if (kind & KIND_FD && (__s32)args.a[0] >= 0)
		in->fd = args.a[0];
	in->buffer = args.a[1];
	if (kind & KIND_ASKED_2)
		in->asked = args.a[2];
	else if (kind & KIND_ASKED_3)
		in->asked = args.a[3];
	else if (kind & KIND_ASKED_4)
		in->asked = args.a[4];
}

static __always_inline struct call_value *look_up(const struct call_key *key, __u32 odd)
{
	if (odd)
		return bpf_map_lookup_elem(&calls_b, key);
	return bpf_map_lookup_elem(&calls_a, key);
}

/* The row of a call, made when there is none; coarser where rows are too many. */
static __noinline struct call_value *new_row(struct call_key *key, __u32 odd)
{
	static const struct call_value none;
	struct call_value *v;
	__u32 n = rows[odd & 1];
	bool fine = n < FINE;

	if (!fine) {
		key->tid = 0;
		key->fd = FD_SEVERAL;
		if (n >= COARSE)
			key->pid = 0;
		v = look_up(key, odd);
		if (v)
			return v;
	}
	if (odd)
		bpf_map_update_elem(&calls_b, key, &none, BPF_NOEXIST);
	else
		bpf_map_update_elem(&calls_a, key, &none, BPF_NOEXIST);
	v = look_up(key, odd);
	if (!v)
		return NULL;
	__sync_fetch_and_add(&rows[odd & 1], 1);
	return v;
}

/* The bits of how many times 2.048 µs it took: see recording.CallBound. */
static __always_inline __u32 bucket(__u64 took)
{
	__u64 x = took >> 11;
	__u32 i = 0;

	if (x >> 32)
		return BUCKETS - 1;
	if (x >> 16) {
		i += 16;
		x >>= 16;
	}
	if (x >> 8) {
		i += 8;
		x >>= 8;
	}
	if (x >> 4) {
		i += 4;
		x >>= 4;
	}
	if (x >> 2) {
		i += 2;
		x >>= 2;
	}
	if (x >> 1) {
		i += 1;
		x >>= 1;
	}
	i += x;
	return i < BUCKETS ? i : BUCKETS - 1;
}

/* comm: of who made it; NULL: who runs now. timed: how long it took is known. */
static __always_inline void count(const struct in_call *in, long ret, __u64 now, const __u8 *comm, bool timed)
{
	struct call_key key = {.pid = in->pid, .tid = in->tid, .fd = in->fd, .nr = in->nr};
	__u64 took = now - in->begin, done = 0;
	__u32 odd = epoch & 1, b = bucket(took);
	struct call_value *v;

	if (ret < 0 && ret >= -4095)
		key.err = -ret;
	else if (ret > 0 && in->kind & (KIND_READ | KIND_WRITE))
		done = ret;
	v = look_up(&key, odd);
	if (!v) {
		v = new_row(&key, odd);
		if (!v) {
			add(&lost[LOST_ROWS], 1);
			return;
		}
		if (key.pid && comm)
			__builtin_memcpy(v->comm, comm, sizeof(v->comm));
		else if (key.pid)
			bpf_get_current_comm(v->comm, sizeof(v->comm));
		if (key.fd >= 0 && !comm)
			note_fd(key.pid, key.fd);
	}
	asm volatile("" : "+r"(b)); /* verifiers before 6.5 forget its bounds */
	b &= BUCKETS - 1;
	/* Atomic, for the rows of several threads; measured no dearer than plain. */
	add(&v->n, 1);
	add(&v->asked, in->asked);
	add(&v->done, done);
	if (!timed)
		return;
	add(&v->sum, took);
	__sync_fetch_and_add(&v->hist[b], 1);
	if (took >= v->max) {
		v->max = took;
		v->max_at = in->begin;
	}
}

#include "uring.h"

SEC("tp_btf/sys_enter")
int BPF_PROG(enter_call, struct pt_regs *regs, long nr)
{
	__u64 who = bpf_get_current_pid_tgid(), *ns = takes(SHORT_RUN);
	struct in_call *in;

	if (!traced_since(who >> 32))
		return 0;
	takes_more(ns, WHOLE_RUN - SHORT_RUN);
	in = place_of(bpf_get_current_task());
	if (!in)
		return 0;
	fill(in, regs, nr, who);
	in->begin = bpf_ktime_get_ns();
	return 0;
}

/* A call whose beginning was not seen. */
static __always_inline void unseen(struct in_call *in, const void *regs, long nr, long ret, __u64 who,
				   __u64 since, __u64 now)
{
	fill(in, regs, nr, who);
	if (in->kind & KIND_FORK && !ret)
		return; /* a child that begins: its parent's call is counted there */
	/* It began before we looked, and took that long at least. Where threads found
	 * no place, nothing is known. */
	in->begin = lost[LOST_THREADS] ? now : since;
	add(&before, 1);
	count(in, ret, now, NULL, true);
}

SEC("tp_btf/sys_exit")
int BPF_PROG(leave_call, struct pt_regs *regs, long ret)
{
	__u64 who = bpf_get_current_pid_tgid(), since = traced_since(who >> 32), task, now;
	__u64 *ns = takes(SHORT_RUN);
	struct in_call *in;

	if (!since)
		return 0;
	takes_more(ns, WHOLE_RUN - SHORT_RUN);
	now = bpf_ktime_get_ns();
	task = bpf_get_current_task();
	in = bpf_map_lookup_elem(&threads, &task);
	if (!in) {
		struct in_call fresh = {};
		long nr = number_of(regs);

		if (nr >= 0)
			unseen(&fresh, regs, nr, ret, who, since, now);
		fresh.begin = 0;
		if (bpf_map_update_elem(&threads, &task, &fresh, BPF_NOEXIST))
			add(&lost[LOST_THREADS], 1);
		return 0;
	}
	if (!in->begin) {
		/* Refused before the tracepoint, by seccomp (kernel/entry/common.c). */
		long nr = number_of(regs);

		if (nr < 0)
			return 0;
		fill(in, regs, nr, who);
		in->begin = now;
	}
	if (ret <= -ERESTARTSYS && is_killed()) {
		in->begin = 0; /* it never returns: strace does not see it either */
		return 0;
	}
	in->tid = who; /* execve(2) changes it */
	count(in, ret, now, NULL, true);
	in->begin = 0;
	if (peek)
		peek_at(in, ret);
	return 0;
}

/* Children of a target are targets. */
SEC("tp_btf/sched_process_fork")
int BPF_PROG(forked, struct task_struct *parent, struct task_struct *child)
{
	__u32 from = parent->tgid, to = child->tgid, low = to & 0xffff;
	__u8 yes = 1;
	__u64 now;

	if (all || from == to || !target(from))
		return 0;
	now = bpf_ktime_get_ns();
	bpf_map_update_elem(&maybe, &low, &yes, BPF_ANY);
	if (bpf_map_update_elem(&targets, &to, &now, BPF_ANY))
		add(&lost[LOST_TARGETS], 1);
	return 0;
}

/* The memory of a task is used again, and so is its number. */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(ended, struct task_struct *p)
{
	__u64 task = (__u64)p;
	__u32 pid = p->tgid;

	if (!traced_since(pid))
		return 0;
	bpf_map_delete_elem(&threads, &task);
	if (!all && ((struct task_struct___signal *)p)->signal->live.counter == 0)
		bpf_map_delete_elem(&targets, &pid);
	return 0;
}
