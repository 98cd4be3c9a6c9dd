// clang-format off
//go:build ignore

// clang-format on
// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Time that threads of a few processes spend off the CPU: what they wait for, how
 * long, who wakes them, and how long they then wait for a CPU.
 *
 * A thread leaves at sched:sched_switch as prev, where it is still current and its
 * stacks can be taken; it is woken at sched:sched_waking, which runs on the CPU of
 * whoever wakes it (sched_wakeup may run on the woken thread's, by an interrupt:
 * kernel/sched/core.c, ttwu_queue_wakelist); it comes back at sched_switch as next.
 *
 * The tables of counts exist twice. Programs write to the one that the lowest bit
 * of epoch names; once a second user space adds one to epoch, waits for a grace
 * period, and reads and empties the other in peace.
 */
#include "kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char __license[] SEC("license") = "Dual BSD/GPL";

#include "registers.h"
#include "calls.h"
#include "top.h"
#include "spent.h"
#include "tables.h"
#include "where.h"
#include "count.h"
#include "hands.h"

static __always_inline bool traced(__u32 tgid)
{
	/* Most switches are of others: a bit is quicker than a search. */
	if (!(filter[(tgid >> 6) & 63] & (1ULL << (tgid & 63))))
		return false;
	return bpf_map_lookup_elem(&closer, &tgid) != NULL;
}

/* State bits of a task (include/linux/sched.h), the same since 4.14. */
#define TASK_INTERRUPTIBLE 1
#define TASK_UNINTERRUPTIBLE 2
#define TASK_STOPPED_OR_TRACED 0xc
#define TASK_DEAD 0x80

static __always_inline __u8 how_of(bool preempt, __u32 state)
{
	if (preempt || !state)
		return HOW_READY;
	if (state & TASK_STOPPED_OR_TRACED)
		return HOW_STOPPED;
	if (state & TASK_INTERRUPTIBLE)
		return HOW_SLEEP;
	return HOW_DISK;
}

static __always_inline void leave(void *ctx, bool preempt, __u32 state, struct task_struct *prev,
				  struct task_struct *next)
{
	static const struct thread zero;
	__u32 tid = prev->pid;
	struct thread *t;

	if (!preempt && state & TASK_DEAD) {
		struct task_struct___signal *p = (void *)prev;
		__u32 tgid = prev->tgid;

		bpf_map_delete_elem(&threads, &tid);
		if (!BPF_CORE_READ(p, signal, live.counter)) /* its number may be another's next */
			bpf_map_delete_elem(&closer, &tgid);
		return;
	}
	t = bpf_map_lookup_elem(&threads, &tid);
	if (!t) {
		bpf_map_update_elem(&threads, &tid, &zero, BPF_NOEXIST);
		t = bpf_map_lookup_elem(&threads, &tid);
		if (!t) {
			lose(LOST_THREADS);
			return;
		}
		t->tokens = stack_rate;
		t->kstack = t->ustack = NO_STACK;
	} else if (t->start && t->how != HOW_READY) {
		lose(LOST_RETURNS);
	}
	t->tgid = prev->tgid;
	t->woken = 0;
	t->seeded = 0;
	t->how = how_of(preempt, state);
	bpf_get_current_comm(t->comm, sizeof(t->comm));
	if (t->how == HOW_READY) {
		t->ran = next->pid;
		bpf_probe_read_kernel(t->ran_comm, sizeof(t->ran_comm), next->comm);
	} else {
		t->waker_tid = 0;
		t->waker_kstack = t->waker_ustack = NO_STACK;
		t->waker_site = 0;
	}
	t->start = bpf_ktime_get_ns();
	if (t->how != HOW_READY)
		where(ctx, t, prev);
}

/* Notes who has run for long: jiffies cost nothing to read, and of a run of 50 ms they
 * tell enough. A longer run is kept for a second. */
static __always_inline struct run *note_run(struct task_struct *prev)
{
	__u32 zero = 0;
	__u64 now, length;
	struct run *r = bpf_map_lookup_elem(&runs, &zero);

	if (!r)
		return NULL;
	now = bpf_jiffies64();
	length = now - r->since;
	r->since = now;
	if (length < 2 || length > (1ULL << 32) || !prev->pid)
		return r;
	now = bpf_ktime_get_ns();
	if (length < r->length && now - r->end < 1000000000ULL)
		return r;
	r->length = length;
	r->end = now;
	r->tid = prev->pid;
	bpf_probe_read_kernel(r->comm, sizeof(r->comm), prev->comm);
	return r;
}

/* Who kept a thread from its CPU: who ran there longest since it was ready, or who ran
 * last. */
