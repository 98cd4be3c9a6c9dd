// clang-format off
//go:build ignore

// clang-format on
// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Mutexes and stops of Go programs, by uprobes where functions of Go's runtime and
 * library begin. Never where they return: Go moves its stacks, and a return address
 * that was put there by a uretprobe would be lost.
 *
 *   (*Mutex).lockSlow(m)         a goroutine is about to wait for a mutex
 *   (*Mutex).unlockSlow(m, new)  it lets go of one that others wait for; new is the
 *                                mutex' word, whose bits from the third up count them
 *                                (internal/sync/mutex.go)
 *   runtime_pollWait(pd, mode)   it waits for a descriptor
 *   stopTheWorldWithSema(reason), startTheWorldWithSema
 *
 * Arguments are in registers, and the goroutine is too (src/cmd/compile/abi-internal.md).
 */
#include "kernel.h"

#include <bpf/bpf_helpers.h>

char __license[] SEC("license") = "Dual BSD/GPL";

#define STACKS 4096
#define DEPTH 64
#define NO_STACK (-1)

/* Offsets in struct pt_regs of this machine. */
const volatile __u32 reg_g = 8;
const volatile __u32 reg_a = 80;
const volatile __u32 reg_b = 40;
const volatile __u32 reg_sp = 152;
const volatile __u32 reg_link = 0; /* of the return address; 0: it is on the stack */

struct place {
	__u64 caller; /* of the function, which a walk by frame pointers misses here */
	__s32 stack;
	__u32 pad;
};

struct goroutine {
	__u32 pid;
	__u32 pad;
	__u64 g;
};

struct waiting {
	__u64 mutex; /* 0: none */
	__u64 since;
	__u64 polled; /* it began to wait for a descriptor; 0: it did not since it got a mutex */
	struct place where;
	struct place poll;
	__s32 fd;
	__s32 mode; /* 'r' or 'w' */
};

/* A mutex that was let go while others waited. */
struct unlock {
	__u64 at;
	__u64 mutex;
	__u64 g;
	struct waiting was; /* of who lets go */
	struct place where;
	__u32 pid;
	__u32 tid;
	__u32 waiters;
	__u32 pad;
	__u8 comm[16];
};

/* What is only sent has no table that keeps its type. */
const struct unlock *kept __attribute__((unused));

struct stop {
	__u64 at;
	__u64 end;
	__u64 reason;
	struct place where;
	__u32 pid;
	__u32 tid;
	__u8 comm[16];
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct goroutine);
	__type(value, struct waiting);
} going SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 256);
	__type(key, __u32);
	__type(value, struct stop);
} stopping SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, STACKS);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, DEPTH * sizeof(__u64));
} stacks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1024 * 1024);
} unlocks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 64 * 1024);
} stops SEC(".maps");

__u64 lost;
__u64 hits; /* of all probes: each costs its process a trap */

static __always_inline __u64 reg(void *ctx, __u32 at)
{
	__u64 v = 0;

	bpf_probe_read_kernel(&v, sizeof(v), ctx + (at & 0x1ff));
	return v;
}

static __always_inline void where(void *ctx, struct place *p)
{
	long id;

	if (reg_link)
		p->caller = reg(ctx, reg_link);
	else
		bpf_probe_read_user(&p->caller, sizeof(p->caller), (void *)reg(ctx, reg_sp));
	id = bpf_get_stackid(ctx, &stacks, BPF_F_FAST_STACK_CMP | BPF_F_USER_STACK);
	p->stack = id < 0 ? NO_STACK : id;
}

SEC("uprobe/lockSlow")
int lock_slow(void *ctx)
{
	struct goroutine k = {.pid = bpf_get_current_pid_tgid() >> 32, .g = reg(ctx, reg_g)};
	struct waiting w = {.mutex = reg(ctx, reg_a), .since = bpf_ktime_get_ns(), .fd = -1};

	__sync_fetch_and_add(&hits, 1);
	w.poll.stack = NO_STACK;
	where(ctx, &w.where);
	bpf_map_update_elem(&going, &k, &w, BPF_ANY);
	return 0;
}

SEC("uprobe/unlockSlow")
int unlock_slow(void *ctx)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct goroutine k = {.pid = id >> 32, .g = reg(ctx, reg_g)};
	struct unlock u = {
	    .at = bpf_ktime_get_ns(), .mutex = reg(ctx, reg_a), .g = k.g, .pid = k.pid, .tid = (__u32)id};
	struct waiting *w;

	__sync_fetch_and_add(&hits, 1);
	u.waiters = (__u32)reg(ctx, reg_b) >> 3;
	w = bpf_map_lookup_elem(&going, &k);
	if (w) {
		if (w->mutex == u.mutex)
			u.was = *w;
		bpf_map_delete_elem(&going, &k);
	}
	if (!u.waiters)
		return 0;
	where(ctx, &u.where);
	bpf_get_current_comm(u.comm, sizeof(u.comm));
	if (bpf_ringbuf_output(&unlocks, &u, sizeof(u), BPF_RB_NO_WAKEUP))
		__sync_fetch_and_add(&lost, 1);
	return 0;
}

/* struct pollDesc of src/runtime/netpoll.go: link, fd, ... */
#define POLL_FD 8

SEC("uprobe/pollWait")
int poll_wait(void *ctx)
{
	struct goroutine k = {.pid = bpf_get_current_pid_tgid() >> 32, .g = reg(ctx, reg_g)};
	struct waiting *w;
	__u64 fd = ~0ULL;

	__sync_fetch_and_add(&hits, 1);
	w = bpf_map_lookup_elem(&going, &k);
	if (!w || !w->mutex)
		return 0;
	w->polled = bpf_ktime_get_ns();
	w->mode = (__s32)reg(ctx, reg_b);
	bpf_probe_read_user(&fd, sizeof(fd), (void *)reg(ctx, reg_a) + POLL_FD);
	w->fd = fd < (1 << 30) ? (__s32)fd : -1;
	where(ctx, &w->poll);
	return 0;
}

SEC("uprobe/stopTheWorld")
int stop_world(void *ctx)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct stop s = {
	    .at = bpf_ktime_get_ns(), .reason = reg(ctx, reg_a) & 0xff, .pid = id >> 32, .tid = (__u32)id};

	__sync_fetch_and_add(&hits, 1);
	where(ctx, &s.where);
	bpf_get_current_comm(s.comm, sizeof(s.comm));
	bpf_map_update_elem(&stopping, &s.pid, &s, BPF_ANY);
	return 0;
}

SEC("uprobe/startTheWorld")
int start_world(void *ctx)
{
	__u32 pid = bpf_get_current_pid_tgid() >> 32;
	struct stop *s = bpf_map_lookup_elem(&stopping, &pid);

	__sync_fetch_and_add(&hits, 1);
	if (!s)
		return 0; /* it began before snag did */
	s->end = bpf_ktime_get_ns();
	if (bpf_ringbuf_output(&stops, s, sizeof(*s), BPF_RB_NO_WAKEUP))
		__sync_fetch_and_add(&lost, 1);
	bpf_map_delete_elem(&stopping, &pid);
	return 0;
}
