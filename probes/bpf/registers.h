/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * What user space's registers were when a thread entered the kernel; which struct
 * exists tells the machine. After kernel.h, bpf_core_read.h and bpf_helpers.h.
 */
#ifndef SNAG_REGISTERS_H
#define SNAG_REGISTERS_H

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct pt_regs {
};

struct pt_regs___x86 {
	unsigned long r15;
	unsigned long r14;
	unsigned long r13;
	unsigned long r12;
	unsigned long bp;
	unsigned long bx;
	unsigned long r10;
	unsigned long cx;
	unsigned long dx;
	unsigned long si;
	unsigned long di;
	unsigned long orig_ax; /* the system call; negative outside of one */
	unsigned long ip;
	unsigned long cs;
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

struct task_struct___stack {
	void *stack;
};

#pragma clang attribute pop

/* Numbers of helpers that not every kernel from 5.10 on has. */
enum bpf_func_id___ours { BPF_FUNC_task_pt_regs___ours = 175 };

/* Of a kernel stack, where bpf_task_pt_regs is missing (before 5.15). */
const volatile __u64 thread_size = 16384;

static __always_inline bool has_task_pt_regs(void)
{
	return bpf_core_enum_value_exists(enum bpf_func_id___ours, BPF_FUNC_task_pt_regs___ours);
}

/* Registers lie at the top of the kernel's stack (task_pt_regs of
 * arch/x86/include/asm/processor.h and arch/arm64/include/asm/processor.h). The
 * padding that x86 keeps above them with FRED came with kernels that have the helper. */
static __always_inline void *registers(struct task_struct *p)
{
	if (has_task_pt_regs())
		return (void *)bpf_task_pt_regs(p);
	return BPF_CORE_READ((struct task_struct___stack *)p, stack) + thread_size -
	       bpf_core_type_size(struct pt_regs);
}

/* Of who runs now. bpf_get_current_task_btf is older than bpf_task_pt_regs. */
static __always_inline void *current_registers(void)
{
	if (has_task_pt_regs())
		return (void *)bpf_task_pt_regs(bpf_get_current_task_btf());
	return registers((struct task_struct *)bpf_get_current_task());
}

#define AT(regs, field) (*(__u64 *)((char *)(regs) + bpf_core_field_offset(field)))

/* All of them at once: a read for each costs more than the rest. */
#define PT_REGS_WORDS 21

#endif /* SNAG_REGISTERS_H */
