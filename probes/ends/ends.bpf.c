// clang-format off
//go:build ignore

// clang-format on
// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Processes that end, at sched:sched_process_exit: by which signal or with which status,
 * and how old they were. The last thread of a process tells; the others cost a few loads.
 * There are two tables: programs write to the one that the lowest bit of epoch names,
 * user space empties the other once a second.
 */
#include "kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char __license[] SEC("license") = "Dual BSD/GPL";

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct signal_struct {
	atomic_t live; /* threads that have not ended */
	unsigned int flags;
	int group_exit_code;
};

struct task_struct___end {
	unsigned int flags;
	int exit_code;
	struct signal_struct *signal;
};

#pragma clang attribute pop

#define PF_KTHREAD 0x00200000	/* include/linux/sched.h */
#define SIGNAL_GROUP_EXIT 0x004 /* include/linux/sched/signal.h */

struct end {
	__u64 at; /* ns */
	__u64 began;
	__u32 ppid;
	__s32 code; /* as wait(2) tells it */
	__u32 netns;
	__u8 comm[16];
	__u32 pad;
};

struct ends {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, struct end);
};

struct ends ends_a SEC(".maps");
struct ends ends_b SEC(".maps");

__u32 epoch;
__u64 lost; /* that found no room */

#define EEXIST 17

SEC("raw_tp/sched_process_exit")
int ended(__u64 *ctx)
{
	struct task_struct *p = (void *)ctx[0], *leader;
	struct task_struct___end *task = (void *)p;
	struct signal_struct *group = BPF_CORE_READ(task, signal);
	struct end e = {};
	__u32 pid;
	long failed;

	if (BPF_CORE_READ(group, live.counter) || BPF_CORE_READ(task, flags) & PF_KTHREAD)
		return 0;
	leader = BPF_CORE_READ(p, group_leader);
	pid = BPF_CORE_READ(p, tgid);
	e.at = bpf_ktime_get_ns();
	e.began = BPF_CORE_READ(leader, start_time);
	e.ppid = BPF_CORE_READ(leader, real_parent, tgid);
	e.netns = BPF_CORE_READ(p, nsproxy, net_ns, ns.inum);
	if (BPF_CORE_READ(group, flags) & SIGNAL_GROUP_EXIT)
		e.code = BPF_CORE_READ(group, group_exit_code);
	else
		e.code = BPF_CORE_READ((struct task_struct___end *)leader, exit_code);
	BPF_CORE_READ_INTO(&e.comm, leader, comm);
	/* Of two threads that end at once both may find that they are the last. */
	if (epoch & 1)
		failed = bpf_map_update_elem(&ends_b, &pid, &e, BPF_NOEXIST);
	else
		failed = bpf_map_update_elem(&ends_a, &pid, &e, BPF_NOEXIST);
	if (failed && failed != -EEXIST)
		__sync_fetch_and_add(&lost, 1);
	return 0;
}
