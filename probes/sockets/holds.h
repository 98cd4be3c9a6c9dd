/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Small writes that Nagle's algorithm holds (net/ipv4/tcp_output.c,
 * tcp_nagle_check): seen after the write, at sock:sock_send_length (since 6.3),
 * by what is left unsent, and released by an ACK, seen at tcp:tcp_probe, which
 * runs before the ACK is processed.
 */

#define TCP_NAGLE_OFF 1
#define TCP_NAGLE_CORK 2

/* Counts with the socket's turn, whose memory is at hand; where it has none, in a table. */
static __always_inline void count_write(struct turn *t, __u64 id)
{
	struct writes *w;
	__u32 at = epoch;

	if (t) {
		if (t->writes_at != at) {
			t->writes_at = at;
			t->writes = 0;
		}
		__sync_fetch_and_add(&t->writes, 1);
		return;
	}
	w = bpf_map_lookup_elem(&writers, &id);
	if (!w) {
		struct writes first = {.at = at, .now = 1};

		bpf_map_update_elem(&writers, &id, &first, BPF_ANY);
		tabled = true;
		return;
	}
	if (w->at != at) {
		w->before = w->at + 1 == at ? w->now : 0;
		w->now = 0;
		w->at = at;
	}
	__sync_fetch_and_add(&w->now, 1);
}

static __always_inline void release(__u64 id)
{
	if (bpf_map_delete_elem(&pendings, &id) == 0)
		__sync_fetch_and_add(&holding, -1);
}

static __always_inline struct hold_key hold_key(struct sock *sk)
{
	struct hold_key key = {.sk = (__u64)sk};

	key.lport = local_port(sk);
	key.rport = bpf_ntohs(sk->__sk_common.skc_dport);
	return key;
}

static __always_inline struct hold *hold_of(struct sock *sk)
{
	static const struct hold zero;
	struct hold_key key = hold_key(sk);
	struct hold *h = row(&holds_a, &holds_b, epoch & 1, &key, &zero, &lost[HOLDS]);

	if (h && !h->flow.family) {
		flow_of_typed_sock(&h->flow, sk);
		h->flow.lport = local_port(sk);
		h->inode = inode_of(sk);
		h->cookie = BPF_CORE_READ(sk, __sk_common.skc_cookie.counter);
	}
	return h;
}

/* A socket that closes leaves the count of its writes with its holds. */
static __always_inline void forget_writes(struct sock *sk)
{
	__u64 id = (__u64)sk;
	struct writes *w;
	struct hold *h;

	if (holding)
		release(id);
	if (!tabled)
		return; /* as nearly always: they are counted with their sockets */
	w = bpf_map_lookup_elem(&writers, &id);
	if (!w)
		return;
	if (w->at == epoch) {
		struct hold_key key = hold_key(sk);

		h = epoch & 1 ? bpf_map_lookup_elem(&holds_b, &key) : bpf_map_lookup_elem(&holds_a, &key);
		if (h)
			h->writes = w->now;
	}
	bpf_map_delete_elem(&writers, &id);
}

/* A hold ends, once: the ACK that frees it may be seen while the write is looked at. */
static __always_inline void let_go(struct hold *h, __u64 id, const struct pending *p)
{
	__u64 last = bpf_ktime_get_ns() - p->first, n = p->n, sum = n * last - p->starts;

	if (bpf_map_delete_elem(&pendings, &id))
		return;
	__sync_fetch_and_add(&holding, -1);
	add(&h->released, n);
	add(&h->sum, sum);
	keep_max(&h->max, last);
}

static __always_inline void hold_write(struct sock *sk, struct tcp_sock *tp, struct turn *t)
{
	struct pending *p, first = {};
	__u32 unsent, write_seq, snd_nxt;
	__u64 id = (__u64)sk, now;
	struct hold *h;

	if (BPF_CORE_READ_BITFIELD(tp, nonagle) & (TCP_NAGLE_OFF | TCP_NAGLE_CORK))
		return; /* asked not to be held, or to be */
	count_write(t, id);
	if (t && t->held == t->writes_at + 1) { /* its row has the writes of the second */
		h = hold_of(sk);
		if (h)
			h->writes = t->writes;
	}
	write_seq = tp->write_seq;
	snd_nxt = tp->snd_nxt;
	unsent = write_seq - snd_nxt;
	if (unsent == 0 || unsent >= tp->mss_cache)
		return;
	/* Something is on its way, and neither the congestion window nor the
	 * peer's receive window is what holds it. */
	if (tp->packets_out == 0 || tp->packets_out >= tp->snd_cwnd || write_seq - tp->snd_una > tp->snd_wnd)
		return;

	now = bpf_ktime_get_ns();
	h = hold_of(sk);
	if (!h)
		return;
	add(&h->held, 1);
	if (t) {
		t->held = t->writes_at + 1;
		h->writes = t->writes;
	}
	p = bpf_map_lookup_elem(&pendings, &id);
	if (p && p->seq == snd_nxt) {
		p->starts += now - p->first;
		p->n++;
	} else {
		first.first = now;
		first.n = 1;
		first.seq = snd_nxt;
		first.pid = bpf_get_current_pid_tgid() >> 32;
		process_name(&first.comm);
		if (bpf_map_update_elem(&pendings, &id, &first, BPF_ANY))
			add(&lost[HOLDS], 1);
		else if (!p)
			__sync_fetch_and_add(&holding, 1);
		p = &first;
	}
	if (!h->pid) {
		h->pid = p->pid;
		__builtin_memcpy(h->comm, p->comm, sizeof(h->comm));
	}
	/* The socket is no longer locked here. An ACK on another CPU that came since then
	 * may have looked for the hold before it was noted. */
	if (*(volatile __u32 *)&tp->snd_nxt != snd_nxt)
		let_go(h, id, p);
}

static __always_inline void free_held(struct sock *sk, struct tcp_sock *tp, const struct sk_buff *skb)
{
	__u64 id = (__u64)sk;
	struct pending *p;
	__u32 ack = 0;
	struct hold *h;

	if (!holding)
		return; /* as nearly always; every segment comes by here */
	p = bpf_map_lookup_elem(&pendings, &id);
	if (!p)
		return;
	if (tp->snd_nxt != p->seq) {
		/* It left before: more data made a full segment of it. */
		release(id);
		return;
	}
	bpf_probe_read_kernel(&ack, sizeof(ack), &((const struct tcp_skb_cb *)skb->cb)->ack_seq);
	/* It must acknowledge something new, and with it the small segment that
	 * is on its way (tcp_minshall_check). */
	if ((__s32)(ack - tp->snd_una) <= 0 || (__s32)(tp->snd_sml - ack) > 0)
		return;
	h = hold_of(sk);
	if (!h) {
		release(id);
		return;
	}
	if (!h->pid) {
		h->pid = p->pid;
		__builtin_memcpy(h->comm, p->comm, sizeof(h->comm));
	}
	let_go(h, id, p);
}
