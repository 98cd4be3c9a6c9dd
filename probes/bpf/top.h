/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The top of a thread's own stack. Most C libraries are built without frame pointers, so
 * that a walk by them misses who called them: user space finds those callers in here, by
 * call frame information. The walk is the same for many callers then; a hash of the
 * return addresses in the top, its site, tells them apart. After registers.h.
 */
#ifndef SNAG_TOP_H
#define SNAG_TOP_H

/* Words that are kept of a stack: up to the frame pointer where that is one, since the
 * walk is right from there on; else so many as a walk may need. */
#define TOP_WORDS 512
#define TOP_MASK (TOP_WORDS - 1) /* one less are kept */

/* Words that are looked at: whether they stand behind a call. */
#define TOP_LOOKS 96

/* Libraries are mapped so near to mmap_base, below it or, in the legacy layout, above
 * (mm/util.c, arch_pick_mmap_layout), bytes. */
#define MAPPED (1ULL << 36)

struct kept {
	__u64 ip, sp, bp, bx, r10, r12, r13, r14, r15;
};

struct top {
	__s32 ustack; /* the id of the stack that was walked, where it has one */
	__u32 site;
	__u32 tgid;
	__u16 words;
	__u8 waker; /* it is of a thread that woke another */
	__u8 pad;
	struct kept kept;
	__u64 sum; /* while it is read */
	__u64 code, code_size, mapped, looks;
	__u64 word[TOP_WORDS]; /* from the stack pointer up */
};

#define TOP_HEAD (sizeof(struct top) - TOP_WORDS * sizeof(__u64))

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct mm_struct {
	unsigned long start_code; /* of the program itself */
	unsigned long end_code;
	unsigned long mmap_base;
};

struct task_struct___mm {
	struct mm_struct *mm;
};

#pragma clang attribute pop

static __always_inline bool on_x86(void)
{
	return bpf_core_field_exists(((struct pt_regs___x86 *)0)->orig_ax);
}

/* Whether the code before an address ends in a call. x86-64: E8 with 4 bytes; FF /2 with
 * a register, [register], a displacement of 1 or 4 bytes, [rip+displacement]. arm64: BL,
 * BLR. See internal/unwind/scan.go. */
static __always_inline bool behind_call(__u64 address)
{
	__u8 b[8] = {};

	if (address < 4096 || address >> 47)
		return false;
	if (bpf_probe_read_user(b, sizeof(b), (void *)(address - 8)))
		return false;
	if (!on_x86()) {
		__u32 code = *(__u32 *)&b[4];

		return code >> 26 == 0x25 || (code & 0xfffffc1f) == 0xd63f0000;
	}
	if (b[3] == 0xe8)
		return true;
	if (b[6] == 0xff && (b[7] & 0x38) == 0x10) /* call reg, call [reg] */
		return true;
	if (b[5] == 0xff && (b[6] & 0xf8) == 0x50)
		return true;
	if (b[4] == 0xff && b[5] == 0x54)
		return true;
	return b[2] == 0xff && (b[3] == 0x15 || (b[3] & 0xf8) == 0x90);
}

/* Whether a word is the frame pointer of a caller; its frame is read then. */
static __always_inline bool is_frame(__u64 sp, __u64 bp, __u64 *frame)
{
	if (bp < sp || bp - sp > (1 << 20) || bp & 7)
		return false;
	if (bpf_probe_read_user(frame, 2 * sizeof(*frame), (void *)bp))
		return false;
	return (!frame[0] || (frame[0] > bp && frame[0] - bp < (1 << 20))) && behind_call(frame[1]);
}

/* How many words lie below the frame from which on a walk by frame pointers is right: one
 * that returns to the program itself. Those of libraries are not trusted: some functions
 * of a library without frame pointers have one, and their callers have not. */
static __always_inline __u32 words_of(const struct top *t)
{
	const struct kept *k = &t->kept;
	__u64 frame[2] = {}, bp = k->bp;
	__u32 i;

#pragma clang loop unroll(disable)
	for (i = 0; i < 4; i++) {
		if (!is_frame(k->sp, bp, frame))
			return TOP_MASK;
		if (frame[1] - t->code < t->code_size)
			break;
		if (i < 3)
			bp = frame[0];
	}
	return (bp - k->sp) / sizeof(__u64) + 2;
}

/* Too big for the stack of a program. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct top);
} top_scratch SEC(".maps");

static __always_inline struct top *scratch_top(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&top_scratch, &zero);
}

/* Reads words of the stack into t, as many as can be had of so many: above the first frame
 * of a thread there may be nothing, and then it ends with a page. The words reach into one
 * page beyond that of the stack pointer at the most. */
