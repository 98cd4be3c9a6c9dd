// clang-format off
//go:build ignore

// clang-format on

// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Every packet the kernel frees as a drop, counted by reason, place, namespace,
 * protocol, ports and victim socket, at the raw tracepoint skb:kfree_skb
 * (include/trace/events/skb.h). Nothing is sent to user space a drop at a time:
 * user space swaps the map of counts once a second and reads the old one, and
 * only the first packets of each (reason, place) of a second get a stack.
 *
 * The task that is current here is whoever the softirq interrupted: never used.
 */
#include "kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

char __license[] SEC("license") = "Dual BSD/GPL";

/* Which arguments this kernel's tracepoint has. A load of one that it has not
 * is refused at attach, so the branches must be dead to the verifier. */
const volatile bool has_reason = false; /* since 5.17 */
const volatile bool has_rx_sk = false;	/* since 6.11 */
const volatile __u32 purged = 0;	/* SKB_DROP_REASON_QUEUE_PURGE; 0: this kernel has it not */
const volatile __u32 stacks_each = 8;	/* stacks per second for each (reason, place) */

#define COUNTS 8192
#define FOLDED 1024
#define DEPTH 32

struct key {
	__u64 place; /* the address kfree_skb was called from */
	__u64 inode; /* the socket that lost the packet, 0 not known */
	__u32 reason;
	__u32 netns; /* inode, 0 not known */
	__be16 sport;
	__be16 dport;
	__u8 proto;  /* IP protocol number, 0 not known */
	__u8 family; /* 4, 6, or 0: no IP header was found */
	__u8 sent;   /* inode is the sender's */
	__u8 pad;
};

struct value {
	__u64 n;
	__u64 first;	/* CLOCK_MONOTONIC, ns */
	__u8 saddr[16]; /* of the first packet */
	__u8 daddr[16];
	char device[16];
	__s32 stack; /* id + 1; 0 none was taken */
	__u32 pad;
};

struct place {
	__u64 place;
	__u32 reason;
	__u32 pad;
};

/* What could not be counted, or not in full. */
enum lost {
	LOST_DROPS,  /* drops in neither map */
	LOST_FLOWS,  /* counted, but without ports and socket: too many kinds at once */
	LOST_STACKS, /* stacks that could not be kept */
	LOST_MAX,
};

struct counts {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, COUNTS);
	__type(key, struct key);
	__type(value, struct value);
};

struct counts counts_a SEC(".maps");
struct counts counts_b SEC(".maps");

/* The map in use. Writing a map of maps from user space returns only after
 * every program that may still hold the old one has ended (kernel/bpf/syscall.c,
 * maybe_wait_bpf_programs), so the old one is complete when it is read. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__array(values, struct counts);
} current SEC(".maps") = {.values = {&counts_a}};

/* Running totals by reason and place alone, for when a second has more kinds
 * of drops than fit: the number stays exact. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, FOLDED);
	__type(key, struct key);
	__type(value, __u64);
} folded SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, FOLDED);
	__type(key, struct place);
	__type(value, __u32);
} stacked SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, 2048);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, DEPTH * sizeof(__u64));
} stacks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, LOST_MAX);
	__type(key, __u32);
	__type(value, __u64);
} lost SEC(".maps");

static __always_inline void lose(__u32 what)
{
	__u64 *n = bpf_map_lookup_elem(&lost, &what);

	if (n)
		*n += 1;
}

/* A pointer into the kernel. skb->dev shares its place with UDP's dev_scratch,
 * a small number (net/ipv4/udp.c, udp_set_dev_scratch). */
static __always_inline bool is_pointer(const void *p)
{
	return (__s64)p < 0;
}

/* Inodes of namespaces are given from 0xF0000000 up, those of the first ones
 * lie just below (include/linux/proc_ns.h). Anything else was not a namespace:
 * skb->dev also shares its place with the node of TCP's out-of-order tree. */
static __always_inline __u32 netns_of(struct net *net)
{
	__u32 inum = BPF_CORE_READ(net, ns.inum);

	return inum >= 0xEFFFFF00 ? inum : 0;
}

