// clang-format off
//go:build ignore

// clang-format on
// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * The times in which a thread that wanted memory had to reclaim or compact some
 * itself: vmscan:mm_vmscan_direct_reclaim_begin and _end (and their kin for the
 * limit of a control group), compaction:mm_compaction_begin and _end. All are
 * summed; those of a millisecond and more are kept one by one. Kernel threads
 * (kswapd, kcompactd) keep nobody waiting and are left out.
 */
#include "kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char __license[] SEC("license") = "Dual BSD/GPL";

struct task_struct___flags {
	unsigned int flags;
} __attribute__((preserve_access_index));

enum kind { RECLAIM, GROUP_RECLAIM, COMPACTION, KINDS };

/* What a thread is in, by kind. */
struct stall {
	__u64 start[KINDS]; /* ns; 0: it is not in one */
	__s32 order[KINDS]; /* of the pages that it wants; -1 not known */
	__u32 pad;
};

struct stall_key {
	__u64 begin;
	__u32 tid;
	__u32 kind;
};

struct stall_value {
	__u64 end;
	__u32 tgid;
	__s32 order;
	__s32 status; /* of a compaction: enum compact_result; -1 none */
	__u32 pad;
	__u8 comm[16];
};

struct sum {
	__u64 n;
	__u64 ns;
};

/* The place of the status among the arguments of mm_compaction_end: the last. */
const volatile bool status_is_fifth = true; /* since 5.18; sixth before */
const volatile __u64 least = 1000000;	    /* of an interval that is kept, ns */

__u32 epoch; /* its lowest bit: the table in use */
__u64 lost;  /* intervals that found no room */

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, struct stall);
} stalled SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, KINDS);
	__type(key, __u32);
	__type(value, struct sum);
} sums SEC(".maps");

struct intervals {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 2048);
	__type(key, struct stall_key);
	__type(value, struct stall_value);
};

struct intervals intervals_a SEC(".maps");
struct intervals intervals_b SEC(".maps");

#define PF_KTHREAD 0x00200000

static __always_inline struct stall *stall_of(__u32 tid)
{
	static const struct stall zero = {.order = {-1, -1, -1}};
	struct task_struct___flags *p;
	struct stall *s = bpf_map_lookup_elem(&stalled, &tid);

	if (s)
		return s;
	p = (void *)bpf_get_current_task();
	if (BPF_CORE_READ(p, flags) & PF_KTHREAD)
		return NULL;
	bpf_map_update_elem(&stalled, &tid, &zero, BPF_NOEXIST);
	return bpf_map_lookup_elem(&stalled, &tid);
}

static __always_inline int begin(enum kind kind)
{
	struct stall *s = stall_of((__u32)bpf_get_current_pid_tgid());

	if (s)
		s->start[kind] = bpf_ktime_get_ns();
	return 0;
}

static __always_inline int wants(enum kind kind, int order)
{
	struct stall *s = stall_of((__u32)bpf_get_current_pid_tgid());

	if (s)
		s->order[kind] = order;
	return 0;
}

static __always_inline int end(enum kind kind, int status)
{
	__u64 id = bpf_get_current_pid_tgid(), now = bpf_ktime_get_ns();
	struct stall_value v = {.end = now, .tgid = id >> 32, .status = status};
	struct stall_key k = {.tid = (__u32)id, .kind = kind};
	__u32 tid = (__u32)id, at = kind;
	struct sum *sum;
	struct stall *s;
	long failed;

	s = bpf_map_lookup_elem(&stalled, &tid);
	if (!s || !s->start[kind])
		return 0;
	k.begin = s->start[kind];
	s->start[kind] = 0;
	sum = bpf_map_lookup_elem(&sums, &at);
	if (sum) {
		sum->n++;
		sum->ns += now - k.begin;
	}
	if (now - k.begin < least)
		return 0;
	v.order = s->order[kind];
	bpf_get_current_comm(v.comm, sizeof(v.comm));
	if (epoch & 1)
		failed = bpf_map_update_elem(&intervals_b, &k, &v, BPF_ANY);
	else
		failed = bpf_map_update_elem(&intervals_a, &k, &v, BPF_ANY);
	if (failed)
		__sync_fetch_and_add(&lost, 1);
	return 0;
}

SEC("tp_btf/mm_vmscan_direct_reclaim_begin")
int BPF_PROG(reclaim_begin, int order)
{
	wants(RECLAIM, order);
	return begin(RECLAIM);
}

SEC("tp_btf/mm_vmscan_direct_reclaim_end")
int BPF_PROG(reclaim_end)
{
	return end(RECLAIM, -1);
}

SEC("tp_btf/mm_vmscan_memcg_reclaim_begin")
int BPF_PROG(group_begin)
{
	wants(GROUP_RECLAIM, -1); /* its argument is the call's, not the fault's */
	return begin(GROUP_RECLAIM);
}

SEC("tp_btf/mm_vmscan_memcg_reclaim_end")
int BPF_PROG(group_end)
{
	return end(GROUP_RECLAIM, -1);
}

SEC("tp_btf/mm_compaction_try_to_compact_pages")
int BPF_PROG(compaction_wanted, int order)
{
	return wants(COMPACTION, order);
}

SEC("tp_btf/mm_compaction_begin")
int BPF_PROG(compaction_begin)
{
	return begin(COMPACTION);
}

SEC("tp_btf/mm_compaction_end")
int BPF_PROG(compaction_end)
{
	__u64 status;

	/* The verifier wants each place of ctx read by itself: the compiler would
	 * choose the address and read once. */
	if (status_is_fifth) {
		status = ctx[4];
		asm volatile("" : "+r"(status));
	} else {
		status = ctx[5];
	}
	return end(COMPACTION, (int)status);
}
