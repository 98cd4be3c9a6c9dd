/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Answers of SIP that a socket sends as datagrams: how many were final, and how many of these
 * 5xx or 6xx. Which request one belongs to stands in headers that are not looked at
 * (RFC 3261, 17.1.3), so how long it took is not known: they are counted apart from turns.
 */

#define SIP_LEAST 12 /* "SIP/2.0 503 " */
#define BOUND_PORT 8 /* SOCK_BINDPORT_LOCK */

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct sock___locks {
	__u8 sk_userlocks : 4;
};

#pragma clang attribute pop

/* Whether a socket was bound by its program: at one that is connected to nobody anybody may ask. */
static __always_inline bool is_bound(struct sock *sk)
{
	return BPF_CORE_READ_BITFIELD_PROBED((struct sock___locks *)sk, sk_userlocks) & BOUND_PORT;
}

static __always_inline struct turn_value *sip_row(struct sock *sk, __u64 to)
{
	struct turn_key key = {.role = ROLE_ACCEPT, .udp = 1};
	struct dns_key of = {};

	if (!peer_at(&of, to))
		return NULL;
	flow_of_typed_sock(&key.flow, sk);
	key.flow.lport = sk->__sk_common.skc_num;
	if (key.flow.family == 6)
		__builtin_memcpy(key.flow.raddr, of.peer, sizeof(key.flow.raddr));
	else
		*(__u32 *)key.flow.raddr = *(const __u32 *)&of.peer[12];
	return turn_row_of(&key, &lost[TURNS]);
}

/* Whether that is an answer of SIP; it is counted. */
static __noinline int sip_sent(struct sock *sk, int n, __u64 bytes, __u64 to)
{
	struct turn_value *v;
	__u8 b[SIP_LEAST];

	if (n < SIP_LEAST || !is_bound(sk) || bpf_probe_read_user(b, sizeof(b), (void *)bytes) ||
	    !BEGINS4(b, 'S', 'I', 'P', '/') || !BEGINS4(b + 4, '2', '.', '0', ' '))
		return 0;
	if (b[8] < '2' || b[8] > '6' || b[11] != ' ')
		return 1; /* 1xx: the answer is yet to come */
	v = sip_row(sk, to);
	if (!v)
		return 1;
	if (!v->pid) {
		v->pid = bpf_get_current_pid_tgid() >> 32;
		process_name(&v->comm);
	}
	add(&v->untimed, 1);
	if (b[8] >= '5') {
		add(&v->failed, 1);
		v->failed_as = ANSWER_SIP;
	}
	return 1;
}

/* A socket that is connected to nobody has sent a datagram. */
static __noinline int datagram_sent(struct sock *sk, int n, __u64 *ns)
{
	struct unconnected *u =
	    bpf_sk_storage_get(&socket_unconnected, sk, NULL, BPF_SK_STORAGE_GET_F_CREATE);
	__u64 bytes = 0, to = 0;

	if (!u || u->others >= OTHER_DATAGRAMS)
		return 0;
	takes_more(ns, WHOLE_RUN - SHORT_RUN);
	if (datagram_of(&bytes, &to)) {
		if (query_sent(sk, u, bytes, to))
			return 0;
		if (sip_sent(sk, n, bytes, to))
			u->sip = 1;
	}
	if (!u->asks && !u->sip)
		u->others++;
	return 0;
}