static __always_inline void ran_instead(struct thread *t, __u64 ready, struct run *r,
					struct task_struct *prev)
{
	if (r && r->end > ready && r->tid) {
		t->ran = r->tid;
		__builtin_memcpy(t->ran_comm, r->comm, sizeof(t->ran_comm));
	} else if (t->how != HOW_READY) {
		t->ran = prev->pid;
		bpf_probe_read_kernel(t->ran_comm, sizeof(t->ran_comm), prev->comm);
	}
}

static __always_inline void come_back(struct run *run, struct task_struct *prev, struct task_struct *next)
{
	__u64 now, woken, begin;
	__u32 tid = next->pid;
	struct thread *t;

	t = bpf_map_lookup_elem(&threads, &tid);
	if (!t || !t->start)
		return;
	now = bpf_ktime_get_ns();
	begin = t->start;
	if (t->how == HOW_READY) {
		if (now - begin >= long_queue)
			ran_instead(t, begin, run, prev);
		count_queued(t, tid, begin, now);
	} else {
		woken = t->woken;
		if (woken <= begin || woken > now)
			woken = now;
		count_wait(t, tid, begin, woken);
		note_hold(t, begin, woken);
		if (t->woken) {
			if (now - woken >= long_queue)
				ran_instead(t, woken, run, prev);
			count_queued(t, tid, woken, now);
		}
	}
	t->start = 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(switched, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct run *run = note_run(prev);
	__u64 *ns = takes(SHORT_RUN);

	if (traced(prev->tgid)) {
		takes_more(ns, HALF_SWITCH);
		/* Read at the tracepoint the state may have changed already: 5.18 hands
		 * over the one that the scheduler decided by. */
		__u32 state = has_prev_state ? (__u32)ctx[3] : state_of(prev);

		leave(ctx, preempt, state, prev, next);
	}
	if (traced(next->tgid)) {
		takes_more(ns, HALF_SWITCH);
		come_back(run, prev, next);
	}
	return 0;
}

SEC("tp_btf/sched_waking")
int BPF_PROG(waking, struct task_struct *p)
{
	struct thread *t;
	__u64 id, now, *ns = takes(SHORT_RUN);
	__u32 tid;
	bool stack = false;

	if (!traced(p->tgid))
		return 0;
	takes_more(ns, A_WAKE);
	tid = p->pid;
	t = bpf_map_lookup_elem(&threads, &tid);
	if (!t || !t->start || t->woken || t->how == HOW_READY)
		return 0;
	now = bpf_ktime_get_ns();
	t->woken = now;
	id = bpf_get_current_pid_tgid();
	t->waker_tgid = id >> 32;
	t->waker_tid = (__u32)id;
	bpf_get_current_comm(t->waker_comm, sizeof(t->waker_comm));
	/* A wait over the threshold is rare. Where there is none, and for locks, whose
	 * short waits count too, some wakes tell for the others. */
	if (threshold && now - t->start >= threshold)
		stack = true;
	else if (!threshold || t->nr == (__s32)nr_futex)
		stack = !(bpf_get_prandom_u32() & 15) && spend(t, now);
	if (stack) {
		takes_more(ns, STACKS_TAKEN);
		t->waker_site = 0;
		t->waker_kstack = taken(bpf_get_stackid(ctx, &waker_stacks, BPF_F_FAST_STACK_CMP));
		if (traced(t->waker_tgid)) {
			t->waker_ustack = taken(
			    bpf_get_stackid(ctx, &waker_stacks, BPF_F_FAST_STACK_CMP | BPF_F_USER_STACK));
			t->waker_site = note_top(t->waker_ustack, t->waker_tgid, true);
		}
	}
	if (t->nr == (__s32)nr_futex && t->waker_tgid == t->tgid)
		hand_on(t, tid, now);
	return 0;
}

/* A thread that has never run: it waits for its first CPU. */
SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(born, struct task_struct *p)
{
	struct thread t = {};
	__u32 tid;

	if (!traced(p->tgid))
		return 0;
	tid = p->pid;
	t.tgid = p->tgid;
	t.how = HOW_READY;
	t.nr = -1;
	t.kstack = t.ustack = NO_STACK;
	t.waker_kstack = t.waker_ustack = NO_STACK;
	t.tokens = stack_rate;
	t.start = bpf_ktime_get_ns();
	bpf_probe_read_kernel(t.comm, sizeof(t.comm), p->comm);
	if (bpf_map_update_elem(&threads, &tid, &t, BPF_ANY))
		lose(LOST_THREADS);
	return 0;
}
