// clang-format off
//go:build ignore

// clang-format on

// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * What runs on each CPU, looked at some 99 times per second by a timer of the
 * kernel's own (the software event cpu-clock: no counter of the processor is
 * needed, so it works in virtual machines). Samples are counted here by thread
 * and stack; a stack itself is handed over once, when it is first seen. User
 * space swaps the map of counts once a second and reads the old one.
 *
 * The stack is that of what the timer interrupted. Code that runs with interrupts
 * off is seen where it lets them in again.
 */
#include "kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "registers.h"
#include "top.h"

char __license[] SEC("license") = "Dual BSD/GPL";

/* Grows with each exec (include/linux/sched.h; 64 bits since 5.7). */
struct task_struct___exec {
	__u64 self_exec_id;
} __attribute__((preserve_access_index));

/* When a process began, since boot; with its number it tells it from a later one. */
struct task_struct___start {
	__u64 start_boottime;
} __attribute__((preserve_access_index));

#define CLOCK_TICK 10000000ULL /* ns: what /proc/PID/stat counts in */

/* Only processes in wanted, and their children, are sampled. */
const volatile bool only = false;

/* User stacks are copied, to be walked in user space by the programs' call frame
 * information (x86-64, 5.15 and later). */
const volatile bool copies = false;

/* User space is woken so often at most to look at stacks that are new, ns: a process may
 * end, or run another program, before its stacks are walked. */
#define WAKE 100000000ULL
__u64 woken;

/* The tops of user stacks are kept, to mend walks by frame pointers (x86-64). */
const volatile bool mends = false;

#define KINDS 16384
#define COPY 65536
#define CHUNK 1024
#define HOLE 32768
#define KERNEL_FRAMES 63
#define USER_FRAMES 127
#define FRAMES 192 /* of both, a few more for the verifier */

struct key {
	__u64 stack; /* its hash; 0 no stack could be taken */
	__u32 tgid;
	__u32 tid;
};

struct value {
	__u64 n;
	char comm[16];
};

/* A stack as it is handed over: the kernel's frames, then the user's, then the words of
 * the top. */
struct stack {
	__u64 hash;
	__u32 tgid;
	__u8 kernel; /* frames */
	__u8 user;
	__u8 fresh;  /* enum fresh */
	__u8 copied; /* 0 */
	struct kept kept;
	__u32 site;
	__u32 words;
	__u64 frames[FRAMES + TOP_WORDS];
};

#define STACK_HEAD (sizeof(struct stack) - (FRAMES + TOP_WORDS) * sizeof(__u64))

/* A sample with a copy of its user stack. */
struct copied {
	__u64 stack; /* bytes that were copied, from the chunk on that the stack pointer is in */
	__u32 tgid;
	__u8 kernel; /* frames */
	__u8 user;   /* 0 */
	__u8 fresh;
	__u8 copied; /* 1 */
	__u32 tid;
	__u32 pad;
	char comm[16];
	struct kept kept;
	__u64 frames[KERNEL_FRAMES + 1];
	__u8 bytes[COPY];
};

/* Of x86-64 (arch/x86/include/uapi/asm/ptrace.h). */
struct pt_regs_x86 {
	__u64 r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax, ip, cs, flags, sp,
	    ss;
};

enum fresh {
	FRESH_NOT,
	FRESH_PROCESS, /* it was not seen before */
	FRESH_PROGRAM, /* it runs another program than before */
};

enum total {
	TOTAL_ALL,    /* samples, idle ones included */
	TOTAL_IDLE,   /* the CPU had nothing to do */
	TOTAL_OTHERS, /* of processes that were not asked for */
	TOTAL_LOST,   /* samples that found no room in the map of counts */
	TOTAL_STACKS, /* stacks that found no room in the ring */
	TOTAL_TIME,   /* ns that this program ran */
	TOTAL_MAX,
};

struct counts {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, KINDS);
	__type(key, struct key);
	__type(value, struct value);
};

struct counts counts_a SEC(".maps");
struct counts counts_b SEC(".maps");

/* The map in use: see probes/drops/drops.bpf.c. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__array(values, struct counts);
} current SEC(".maps") = {.values = {&counts_a}};

/* Stacks that were handed over. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 32768);
	__type(key, struct key); /* tid 0 */
	__type(value, __u8);
} handed SEC(".maps");

/* Processes whose memory user space has been told to look at, with the program
 * that they ran then. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, __u32);
	__type(value, __u64);
} met SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096); /* preallocated, or kernels before 6.1 refuse it here */
	__type(key, __u32);
	__type(value, __u64); /* when it began, in ticks since boot; 0 not known */
} wanted SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} stacks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct stack);
} scratch SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, TOTAL_MAX);
	__type(key, __u32);
	__type(value, __u64);
} totals SEC(".maps");