/* Sockets in these two states are smaller structs without a struct socket. */
static __always_inline bool is_full(struct sock *sk)
{
	__u8 state = BPF_CORE_READ(sk, __sk_common.skc_state);

	return state != TCP_TIME_WAIT && state != TCP_NEW_SYN_RECV;
}

static __always_inline __u64 inode_of(struct sock *sk)
{
	struct socket *s = BPF_CORE_READ(sk, sk_socket);

	if (!is_pointer(s)) /* already closed, or not accepted yet */
		return 0;
	return BPF_CORE_READ((struct socket_alloc *)s, vfs_inode.i_ino);
}

/* Protocol and ports into the key, addresses into the value. A header is looked
 * for only where the skb says that it has one, and believed only if its version
 * agrees; a fragment but the first has no ports. */
static __always_inline void headers(struct sk_buff *skb, struct key *k, struct value *v)
{
	__u16 offset = BPF_CORE_READ(skb, network_header);
	__be16 protocol = BPF_CORE_READ(skb, protocol);
	unsigned char *ip, *l4;
	__u32 ports = 0;

	if (offset == 0 || offset == 0xffff)
		return;
	ip = BPF_CORE_READ(skb, head) + offset;
	if (protocol == bpf_htons(ETH_P_IP)) {
		struct iphdr h;

		if (bpf_probe_read_kernel(&h, sizeof(h), ip) || h.ihl_version >> 4 != 4)
			return;
		k->family = 4;
		k->proto = h.protocol;
		__builtin_memcpy(v->saddr, &h.saddr, 4);
		__builtin_memcpy(v->daddr, &h.daddr, 4);
		if (h.frag_off & bpf_htons(0x1fff))
			return;
		l4 = ip + (h.ihl_version & 15) * 4;
	} else if (protocol == bpf_htons(ETH_P_IPV6)) {
		struct ipv6hdr h;

		if (bpf_probe_read_kernel(&h, sizeof(h), ip) || h.version_priority >> 4 != 6)
			return;
		k->family = 6;
		k->proto = h.nexthdr;
		__builtin_memcpy(v->saddr, &h.saddr, 16);
		__builtin_memcpy(v->daddr, &h.daddr, 16);
		l4 = ip + sizeof(h);
	} else {
		return;
	}
	if (k->proto != IPPROTO_TCP && k->proto != IPPROTO_UDP)
		return;
	if (bpf_probe_read_kernel(&ports, sizeof(ports), l4))
		return;
	k->sport = ports & 0xffff;
	k->dport = ports >> 16;
}

static __always_inline void owner(struct sk_buff *skb, struct sock *rx_sk, struct key *k)
{
	struct sock *sk = rx_sk;

	if (!is_pointer(sk))
		sk = BPF_CORE_READ(skb, sk);
	if (!is_pointer(sk))
		return;
	k->netns = netns_of(BPF_CORE_READ(sk, __sk_common.skc_net.net));
	if (!is_full(sk))
		return;
	if (!k->proto) {
		__u16 family = BPF_CORE_READ(sk, __sk_common.skc_family);

		if (family == AF_INET || family == AF_INET6)
			k->proto = BPF_CORE_READ(sk, sk_protocol);
	}
	/* Without rx_sk, skb->sk is the sender's on the way out, and the
	 * receiver's after early demultiplexing: the port tells them apart. */
	if (sk != rx_sk) {
		__u16 num = BPF_CORE_READ(sk, __sk_common.skc_num);

		if (!k->family || num == bpf_ntohs(k->sport))
			k->sent = 1;
		else if (num != bpf_ntohs(k->dport))
			return;
	}
	k->inode = inode_of(sk);
}

/* The device, where it is one: it has a namespace. */
static __always_inline struct net_device *device(struct sk_buff *skb, __u32 *netns)
{
	struct net_device *dev = BPF_CORE_READ(skb, dev);

	if (!is_pointer(dev))
		return NULL;
	*netns = netns_of(BPF_CORE_READ(dev, nd_net.net));
	return *netns ? dev : NULL;
}

