// clang-format off
//go:build ignore

// clang-format on
// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * The times in which a JVM was paused, from the static probes of its libjvm
 * (runtimeService.cpp, vmThread.cpp, vmOperations.cpp of HotSpot):
 *
 *   safepoint__begin   the VM thread has asked all threads to stop
 *   vmops__begin       they have stopped, and the operation begins; its name
 *   vmops__end
 *   safepoint__end     they run again
 *   vmops__request     a thread asks for an operation; its name
 *
 * All but the last are in the VM thread. One event for each safepoint.
 */
#include "kernel.h"

#include <bpf/bpf_helpers.h>

char __license[] SEC("license") = "Dual BSD/GPL";

#define NAME 48

/* Where an argument is: in a register, or add bytes from where it points. */
struct place {
	__u32 known;
	__u32 reg;   /* offset in struct pt_regs */
	__u32 deref; /* it is in memory, there */
	__s32 add;
	__u64 mask; /* of its bytes */
};

/* vmops__begin and vmops__request have the same arguments: name, its length. */
const volatile struct place begin_name = {};
const volatile struct place begin_length = {};
const volatile struct place request_name = {};
const volatile struct place request_length = {};

struct operation {
	__u32 length;
	char name[NAME];
} __attribute__((packed));

struct stop {
	__u64 asked;   /* ns, monotonic */
	__u64 stopped; /* 0: it had no operation */
	__u64 end;
	__u32 pid;
	__u32 by; /* thread that asked for it; 0 not known */
	__u8 comm[16];
	__u8 name[NAME]; /* of the operation; "" it had none, or it can't be read */
};

struct asker {
	__u32 pid;
	struct operation op;
} __attribute__((packed));

struct thread {
	__u64 at;
	__u32 tid;
	__u32 pad;
	__u8 comm[16];
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 256);
	__type(key, __u32); /* pid */
	__type(value, struct stop);
} going SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, struct asker);
	__type(value, struct thread);
} asked SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 256 * 1024);
} stops SEC(".maps");

__u64 lost;

static __always_inline __u64 argument(void *ctx, const volatile struct place *p)
{
	__u64 v = 0;

	if (!p->known || bpf_probe_read_kernel(&v, sizeof(v), ctx + (p->reg & 0x1ff)))
		return 0;
	if (p->deref) {
		__u64 from = v + p->add;

		if (bpf_probe_read_user(&v, sizeof(v), (void *)from))
			return 0;
	}
	return v & p->mask;
}

static __always_inline void operation(void *ctx, const volatile struct place *name,
				      const volatile struct place *length, struct operation *op)
{
	__u64 from = argument(ctx, name);
	__u64 n = argument(ctx, length);

	op->length = n;
	if (n > NAME)
		n = NAME;
	if (from && n)
		bpf_probe_read_user(op->name, n, (void *)from);
}

SEC("uprobe/vmops__request")
int request(void *ctx)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct asker key = {.pid = id >> 32};
	struct thread t = {.at = bpf_ktime_get_ns(), .tid = id};

	operation(ctx, &request_name, &request_length, &key.op);
	bpf_get_current_comm(t.comm, sizeof(t.comm));
	bpf_map_update_elem(&asked, &key, &t, BPF_ANY);
	return 0;
}

SEC("uprobe/safepoint__begin")
int safepoint_begin(void *ctx)
{
	struct stop s = {.asked = bpf_ktime_get_ns(), .pid = bpf_get_current_pid_tgid() >> 32};

	bpf_map_update_elem(&going, &s.pid, &s, BPF_ANY);
	return 0;
}

SEC("uprobe/vmops__begin")
int operation_begin(void *ctx)
{
	struct asker key = {.pid = bpf_get_current_pid_tgid() >> 32};
	struct stop *s = bpf_map_lookup_elem(&going, &key.pid);
	struct thread *t;

	if (!s || s->stopped)
		return 0;
	operation(ctx, &begin_name, &begin_length, &key.op);
	s->stopped = bpf_ktime_get_ns();
	__builtin_memcpy(s->name, key.op.name, NAME);
	t = bpf_map_lookup_elem(&asked, &key);
	if (t && t->at <= s->asked) {
		s->by = t->tid;
		__builtin_memcpy(s->comm, t->comm, sizeof(s->comm));
	}
	return 0;
}

SEC("uprobe/safepoint__end")
int safepoint_end(void *ctx)
{
	__u32 pid = bpf_get_current_pid_tgid() >> 32;
	struct stop *s = bpf_map_lookup_elem(&going, &pid);

	if (!s)
		return 0; /* it began before snag did */
	s->end = bpf_ktime_get_ns();
	if (bpf_ringbuf_output(&stops, s, sizeof(*s), 0))
		__sync_fetch_and_add(&lost, 1);
	bpf_map_delete_elem(&going, &pid);
	return 0;
}