static __always_inline void add(__u32 what, __u64 n)
{
	__u64 *sum = bpf_map_lookup_elem(&totals, &what);

	if (sum)
		*sum += n;
}

/* When a thread's process began, in ticks. */
static __always_inline __u64 began(struct task_struct *task)
{
	struct task_struct___start *leader = (void *)BPF_CORE_READ(task, group_leader);

	return BPF_CORE_READ(leader, start_boottime) / CLOCK_TICK;
}

/* A process is in wanted, and not another that has got its number since. */
static __always_inline bool is_in(struct task_struct *task, __u32 tgid)
{
	__u64 *since = bpf_map_lookup_elem(&wanted, &tgid);

	return since && (!*since || *since == began(task));
}

/* A thread's process is wanted, or a child of one that is. */
static __always_inline bool is_wanted(struct task_struct *task, __u32 tgid)
{
	struct task_struct *parent;
	__u64 since;

	if (is_in(task, tgid))
		return true;
	parent = BPF_CORE_READ(task, real_parent);
	if (!parent || !is_in(parent, BPF_CORE_READ(parent, tgid)))
		return false;
	since = began(task);
	bpf_map_update_elem(&wanted, &tgid, &since, BPF_ANY);
	return true;
}

/* 64 bits of the stack in the scratch: two of some thousands are the same once in 10^12
 * times. Global, so that it is verified once. */
__noinline int hash_stack(__u32 n, __u64 seed)
{
	__u32 zero = 0, i;
	struct stack *s = bpf_map_lookup_elem(&scratch, &zero);
	__u64 h = 0xcbf29ce484222325ULL ^ seed;

	if (!s)
		return 0;
	for (i = 0; i < KERNEL_FRAMES + USER_FRAMES; i++) {
		if (i >= n)
			break;
		h ^= s->frames[i];
		h *= 0x9e3779b97f4a7c15ULL;
		h ^= h >> 32;
	}
	s->hash = h ? h : 1;
	return 0;
}

/* Takes the stack into s; its frames in all. */
static __always_inline __u32 take(void *ctx, struct stack *s, __u32 tgid)
{
	long kernel, user;

	s->tgid = tgid;
	kernel = bpf_get_stack(ctx, s->frames, KERNEL_FRAMES * sizeof(__u64), 0);
	if (kernel < 0)
		kernel = 0;
	kernel = (kernel / sizeof(__u64)) & 63;
	user = bpf_get_stack(ctx, &s->frames[kernel], USER_FRAMES * sizeof(__u64), BPF_F_USER_STACK);
	if (user < 0)
		user = 0;
	user = (user / sizeof(__u64)) & 127;
	s->kernel = kernel;
	s->user = user;
	return kernel + user;
}

/* Whether a process, or the program that it runs, has not been seen before. */
static __always_inline __u8 meet(struct task_struct *task, __u32 tgid)
{
	__u64 exec = BPF_CORE_READ((struct task_struct___exec *)task, self_exec_id);
	__u64 *old = bpf_map_lookup_elem(&met, &tgid);
	__u8 fresh;

	if (old && *old == exec)
		return FRESH_NOT;
	fresh = old ? FRESH_PROGRAM : FRESH_PROCESS;
	bpf_map_update_elem(&met, &tgid, &exec, BPF_ANY);
	return fresh;
}

/* Hands a stack over unless it has been; a process that is new, or runs another
 * program, wakes user space, so that its memory can be looked at before it ends. */
static __always_inline void hand_over(struct task_struct *task, struct stack *s, __u32 n, __u64 now)
{
	struct key seen = {.stack = s->hash, .tgid = s->tgid};
	__u64 size = STACK_HEAD + n * sizeof(__u64);
	__u64 flags = BPF_RB_NO_WAKEUP;
	struct top *top = scratch_top();
	__u8 one = 1;

	s->fresh = FRESH_NOT;
	if (s->user > 0) {
		s->fresh = meet(task, s->tgid);
		if (s->fresh)
			flags = BPF_RB_FORCE_WAKEUP;
	}
	if (flags == BPF_RB_NO_WAKEUP && bpf_map_lookup_elem(&handed, &seen))
		return;
	if (s->words && top && n < FRAMES && s->words <= TOP_WORDS &&
	    !bpf_probe_read_kernel(&s->frames[n], s->words * sizeof(__u64), top->word))
		size += s->words * sizeof(__u64);
	else
		s->words = 0;
	if (size > sizeof(*s))
		return;
	if (now - woken > WAKE)
		flags = BPF_RB_FORCE_WAKEUP;
	if (flags == BPF_RB_FORCE_WAKEUP)
		woken = now;
	if (bpf_ringbuf_output(&stacks, s, size, flags)) {
		add(TOTAL_STACKS, 1);
		return;
	}
	bpf_map_update_elem(&handed, &seen, &one, BPF_ANY);
}

