/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The state of a thread and the system call that it is in. After kernel.h,
 * bpf_core_read.h, bpf_helpers.h and registers.h.
 */
#ifndef SNAG_CALLS_H
#define SNAG_CALLS_H

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

/* A task's state: __state since 5.14, state before. */
struct task_struct___new {
	unsigned int __state;
};

struct task_struct___old {
	volatile long state;
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

static __always_inline __u32 state_of(struct task_struct *p)
{
	struct task_struct___new *t = (void *)p;

	if (bpf_core_field_exists(t->__state))
		return BPF_CORE_READ(t, __state);
	return BPF_CORE_READ((struct task_struct___old *)p, state);
}

/* A system call, negative outside of one, and where in user space it was made. */
struct system_call {
	__s32 nr;
	__u64 args[3];
	__u64 ip, sp, bp;
};

static __always_inline bool compat_x86(struct task_struct *p)
{
	return BPF_CORE_READ((struct task_struct___x86 *)p, thread_info.status) & TS_COMPAT;
}

static __always_inline bool compat_arm64(struct task_struct *p)
{
	return BPF_CORE_READ((struct task_struct___arm64 *)p, thread_info.flags) & TIF_32BIT_ARM64;
}

static __always_inline void read_call(struct system_call *c, struct task_struct *p)
{
	void *at = registers(p);
	struct pt_regs___x86 *x = at;
	struct pt_regs___arm64 *a = at;

	if (bpf_core_field_exists(x->orig_ax)) {
		__u64 regs[PT_REGS_WORDS];

		if (bpf_probe_read_kernel(regs, sizeof(regs), x))
			return;
		c->nr = (__s32)AT(regs, x->orig_ax);
		c->args[0] = AT(regs, x->di);
		c->args[1] = AT(regs, x->si);
		c->args[2] = AT(regs, x->dx);
		if (c->nr >= 0 && compat_x86(p)) {
			c->nr |= NR_COMPAT;
			c->args[0] = (__u32)AT(regs, x->bx);
			c->args[1] = (__u32)AT(regs, x->cx);
		}
		c->ip = AT(regs, x->ip);
		c->sp = AT(regs, x->sp);
		c->bp = AT(regs, x->bp);
	} else if (bpf_core_field_exists(a->syscallno)) {
		c->nr = BPF_CORE_READ(a, syscallno);
		if (c->nr >= 0 && compat_arm64(p))
			c->nr |= NR_COMPAT;
		c->args[0] = BPF_CORE_READ(a, orig_x0);
		c->args[1] = BPF_CORE_READ(a, user_regs.regs[1]);
		c->args[2] = BPF_CORE_READ(a, user_regs.regs[2]);
		c->ip = BPF_CORE_READ(a, user_regs.pc);
		c->sp = BPF_CORE_READ(a, user_regs.sp);
		c->bp = BPF_CORE_READ(a, user_regs.regs[29]);
	}
}

/* The number of the system call of a thread, and its second argument: what read_call reads, with a
 * sixth of the stack. Who is called from other functions has no more (512 bytes for all). */
static __always_inline __s32 call_number(struct task_struct *p, __u64 *second)
{
	void *at = registers(p);
	struct pt_regs___x86 *x = at;
	struct pt_regs___arm64 *a = at;
	__s32 nr = -1;
	bool compat = false;

	if (bpf_core_field_exists(x->orig_ax)) {
		nr = (__s32)BPF_CORE_READ(x, orig_ax);
		*second = BPF_CORE_READ(x, si);
		compat = nr >= 0 && compat_x86(p);
	} else if (bpf_core_field_exists(a->syscallno)) {
		nr = BPF_CORE_READ(a, syscallno);
		*second = BPF_CORE_READ(a, user_regs.regs[1]);
		compat = nr >= 0 && compat_arm64(p);
	}
	return compat ? nr | NR_COMPAT : nr;
}

#endif /* SNAG_CALLS_H */
