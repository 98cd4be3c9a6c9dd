/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * A call's number and arguments out of the registers that user space entered the
 * kernel with. Which registers there are tells the machine. They are read without
 * a helper: the tracepoint's argument is of a type that the verifier knows.
 */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct pt_regs___call_x86 {
	unsigned long r10;
	unsigned long r8;
	unsigned long dx;
	unsigned long si;
	unsigned long di;
	unsigned long cx;
	unsigned long bx;
	unsigned long orig_ax;
};

struct pt_regs___call_arm64 {
	__u64 regs[31];
	__u64 orig_x0;
	__s32 syscallno;
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
#define X32_BIT (1U << 30)	    /* __X32_SYSCALL_BIT: numbers of x86-64, mostly */

struct arguments {
	__u64 a[5];
};

static __always_inline bool is_x86(void)
{
	return bpf_core_field_exists(((struct pt_regs___call_x86 *)0)->orig_ax);
}

static __always_inline bool is_compat(void)
{
	void *task = (void *)bpf_get_current_task();

	if (is_x86())
		return BPF_CORE_READ((struct task_struct___x86 *)task, thread_info.status) & TS_COMPAT;
	if (bpf_core_field_exists(((struct pt_regs___call_arm64 *)0)->syscallno))
		return BPF_CORE_READ((struct task_struct___arm64 *)task, thread_info.flags) & TIF_32BIT_ARM64;
	return false;
}

/* The number at the end of a call; negative: it was in none. */
static __always_inline long number_of(const void *regs)
{
	const struct pt_regs___call_x86 *x86 = regs;
	const struct pt_regs___call_arm64 *arm = regs;

	if (is_x86())
		return (__s32)x86->orig_ax;
	if (bpf_core_field_exists(arm->syscallno))
		return arm->syscallno;
	return -1;
}

/* Both at the beginning and at the end of a call: its arguments are still there. */
static __always_inline void arguments_of(struct arguments *to, const void *regs, bool compat)
{
	const struct pt_regs___call_x86 *x86 = regs;
	const struct pt_regs___call_arm64 *arm = regs;

	if (is_x86()) {
		if (compat) { /* arch/x86/entry: ebx ecx edx esi edi */
			to->a[0] = (__u32)x86->bx;
			to->a[1] = (__u32)x86->cx;
			to->a[2] = (__u32)x86->dx;
			to->a[3] = (__u32)x86->si;
			to->a[4] = (__u32)x86->di;
		} else {
			to->a[0] = x86->di;
			to->a[1] = x86->si;
			to->a[2] = x86->dx;
			to->a[3] = x86->r10;
			to->a[4] = x86->r8;
		}
	} else if (bpf_core_field_exists(arm->syscallno)) {
		to->a[0] = arm->orig_x0;
		to->a[1] = arm->regs[1];
		to->a[2] = arm->regs[2];
		to->a[3] = arm->regs[3];
		to->a[4] = arm->regs[4];
	}
}