static __always_inline void count(struct key *key)
{
	struct value *v, fresh = {};
	__u32 zero = 0;
	void *counts = bpf_map_lookup_elem(&current, &zero);

	if (!counts)
		return;
	v = bpf_map_lookup_elem(counts, key);
	if (!v) {
		fresh.n = 1;
		bpf_get_current_comm(fresh.comm, sizeof(fresh.comm));
		/* A thread is on one CPU at a time: nobody else adds this key. */
		if (bpf_map_update_elem(counts, key, &fresh, BPF_ANY))
			add(TOTAL_LOST, 1);
		return;
	}
	v->n++;
}

/* The registers that a thread has, or will have again, in user mode. */
static __always_inline bool user_registers(volatile struct pt_regs_x86 *ctx, struct kept *k,
					   struct top *scratch)
{
	/* Volatile: of the context only loads at fixed offsets are allowed. */
	__u64 cs = ctx->cs;

	if ((cs & 3) != 3)
		return scratch && keep_registers(k, current_registers(), scratch);
	if (!is_user64(cs))
		return false;
	k->ip = ctx->ip;
	k->sp = ctx->sp;
	k->bp = ctx->bp;
	k->bx = ctx->bx;
	k->r10 = ctx->r10;
	k->r12 = ctx->r12;
	k->r13 = ctx->r13;
	k->r14 = ctx->r14;
	k->r15 = ctx->r15;
	return true;
}

/* Keeps the top of the user stack that was walked, and tells stacks apart by it. */
static __always_inline void keep_top(void *ctx, struct stack *s)
{
	__u32 first = s->kernel & 63;
	struct top *t;

	s->words = s->site = 0;
	if (!mends || !s->user)
		return;
	t = scratch_top();
	if (!t || !user_registers(ctx, &t->kept, t) || t->kept.ip != s->frames[first])
		return;
	read_top();
	s->site = t->site;
	s->words = t->words;
	s->kept = t->kept;
}

/* Hands a sample over with its stack, up to the stack's end; false: it has no user
 * side, or found no room. */
static __always_inline bool copy(void *ctx, struct task_struct *task, struct key *key)
{
	struct copied *c = bpf_ringbuf_reserve(&stacks, sizeof(*c), 0);
	__u32 i, good = 0;
	__u64 from;
	long n;

	if (!c) {
		add(TOTAL_STACKS, 1);
		return false;
	}
	if (!user_registers(ctx, &c->kept, scratch_top())) { /* a kernel thread */
		bpf_ringbuf_discard(c, BPF_RB_NO_WAKEUP);
		return false;
	}
	n = bpf_get_stack(ctx, c->frames, KERNEL_FRAMES * sizeof(__u64), 0);
	c->kernel = n > 0 ? n / sizeof(__u64) : 0;
	c->user = 0;
	c->copied = 1;
	c->tgid = key->tgid;
	c->tid = key->tid;
	c->fresh = meet(task, key->tgid);
	bpf_get_current_comm(c->comm, sizeof(c->comm));
	/* A large frame has pages that were never touched, which can't be read here
	 * (they are zeros then); behind the stack's end there is none. No chunk lies in
	 * two pages. */
	from = c->kept.sp & ~(__u64)(CHUNK - 1);
	for (i = 0; i < COPY / CHUNK; i++) {
		if (!bpf_probe_read_user(&c->bytes[i * CHUNK], CHUNK, (void *)(from + i * CHUNK)))
			good = i + 1;
		else if (i - good >= HOLE / CHUNK)
			break;
	}
	c->stack = good * CHUNK;
	bpf_ringbuf_submit(c, BPF_RB_FORCE_WAKEUP);
	return true;
}

static __always_inline void look(void *ctx, __u64 now)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct key key = {.tgid = id >> 32, .tid = (__u32)id};
	struct task_struct *task;
	struct stack *s;
	__u32 zero = 0, n;

	if (!key.tid) { /* the idle task of this CPU */
		add(TOTAL_IDLE, 1);
		return;
	}
	task = (struct task_struct *)bpf_get_current_task();
	if (only && !is_wanted(task, key.tgid)) {
		add(TOTAL_OTHERS, 1);
		return;
	}
	if (copies && copy(ctx, task, &key))
		return;
	s = bpf_map_lookup_elem(&scratch, &zero);
	if (!s)
		return;
	n = take(ctx, s, key.tgid);
	if (n) {
		keep_top(ctx, s);
		hash_stack(n, ((__u64)s->kernel << 32) ^ s->user ^ ((__u64)s->site << 16));
		key.stack = s->hash;
		hand_over(task, s, n, now);
	}
	count(&key);
}

SEC("perf_event")
int sample(void *ctx)
{
	__u64 began = bpf_ktime_get_ns();

	look(ctx, began);
	add(TOTAL_ALL, 1);
	add(TOTAL_TIME, bpf_ktime_get_ns() - began);
	return 0;
}
