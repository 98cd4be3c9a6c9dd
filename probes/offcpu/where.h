/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Where a thread left its CPU: its system call, and its stacks where they may be had. */

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

/* A task's state: __state since 5.14, state before. */
struct task_struct___new {
	unsigned int __state;
};

struct task_struct___old {
	volatile long state;
	void *stack;
};

/* What user space's registers were when it entered the kernel; which of them exist
 * tells the machine. */
struct pt_regs {
};

struct pt_regs___x86 {
	unsigned long bp;
	unsigned long bx;
	unsigned long cx;
	unsigned long dx;
	unsigned long si;
	unsigned long di;
	unsigned long orig_ax; /* the system call; negative outside of one */
	unsigned long ip;
	unsigned long sp;
};

struct user_pt_regs {
	__u64 regs[31];
	__u64 sp;
	__u64 pc;
};

struct pt_regs___arm64 {
	union {
		struct user_pt_regs user_regs;
	};
	__u64 orig_x0;
	__s32 syscallno;
};

struct signal_struct {
	atomic_t live; /* threads that have not ended */
};

struct task_struct___signal {
	struct signal_struct *signal;
};

struct thread_info___x86 {
	__u32 status;
};

struct thread_info___arm64 {
	unsigned long flags;
};

struct task_struct___x86 {
	struct thread_info___x86 thread_info;
};

struct task_struct___arm64 {
	struct thread_info___arm64 thread_info;
};

#pragma clang attribute pop

#define TS_COMPAT 2		    /* arch/x86/include/asm/thread_info.h */
#define TIF_32BIT_ARM64 (1UL << 22) /* arch/arm64/include/asm/thread_info.h */
#define NR_COMPAT (1 << 28)	    /* a 32-bit call: another table of numbers */

/* Numbers of helpers that not every kernel from 5.10 on has. */
enum bpf_func_id___ours { BPF_FUNC_task_pt_regs___ours = 175 };

static __always_inline bool has_task_pt_regs(void)
{
	return bpf_core_enum_value_exists(enum bpf_func_id___ours, BPF_FUNC_task_pt_regs___ours);
}

static __always_inline __u32 state_of(struct task_struct *p)
{
	struct task_struct___new *t = (void *)p;

	if (bpf_core_field_exists(t->__state))
		return BPF_CORE_READ(t, __state);
	return BPF_CORE_READ((struct task_struct___old *)p, state);
}

/* Registers lie at the top of the kernel's stack (task_pt_regs of
 * arch/x86/include/asm/processor.h and arch/arm64/include/asm/processor.h). The
 * padding that x86 keeps above them with FRED came with kernels that have the helper. */
static __always_inline void *registers(struct task_struct *p)
{
	if (has_task_pt_regs())
		return (void *)bpf_task_pt_regs(p);
	return BPF_CORE_READ((struct task_struct___old *)p, stack) + thread_size -
	       bpf_core_type_size(struct pt_regs);
}

#define AT(regs, field) (*(__u64 *)((char *)(regs) + bpf_core_field_offset(field)))

static __always_inline void call_of(struct thread *t, struct task_struct *p)
{
	void *at = registers(p);
	struct pt_regs___x86 *x = at;
	struct pt_regs___arm64 *a = at;

	if (bpf_core_field_exists(x->orig_ax)) {
		__u64 regs[21]; /* all of them at once: a read for each costs more than the rest here */

		if (bpf_probe_read_kernel(regs, sizeof(regs), x))
			return;
		t->nr = (__s32)AT(regs, x->orig_ax);
		t->args[0] = AT(regs, x->di);
		t->args[1] = AT(regs, x->si);
		t->args[2] = AT(regs, x->dx);
		if (t->nr >= 0 &&
		    BPF_CORE_READ((struct task_struct___x86 *)p, thread_info.status) & TS_COMPAT) {
			t->nr |= NR_COMPAT;
			t->args[0] = (__u32)AT(regs, x->bx);
			t->args[1] = (__u32)AT(regs, x->cx);
		}
		t->ip = AT(regs, x->ip);
		t->sp = AT(regs, x->sp);
		t->bp = AT(regs, x->bp);
	} else if (bpf_core_field_exists(a->syscallno)) {
		t->nr = BPF_CORE_READ(a, syscallno);
		if (t->nr >= 0 &&
		    BPF_CORE_READ((struct task_struct___arm64 *)p, thread_info.flags) & TIF_32BIT_ARM64)
			t->nr |= NR_COMPAT;
		t->args[0] = BPF_CORE_READ(a, orig_x0);
		t->args[1] = BPF_CORE_READ(a, user_regs.regs[1]);
		t->args[2] = BPF_CORE_READ(a, user_regs.regs[2]);
		t->ip = BPF_CORE_READ(a, user_regs.pc);
		t->sp = BPF_CORE_READ(a, user_regs.sp);
		t->bp = BPF_CORE_READ(a, user_regs.regs[29]);
	}
}

/* Whether a thread may have another stack: each has stack_rate a second. */
static __always_inline bool spend(struct thread *t, __u64 now)
{
	__u64 more;

	if (!stack_rate)
		return true;
	if (now - t->refilled >= 1000000000ULL / 8) {
		t->tokens = stack_rate;
		more = (now - t->refilled) * stack_rate / 1000000000ULL;
		if (more < stack_rate)
			t->tokens = more;
		t->refilled = now;
	}
	if (!t->tokens)
		return false;
	t->tokens--;
	return true;
}