static __always_inline bool in_time_wait(struct sock *sk)
{
	return is_pointer(sk) && BPF_CORE_READ(sk, __sk_common.skc_state) == TCP_TIME_WAIT;
}

/* What comes for a connection in TIME-WAIT is answered and freed. Nobody asks for the
 * client's port, which would make each a kind of its own. It is the higher of the two: ports that
 * connect(2) chooses are (ip_local_port_range). */
static __always_inline void forget_client(struct key *k)
{
	if (bpf_ntohs(k->sport) > bpf_ntohs(k->dport))
		k->sport = 0;
	else
		k->dport = 0;
}

/* At most stacks_each a second for each reason and place, so that a flood of
 * drops costs its count only (a stack costs some µs). */
static __always_inline void stack(void *ctx, struct key *k, struct value *v)
{
	struct place p = {.place = k->place, .reason = k->reason};
	__u32 one = 1, *taken;
	long id;

	taken = bpf_map_lookup_elem(&stacked, &p);
	if (taken) {
		if (*taken >= stacks_each)
			return;
		__sync_fetch_and_add(taken, 1);
	} else if (!stacks_each || bpf_map_update_elem(&stacked, &p, &one, BPF_ANY)) {
		return;
	}
	id = bpf_get_stackid(ctx, &stacks, 0);
	if (id < 0)
		lose(LOST_STACKS);
	else
		v->stack = id + 1;
}

static __always_inline void fold(struct key *k)
{
	struct key f = {.place = k->place, .reason = k->reason, .netns = k->netns, .proto = k->proto};
	__u64 one = 1, *n;

	n = bpf_map_lookup_elem(&folded, &f);
	if (!n) {
		if (!bpf_map_update_elem(&folded, &f, &one, BPF_NOEXIST)) {
			lose(LOST_FLOWS);
			return;
		}
		n = bpf_map_lookup_elem(&folded, &f);
	}
	if (!n) {
		lose(LOST_DROPS);
		return;
	}
	__sync_fetch_and_add(n, 1);
	lose(LOST_FLOWS);
}

static __always_inline bool counted(void *counts, const struct key *k)
{
	struct value *v = bpf_map_lookup_elem(counts, k);

	if (v)
		__sync_fetch_and_add(&v->n, 1);
	return v;
}

SEC("raw_tracepoint/kfree_skb")
int kfree_skb(__u64 *ctx)
{
	struct sk_buff *skb = (struct sk_buff *)ctx[0];
	struct sock *rx_sk = NULL;
	struct key k = {.place = ctx[1]};
	struct value v = {}, *old;
	struct net_device *dev;
	__u32 zero = 0, netns;
	void *counts;

	if (has_reason)
		k.reason = (__u32)ctx[2];
	if (has_rx_sk)
		rx_sk = (struct sock *)ctx[3];
	counts = bpf_map_lookup_elem(&current, &zero);
	if (!counts) {
		lose(LOST_DROPS);
		return 0;
	}
	/* What a closed socket's queue held: at the end of nearly each TCP connection its FIN.
	 * Nobody lost anything by it (benign.go), so nobody asks for its flow and its socket, which
	 * take most of the time. */
	if (!purged || k.reason != purged) {
		headers(skb, &k, &v);
		owner(skb, rx_sk, &k);
		if (k.proto == IPPROTO_TCP && in_time_wait(rx_sk))
			forget_client(&k);
		if (!k.netns)
			device(skb, &k.netns);
	}
	if (counted(counts, &k))
		return 0;
	v.n = 1;
	v.first = bpf_ktime_get_ns();
	dev = device(skb, &netns);
	if (dev)
		BPF_CORE_READ_INTO(&v.device, dev, name);
	stack(ctx, &k, &v);
	if (!bpf_map_update_elem(counts, &k, &v, BPF_NOEXIST))
		return 0;
	old = bpf_map_lookup_elem(counts, &k); /* another CPU was first */
	if (old)
		__sync_fetch_and_add(&old->n, 1);
	else
		fold(&k);
	return 0;
}
