/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * What programs have taken of each CPU from whoever ran there, by what a run of each kind
 * is known to cost with the way to it (docs/bench.md): to time every run would cost as
 * much again. After kernel.h and bpf_helpers.h.
 */
#ifndef SNAG_SPENT_H
#define SNAG_SPENT_H

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64); /* ns */
} spent SEC(".maps");

/* Notes that this run takes so many ns; more of it may be added to what is returned. */
static __always_inline __u64 *takes(__u64 ns)
{
	__u32 zero = 0;
	__u64 *sum = bpf_map_lookup_elem(&spent, &zero);

	if (sum)
		*sum += ns;
	return sum;
}

static __always_inline void takes_more(__u64 *sum, __u64 ns)
{
	if (sum)
		*sum += ns;
}

#endif /* SNAG_SPENT_H */
