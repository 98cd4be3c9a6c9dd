/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Who talks to whom, from a socket or from a packet. */

/* Works on request and time-wait sockets too: only sock_common is read. */
static __always_inline void flow_of_sock(struct flow *f, const struct sock *sk)
{
	__u16 family = BPF_CORE_READ(sk, __sk_common.skc_family);

	f->netns = BPF_CORE_READ(sk, __sk_common.skc_net.net, ns.inum);
	f->lport = BPF_CORE_READ(sk, __sk_common.skc_num);
	f->rport = bpf_ntohs(BPF_CORE_READ(sk, __sk_common.skc_dport));
	if (family == AF_INET6) {
		f->family = 6;
		BPF_CORE_READ_INTO(&f->laddr, sk, __sk_common.skc_v6_rcv_saddr);
		BPF_CORE_READ_INTO(&f->raddr, sk, __sk_common.skc_v6_daddr);
	} else {
		f->family = 4;
		BPF_CORE_READ_INTO((__u32 *)&f->laddr, sk, __sk_common.skc_rcv_saddr);
		BPF_CORE_READ_INTO((__u32 *)&f->raddr, sk, __sk_common.skc_daddr);
	}
}

/* Not for request and time-wait sockets. */
static __always_inline void flow_of_full_sock(struct flow *f, const struct sock *sk)
{
	flow_of_sock(f, sk);
	/* A socket in CLOSE has given its port back (skc_num, inet_put_port). */
	f->lport = bpf_ntohs(BPF_CORE_READ((const struct inet_sock *)sk, inet_sport));
}

/* The same of a socket that a tracepoint hands over with its type (tp_btf): its fields
 * are then plain loads, where each call of bpf_probe_read_kernel costs as much as the
 * rest of a row. Without lport. */
static __always_inline void flow_of_typed_sock(struct flow *f, struct sock *sk)
{
	f->netns = sk->__sk_common.skc_net.net->ns.inum;
	f->rport = bpf_ntohs(sk->__sk_common.skc_dport);
	if (sk->__sk_common.skc_family == AF_INET6) {
		f->family = 6;
		BPF_CORE_READ_INTO(&f->laddr, sk, __sk_common.skc_v6_rcv_saddr);
		BPF_CORE_READ_INTO(&f->raddr, sk, __sk_common.skc_v6_daddr);
	} else {
		f->family = 4;
		*(__u32 *)f->laddr = sk->__sk_common.skc_rcv_saddr;
		*(__u32 *)f->raddr = sk->__sk_common.skc_daddr;
	}
}

/* The local port, also of a socket in CLOSE, which has given skc_num back (see
 * flow_of_full_sock). */
static __always_inline __u16 local_port(struct sock *sk)
{
	__u16 num = sk->__sk_common.skc_num;

	/* It lies beyond struct sock: no plain load. */
	return num ? num : bpf_ntohs(BPF_CORE_READ((const struct inet_sock *)sk, inet_sport));
}

/* A packet that came in: its destination is our end. False: no IP header. */
static __always_inline bool flow_of_packet(struct flow *f, const struct sk_buff *skb)
{
	unsigned char *head = BPF_CORE_READ(skb, head);
	unsigned char *ip = head + BPF_CORE_READ(skb, network_header);
	struct net_device *dev = BPF_CORE_READ(skb, dev);
	struct tcphdr tcp = {};
	__u8 version = 0;

	if (!dev) {
		struct dst_entry *dst = (void *)(BPF_CORE_READ(skb, _skb_refdst) & ~1UL);

		dev = BPF_CORE_READ(dst, dev);
	}
	f->netns = BPF_CORE_READ(dev, nd_net.net, ns.inum);
	bpf_probe_read_kernel(&version, sizeof(version), ip);
	if (version >> 4 == 4) {
		f->family = 4;
		bpf_probe_read_kernel(&f->raddr, 4, ip + 12);
		bpf_probe_read_kernel(&f->laddr, 4, ip + 16);
	} else if (version >> 4 == 6) {
		f->family = 6;
		bpf_probe_read_kernel(&f->raddr, 16, ip + 8);
		bpf_probe_read_kernel(&f->laddr, 16, ip + 24);
	} else {
		return false;
	}
	bpf_probe_read_kernel(&tcp, sizeof(tcp), head + BPF_CORE_READ(skb, transport_header));
	f->rport = bpf_ntohs(tcp.source);
	f->lport = bpf_ntohs(tcp.dest);
	return true;
}

/* The name of the process that runs now. Its threads may have names of their own, as pool-1-thread-7
 * of Java: who serves or asks would be another one each time. */
static __always_inline void process_name(__u8 (*to)[16])
{
	struct task_struct *task = (void *)bpf_get_current_task();

	BPF_CORE_READ_INTO(to, task, group_leader, comm);
}

/* The inode that /proc/PID/fd shows; 0 for an orphan. */
static __always_inline __u64 inode_of(const struct sock *sk)
{
	struct socket_alloc *s = (void *)BPF_CORE_READ(sk, sk_socket);

	return s ? BPF_CORE_READ(s, vfs_inode.i_ino) : 0;
}

static __always_inline bool is_tcp(const struct sock *sk)
{
	__u16 family = sk->__sk_common.skc_family;

	return (family == AF_INET || family == AF_INET6) && sk->sk_protocol == IPPROTO_TCP;
}