static __always_inline __s32 taken(long id)
{
	if (id >= 0) {
		lose(TAKEN);
		return id;
	}
	if (id == -17) /* EEXIST: another stack has the slot */
		lose(LOST_STACKS);
	return NO_STACK;
}

/* Too big for the stack of a program: kernels before 5.11 allow 512 bytes for it and the
 * functions that it calls together. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct top);
} scratch SEC(".maps");

/* Reads the top of a stack and its site; false where it can't be read. */
static __always_inline bool read_top(struct top *top, __u32 tgid, __u32 *site)
{
	struct text *text = bpf_map_lookup_elem(&closer, &tgid);
	__u64 sum = 0;

	if (!text || bpf_probe_read_user(top->words, sizeof(top->words), (void *)top->sp))
		return false;
	for (int i = 0; i < TOP; i++)
		if (top->words[i] - text->start < text->end - text->start)
			sum = (sum ^ top->words[i]) * 0x9e3779b97f4a7c15ULL;
	*site = sum >> 32;
	return true;
}

static __noinline int note_top(struct thread *t)
{
	struct top_key key = {};
	struct top *top;
	__u32 zero = 0;

	top = bpf_map_lookup_elem(&scratch, &zero);
	if (!t || !top)
		return 0;
	t->site = 0;
	if (t->ustack < 0)
		return 0;
	top->ip = t->ip;
	top->sp = t->sp;
	top->bp = t->bp;
	if (!read_top(top, t->tgid, &key.site))
		return 0;
	t->site = key.site;
	key.ustack = t->ustack;
	if (!bpf_map_lookup_elem(&tops, &key))
		bpf_map_update_elem(&tops, &key, top, BPF_NOEXIST);
	return 0;
}

/* The registers of who runs now. bpf_get_current_task_btf is older than
 * bpf_task_pt_regs. */
static __always_inline void *current_registers(void)
{
	struct task_struct___old *p;

	if (has_task_pt_regs())
		return (void *)bpf_task_pt_regs(bpf_get_current_task_btf());
	p = (void *)bpf_get_current_task();
	return BPF_CORE_READ(p, stack) + thread_size - bpf_core_type_size(struct pt_regs);
}

/* Operations of futex(2) that wake somebody: WAKE, REQUEUE, CMP_REQUEUE, WAKE_OP,
 * UNLOCK_PI, WAKE_BITSET (include/uapi/linux/futex.h). */
#define WAKING (1 << 1 | 1 << 3 | 1 << 4 | 1 << 5 | 1 << 7 | 1 << 10)

/* Whether who runs now is in a futex call that wakes. In another, or in none, an
 * interrupt wakes. */
static __always_inline bool wakes_by_futex(void)
{
	void *at = current_registers();
	struct pt_regs___x86 *x = at;
	struct pt_regs___arm64 *a = at;
	__u64 op = 0;
	__s32 nr = -1;

	if (bpf_core_field_exists(x->orig_ax)) {
		nr = (__s32)BPF_CORE_READ(x, orig_ax);
		op = BPF_CORE_READ(x, si);
	} else if (bpf_core_field_exists(a->syscallno)) {
		nr = BPF_CORE_READ(a, syscallno);
		op = BPF_CORE_READ(a, user_regs.regs[1]);
	}
	op &= 0x7f;
	return nr == (__s32)nr_futex && op < 32 && (WAKING >> op & 1);
}

static __noinline int note_waker_top(struct thread *t)
{
	struct top_key key = {};
	struct pt_regs___x86 *x;
	struct top *top;
	__u32 zero = 0;

	top = bpf_map_lookup_elem(&scratch, &zero);
	if (!t || !top)
		return 0;
	t->waker_site = 0;
	if (t->waker_ustack < 0)
		return 0;
	x = current_registers();
	if (!bpf_core_field_exists(x->orig_ax))
		return 0; /* user space looks for missed callers on amd64 only */
	top->ip = BPF_CORE_READ(x, ip);
	top->sp = BPF_CORE_READ(x, sp);
	top->bp = BPF_CORE_READ(x, bp);
	if (!read_top(top, t->waker_tgid, &key.site))
		return 0;
	t->waker_site = key.site;
	key.ustack = t->waker_ustack;
	if (!bpf_map_lookup_elem(&waker_tops, &key))
		bpf_map_update_elem(&waker_tops, &key, top, BPF_NOEXIST);
	return 0;
}

/* A pair of stacks costs a µs, a switch half of one. Where a thread switches more
 * often than it may have stacks, one that was taken at the same place serves again:
 * the same instruction with the same stack and frame pointers. */
static __always_inline void where(void *ctx, struct thread *t, struct task_struct *p)
{
	__u64 ip = t->ip, sp = t->sp, bp = t->bp;
	__s32 nr = t->nr;

	call_of(t, p);
	t->shared = 0;
	if (spend(t, t->start)) {
		t->kstack = taken(bpf_get_stackid(ctx, &stacks, BPF_F_FAST_STACK_CMP));
		t->ustack = taken(bpf_get_stackid(ctx, &stacks, BPF_F_FAST_STACK_CMP | BPF_F_USER_STACK));
		note_top(t);
		return;
	}
	if (t->ip == ip && t->sp == sp && t->bp == bp && t->nr == nr) {
		t->shared = 1;
		return;
	}
	t->kstack = t->ustack = NO_STACK;
	t->site = 0;
}
