/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * What is noted of each open connection, by its socket. A host that makes a connection for
 * each request spends more on a hash table, where each search, insertion and removal takes
 * locks and a list, than on all the rest of counting. So each socket has a place that its
 * address alone chooses, in an array. The few whose place is taken are in a small hash table.
 */

/* A power of two: see inkernel.go, which sets it where there is little memory. */
const volatile __u32 places = SOCKETS;

/* A number for a socket, with which one may calculate: the verifier allows no arithmetic with
 * the address of a socket that a tracepoint hands over with its type, but the distance of two
 * addresses is a number. */
static __always_inline __u64 number_of(const struct sock *sk)
{
	__u64 n = (__u64)sk;

	asm volatile("%0 -= %1" : "+r"(n) : "r"(&epoch));
	return n;
}

/* The same of a socket whose address is a number already (raw_tp). */
static __always_inline __u64 number_of_untyped(const struct sock *sk)
{
	__u64 from = (__u64)&epoch, known = 0;

	bpf_probe_read_kernel(&known, sizeof(known), &from);
	return (__u64)sk - known;
}

static __always_inline struct birth *place_of(__u64 id)
{
	/* Sockets of one slab are a few KiB apart: the multiplication spreads them. */
	__u32 at = (id * 0x9e3779b97f4a7c15ULL >> 32) & (places - 1);

	return bpf_map_lookup_elem(&births, &at);
}

static __always_inline struct birth *birth_of(__u64 id)
{
	struct birth *b = place_of(id);

	if (b && b->sk == id)
		return b;
	return crowded ? bpf_map_lookup_elem(&more_births, &id) : NULL;
}

/* Takes a free place. Of two CPUs that try at once one may get it, or neither. Adding needs no
 * order of two stores, and an exchange that compares needs Linux 5.12. */
static __always_inline bool take_place(struct birth *b, __u64 id)
{
	if (b->sk)
		return false;
	add(&b->sk, id);
	if (*(volatile __u64 *)&b->sk == id)
		return true;
	add(&b->sk, -id);
	return false;
}

/* An entry for a socket that has none. NULL: there is no room. */
static __always_inline struct birth *note_birth(__u64 id, __u8 role, __u64 syn, __u64 established)
{
	struct birth *b = place_of(id),
		     fresh = {.sk = id, .syn = syn, .established = established, .role = role};

	if (b && take_place(b, id)) {
		b->syn = syn;
		b->established = established;
		b->pid = 0;
		b->comm[0] = 0;
		b->role = role;
		b->unasked = 0;
		return b;
	}
	if (!bpf_map_update_elem(&more_births, &id, &fresh, BPF_NOEXIST))
		__sync_fetch_and_add(&crowded, 1);
	b = bpf_map_lookup_elem(&more_births, &id);
	if (!b)
		add(&lost[CONNECTIONS], 1);
	return b;
}

static __always_inline void forget_birth(__u64 id)
{
	struct birth *b = place_of(id);

	if (b && b->sk == id) {
		add(&b->sk, -id);
		return;
	}
	if (crowded && !bpf_map_delete_elem(&more_births, &id))
		__sync_fetch_and_add(&crowded, -1);
}
