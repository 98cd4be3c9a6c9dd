/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Connection lifetimes, at sock:inet_sock_set_state (since 4.16). */

static __always_inline struct conn_value *connection(const struct sock *sk, __u8 role, int odd)
{
	static const struct conn_value zero;
	struct conn_key key = {};
	void *v;

	flow_of_full_sock(&key.flow, sk);
	key.role = role;
	if (role == ROLE_CONNECT)
		key.flow.lport = 0;
	if (role == ROLE_ACCEPT)
		key.flow.rport = 0;
	v = odd ? bpf_map_lookup_elem(&connections_b, &key) : bpf_map_lookup_elem(&connections_a, &key);
	if (v)
		return v;
	if (conn_rows[odd & 1] < OTHERS) {
		__sync_fetch_and_add(&conn_rows[odd & 1], 1);
	} else {
		__builtin_memset(key.flow.raddr, 0, sizeof(key.flow.raddr));
		if (role == ROLE_UNKNOWN)
			key.flow.rport = 0;
		key.others = 1;
	}
	return row(&connections_a, &connections_b, odd, &key, &zero, &lost[CONNECTIONS]);
}

static __always_inline void born(const struct sock *sk, __u64 id, __u8 role, __u64 now)
{
	struct birth b = {};

	b.syn = now;
	b.role = role;
	if (role == ROLE_CONNECT) {
		/* connect(2) runs in the caller's own context; an accepted
		 * connection is made in whichever context the ACK came. */
		b.pid = bpf_get_current_pid_tgid() >> 32;
		bpf_get_current_comm(b.comm, sizeof(b.comm));
	}
	if (bpf_map_update_elem(&births, &id, &b, BPF_ANY))
		add(&lost[CONNECTIONS], 1);
}

static __always_inline void name_caller(struct conn_value *v, const struct birth *b)
{
	if (!b || v->pid)
		return;
	v->pid = b->pid;
	__builtin_memcpy(v->comm, b->comm, sizeof(v->comm));
}

SEC("raw_tp/inet_sock_set_state")
int set_state(__u64 *ctx)
{
	const struct sock *sk = (void *)ctx[0];
	int old = ctx[1], new = ctx[2], odd = epoch & 1;
	__u64 id = (__u64)sk, now;
	struct conn_value *v;
	struct birth *b;
	__u8 role;

	if (!is_tcp(sk))
		return 0;
	if (new != TCP_SYN_SENT &&new != TCP_SYN_RECV &&new != TCP_ESTABLISHED &&new != TCP_CLOSE)
		return 0;
	now = bpf_ktime_get_ns();
	add(&runs[CONNECTIONS], 1);
	if (new == TCP_SYN_SENT || (new == TCP_SYN_RECV &&old != TCP_SYN_SENT)) {
		born(sk, id, new == TCP_SYN_SENT ? ROLE_CONNECT : ROLE_ACCEPT, now);
		return 0;
	}
	if (new == TCP_SYN_RECV)
		return 0; /* simultaneous open: still the connect that it was */

	b = bpf_map_lookup_elem(&births, &id);
	role = b ? b->role : ROLE_UNKNOWN;
	if (new == TCP_ESTABLISHED) {
		if (old != TCP_SYN_SENT && old != TCP_SYN_RECV)
			return 0;
		if (!b)
			role = old == TCP_SYN_SENT ? ROLE_CONNECT : ROLE_ACCEPT;
		v = connection(sk, role, odd);
		if (!v)
			return 0;
		add(&v->opened, 1);
		if (b && role == ROLE_CONNECT) {
			add(&v->handshake, now - b->syn);
			keep_max(&v->handshake_max, now - b->syn);
		}
		name_caller(v, b);
		if (b)
			b->established = now;
		return 0;
	}

	/* CLOSE */
	forget_writes(sk);
	if (old == TCP_LISTEN || old == TCP_CLOSE)
		goto gone;
	if (!b && old == TCP_SYN_SENT)
		role = ROLE_CONNECT;
	if (!b && old == TCP_SYN_RECV)
		role = ROLE_ACCEPT;
	v = connection(sk, role, odd);
	if (!v)
		goto gone;
	name_caller(v, b);
	if (old == TCP_SYN_SENT || old == TCP_SYN_RECV) {
		add(&v->failed, 1);
		goto gone;
	}
	const struct tcp_sock *tp = (void *)sk;

	add(&v->closed, 1);
	add(&v->bytes_in, BPF_CORE_READ(tp, bytes_received));
	add(&v->bytes_out, BPF_CORE_READ(tp, bytes_sent) - BPF_CORE_READ(tp, bytes_retrans));
	if (b && b->established) {
		add(&v->lifetime, now - b->established);
		if (now - b->established < 1000000000ULL)
			add(&v->brief, 1);
	} else {
		/* Older than we are: at least as long as we have looked. */
		add(&v->lifetime, now - started);
	}
gone:
	bpf_map_delete_elem(&births, &id);
	return 0;
}