static __always_inline __u32 read_words(struct top *t, __u32 want)
{
	__u32 here = (4096 - (t->kept.sp & 4095)) / sizeof(__u64);

	barrier_var(want); /* so that the compiler keeps the mask, which the verifier understands */
	want &= TOP_MASK;
	if (want && !bpf_probe_read_user(t->word, want * sizeof(__u64), (void *)t->kept.sp))
		return want;
	barrier_var(here);
	here &= TOP_MASK;
	if (here && here < want && !bpf_probe_read_user(t->word, here * sizeof(__u64), (void *)t->kept.sp))
		return here;
	return 0;
}

#define TOP_PART 16

/* Adds the return addresses among a part of the words to the site; 1: no more are looked
 * at. Global, so that it is verified once and not for each part; what it counts lies in
 * the map. */
__noinline int look_at(__u32 from)
{
	struct top *t = scratch_top();
	__u32 i;

	if (!t)
		return 1;
#pragma clang loop unroll(disable)
	for (i = 0; i < TOP_PART; i++) {
		__u64 w;

		if (from + i >= t->words)
			return 1;
		w = t->word[(from + i) & TOP_MASK];
		/* Of the program's own code, or where the kernel maps libraries; not of
		 * this stack. */
		if ((w - t->code >= t->code_size && w - t->mapped >= 2 * MAPPED) ||
		    w - t->kept.sp + (1 << 16) < (1 << 23))
			continue;
		if (t->looks >= TOP_LOOKS) { /* what lies behind is not in the site */
			t->words = from + i;
			return 1;
		}
		t->looks++;
		if (behind_call(w))
			t->sum = (t->sum ^ w) * 0x9e3779b97f4a7c15ULL;
	}
	return 0;
}

/* Reads the top of the stack of the thread that runs now, whose registers stand in the
 * scratch, and gives its site. Global, so that it is verified once. */
__noinline int read_top(void)
{
	struct task_struct___mm *task = (void *)bpf_get_current_task();
	struct mm_struct *mm = BPF_CORE_READ(task, mm);
	struct top *t = scratch_top();
	__u32 i, words;

	if (!t)
		return 0;
	t->code = BPF_CORE_READ(mm, start_code);
	t->code_size = BPF_CORE_READ(mm, end_code) - t->code;
	t->mapped = BPF_CORE_READ(mm, mmap_base) - MAPPED;
	words = words_of(t);
	if (words > TOP_MASK)
		words = TOP_MASK;
	words = read_words(t, words);
	t->words = words;
	t->sum = t->looks = 0;
#pragma clang loop unroll(disable)
	for (i = 0; i < TOP_WORDS; i += TOP_PART)
		if (look_at(i))
			break;
	t->site = t->sum >> 32;
	return 0;
}

/* 64-bit code of user space: __USER_CS (arch/x86/include/asm/segment.h). */
static __always_inline bool is_user64(__u64 cs)
{
	return (cs & 0xff) == 0x33;
}

/* Fills in the registers that a walk needs, by way of the words of a scratch, as the stack
 * of a program is small; false: the thread has none of 64 bits. */
static __always_inline bool keep_registers(struct kept *k, void *from, struct top *scratch)
{
	struct pt_regs___x86 *x = from;
	struct pt_regs___arm64 *a = from;
	__u64 *regs = scratch->word;

	if (on_x86()) {
		if (bpf_probe_read_kernel(regs, PT_REGS_WORDS * sizeof(__u64), x))
			return false;
		if (!is_user64(AT(regs, x->cs)))
			return false;
		k->ip = AT(regs, x->ip);
		k->sp = AT(regs, x->sp);
		k->bp = AT(regs, x->bp);
		k->bx = AT(regs, x->bx);
		k->r10 = AT(regs, x->r10);
		k->r12 = AT(regs, x->r12);
		k->r13 = AT(regs, x->r13);
		k->r14 = AT(regs, x->r14);
		k->r15 = AT(regs, x->r15);
		return true;
	}
	if (!bpf_core_field_exists(a->syscallno))
		return false;
	k->ip = BPF_CORE_READ(a, user_regs.pc);
	k->sp = BPF_CORE_READ(a, user_regs.sp);
	k->bp = BPF_CORE_READ(a, user_regs.regs[29]);
	k->bx = k->r10 = k->r12 = k->r13 = k->r14 = k->r15 = 0;
	return true;
}

#endif /* SNAG_TOP_H */
