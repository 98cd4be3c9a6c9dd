/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Connection lifetimes, at sock:inet_sock_set_state (since 4.16). */

static __always_inline struct conn_value *connection(struct sock *sk, __u8 role, int odd)
{
	static const struct conn_value zero;
	struct conn_key key = {};
	void *v;

	flow_of_typed_sock(&key.flow, sk);
	key.role = role;
	if (role != ROLE_CONNECT)
		key.flow.lport = local_port(sk);
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

/* connect(2) runs in the caller's own context. */
static __always_inline void born(__u64 id, __u64 now)
{
	struct birth *b;

	forget_birth(id); /* whose end was not seen */
	b = note_birth(id, ROLE_CONNECT, now, 0);
	if (!b)
		return;
	b->pid = bpf_get_current_pid_tgid() >> 32;
	process_name(&b->comm);
}

static __always_inline void name_caller(struct conn_value *v, const struct birth *b)
{
	if (!b || v->pid || !b->pid)
		return;
	v->pid = b->pid;
	__builtin_memcpy(v->comm, b->comm, sizeof(v->comm));
}

/* An accepted connection is made in whichever context the ACK came. Where an entry is there it
 * is a simultaneous open, still the connect that it was. */
static __always_inline void count_opened(struct sock *sk, __u64 id, int old)
{
	__u64 now = bpf_ktime_get_ns();
	struct birth *b = birth_of(id);
	struct conn_value *v;
	__u8 role;

	if (!b && old == TCP_SYN_RECV)
		b = note_birth(id, ROLE_ACCEPT, now, now);
	if (b)
		role = b->role;
	else
		role = old == TCP_SYN_SENT ? ROLE_CONNECT : ROLE_ACCEPT;
	if (b)
		b->established = now;
	v = connection(sk, role, epoch & 1);
	if (!v)
		return;
	add(&v->opened, 1);
	if (!b || role != ROLE_CONNECT)
		return;
	add(&v->handshake, now - b->syn);
	keep_max(&v->handshake_max, now - b->syn);
	name_caller(v, b);
}

struct moved {
	__u64 in;  /* bytes; a FIN counts */
	__u64 out; /* without those sent again */
};

static __always_inline struct moved bytes_of(struct sock *sk)
{
	const struct tcp_sock *any = (void *)sk;
	struct moved m = {};
	struct tcp_sock *tp;

	if (!has_turns) { /* nor, maybe, the helper */
		m.in = BPF_CORE_READ(any, bytes_received);
		m.out = BPF_CORE_READ(any, bytes_sent) - BPF_CORE_READ(any, bytes_retrans);
		return m;
	}
	tp = bpf_skc_to_tcp_sock(sk);
	if (!tp)
		return m; /* it is one: see is_tcp */
	m.in = tp->bytes_received;
	m.out = tp->bytes_sent - tp->bytes_retrans;
	return m;
}

static __always_inline void count_bytes(struct conn_value *v, struct sock *sk)
{
	struct moved m = bytes_of(sk);

	if (m.in)
		add(&v->bytes_in, m.in);
	if (m.out)
		add(&v->bytes_out, m.out);
}

static __always_inline void count_closed(struct sock *sk, __u64 id, int old)
{
	struct conn_value *v;
	struct birth *b;
	__u8 role;
	__u64 age;

	b = birth_of(id);
	role = b ? b->role : ROLE_UNKNOWN;
	if (!b && old == TCP_SYN_SENT)
		role = ROLE_CONNECT;
	if (!b && old == TCP_SYN_RECV)
		role = ROLE_ACCEPT;
	v = connection(sk, role, epoch & 1);
	if (!v)
		return;
	name_caller(v, b);
	if (old == TCP_SYN_SENT || old == TCP_SYN_RECV) {
		add(&v->failed, 1);
		return;
	}
	add(&v->closed, 1);
	count_bytes(v, sk);
	if (b && (old == TCP_CLOSE_WAIT || old == TCP_LAST_ACK))
		add(&v->by_peer, 1);
	if (b && b->established) {
		age = bpf_ktime_get_ns() - b->established;
		if (age < 1000000000ULL) {
			add(&v->brief, 1);
			if (b->unasked)
				add(&v->unasked, 1);
		}
	} else {
		/* Older than we are: at least as long as we have looked. */
		age = bpf_ktime_get_ns() - started;
	}
	add(&v->lifetime, age);
}

/* This end hangs up. What the client has sent may wait unread in the socket buffer. */
static __always_inline void hangs_up(struct sock *sk, __u64 id)
{
	struct birth *b;

	if (bytes_of(sk).in)
		return;
	b = birth_of(id);
	if (b && b->established && b->role == ROLE_ACCEPT)
		b->unasked = 1;
}

/* The peer hangs up: its FIN has come. */
static __always_inline void hung_up(struct sock *sk, __u64 id)
{
	struct birth *b = birth_of(id);
	struct conn_value *v;

	if (!b) { /* older than we are: it has nothing in which to note it until it is closed */
		v = connection(sk, ROLE_UNKNOWN, epoch & 1);
		if (v)
			add(&v->by_peer, 1);
		return;
	}
	if (b->established && b->role == ROLE_CONNECT && !bytes_of(sk).out)
		b->unasked = 1;
}

static __always_inline void count_state(struct sock *sk, int old, int new)
{
	__u64 id = number_of(sk);

	switch (new) {
	case TCP_SYN_SENT:
		born(id, bpf_ktime_get_ns());
		return;
	case TCP_ESTABLISHED:
		if (old == TCP_SYN_SENT || old == TCP_SYN_RECV)
			count_opened(sk, id, old);
		return;
	case TCP_FIN_WAIT1:
		if (old == TCP_ESTABLISHED)
			hangs_up(sk, id);
		return;
	case TCP_CLOSE_WAIT:
		if (old == TCP_ESTABLISHED)
			hung_up(sk, id);
		return;
	case TCP_CLOSE:
		forget_writes(sk);
		if (old != TCP_LISTEN && old != TCP_CLOSE)
			count_closed(sk, id, old);
		forget_birth(id);
		return;
	}
}
