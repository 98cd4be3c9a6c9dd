/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Where a thread left its CPU: its system call, and its stacks where they may be had. */

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct signal_struct {
	atomic_t live; /* threads that have not ended */
};

struct task_struct___signal {
	struct signal_struct *signal;
};

#pragma clang attribute pop

static __always_inline void call_of(struct thread *t, struct task_struct *p)
{
	struct system_call c = {.nr = t->nr, .ip = t->ip, .sp = t->sp, .bp = t->bp};

	__builtin_memcpy(c.args, t->args, sizeof(c.args));
	read_call(&c, p);
	t->nr = c.nr;
	__builtin_memcpy(t->args, c.args, sizeof(c.args));
	t->ip = c.ip;
	t->sp = c.sp;
	t->bp = c.bp;
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

/* Hands the top of the stack of who runs now over, once for each stack and site; gives
 * the site. */
static __noinline __u32 note_top(__s32 ustack, __u32 tgid, __u32 waker)
{
	struct top_key key = {.ustack = ustack, .waker = waker};
	struct top *top = scratch_top();
	__u32 size;
	__u8 one = 1;

	if (!top || ustack < 0 || !keep_registers(&top->kept, current_registers(), top))
		return 0;
	read_top();
	key.site = top->site;
	if (bpf_map_lookup_elem(&handed, &key))
		return key.site;
	top->ustack = ustack;
	top->tgid = tgid;
	top->waker = waker;
	size = top->words;
	barrier_var(size);
	size = TOP_HEAD + (size & TOP_MASK) * sizeof(__u64);
	if (bpf_map_update_elem(&handed, &key, &one, BPF_NOEXIST)) {
		lose(LOST_TOPS);
		return key.site;
	}
	if (bpf_ringbuf_output(&tops, top, size, BPF_RB_NO_WAKEUP)) {
		bpf_map_delete_elem(&handed, &key); /* the next time, then */
		lose(LOST_TOPS);
	}
	return key.site;
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
		takes(STACKS_TAKEN);
		t->kstack = taken(bpf_get_stackid(ctx, &stacks, BPF_F_FAST_STACK_CMP));
		t->ustack = taken(bpf_get_stackid(ctx, &stacks, BPF_F_FAST_STACK_CMP | BPF_F_USER_STACK));
		t->site = note_top(t->ustack, t->tgid, false);
		return;
	}
	if (t->ip == ip && t->sp == sp && t->bp == bp && t->nr == nr) {
		t->shared = 1;
		return;
	}
	t->kstack = t->ustack = NO_STACK;
	t->site = 0;
}
