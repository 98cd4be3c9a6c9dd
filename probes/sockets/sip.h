/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Answers of SIP that a socket sends as datagrams: how many were final, and how many of these
 * 5xx or 6xx. Which request one belongs to stands in headers that are not looked at
 * (RFC 3261, 17.1.3), so how long it took is not known: they are counted apart from turns.
 */

#define SIP_LOOKS 64 /* datagrams without an answer of SIP after which a socket sends others */
#define SIP_LEAST 12 /* "SIP/2.0 503 " */
#define BOUND_PORT 8 /* SOCK_BINDPORT_LOCK */

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct sock___locks {
	__u8 sk_userlocks : 4;
};

#pragma clang attribute pop

struct sip {
	__u32 looked;
	__u32 is;
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct sip);
} socket_sip SEC(".maps");

/* A UDP socket at which anybody may ask: bound by its program, and connected to nobody. */
static __always_inline bool may_answer_calls(struct sock *sk)
{
	__u16 family = sk->__sk_common.skc_family;

	if (sk->sk_protocol != IPPROTO_UDP || sk->__sk_common.skc_dport ||
	    sk->__sk_common.skc_num == DNS_PORT || (family != AF_INET && family != AF_INET6))
		return false;
	return BPF_CORE_READ_BITFIELD_PROBED((struct sock___locks *)sk, sk_userlocks) & BOUND_PORT;
}

static __always_inline struct turn_value *sip_row(struct sock *sk, __u64 to)
{
	struct turn_key key = {.role = ROLE_ACCEPT, .udp = 1};
	struct dns_key of = {};

	if (!client_at(&of, to))
		return NULL;
	flow_of_typed_sock(&key.flow, sk);
	key.flow.lport = sk->__sk_common.skc_num;
	if (key.flow.family == 6)
		__builtin_memcpy(key.flow.raddr, of.client, sizeof(key.flow.raddr));
	else
		*(__u32 *)key.flow.raddr = *(const __u32 *)&of.client[12];
	return turn_row_of(&key, &lost[TURNS]);
}

/* Where the datagram of the present call lies, and whom it is for; false: not known. Which of
 * several messages of sendmmsg it is nobody tells. */
static __always_inline bool datagram_of(__u64 *bytes, __u64 *to)
{
	struct pt_regs___x86 *x = NULL;
	struct system_call c = {.nr = -1};
	struct user_message m;
	enum written kind;

	call_now(&c);
	kind = bpf_core_field_exists(x->orig_ax) ? writes_x86(c.nr) : writes_arm64(c.nr);
	if (kind == WRITTEN_BYTES) {
		*bytes = c.args[1];
		*to = fifth_argument();
		return true;
	}
	if (kind != WRITTEN_MSGHDR && (kind != WRITTEN_MMSGHDR || c.args[2] != 1))
		return false;
	if (bpf_probe_read_user(&m, sizeof(m), (void *)c.args[1]))
		return false;
	*to = m.name;
	return bpf_probe_read_user(bytes, sizeof(*bytes), (void *)m.iov) == 0;
}

static __noinline int sip_sent(struct sock *sk, int n)
{
	struct sip *s = bpf_sk_storage_get(&socket_sip, sk, NULL, BPF_SK_STORAGE_GET_F_CREATE);
	__u64 bytes = 0, to = 0;
	struct turn_value *v;
	__u8 b[SIP_LEAST];

	if (!s || s->looked >= SIP_LOOKS)
		return 0;
	if (n < SIP_LEAST || !datagram_of(&bytes, &to) || bpf_probe_read_user(b, sizeof(b), (void *)bytes) ||
	    !BEGINS4(b, 'S', 'I', 'P', '/') || !BEGINS4(b + 4, '2', '.', '0', ' ')) {
		s->looked += !s->is;
		return 0;
	}
	s->is = 1;
	if (b[8] < '2' || b[8] > '6' || b[11] != ' ')
		return 0; /* 1xx: the answer is yet to come */
	v = sip_row(sk, to);
	if (!v)
		return 0;
	if (!v->pid) {
		v->pid = bpf_get_current_pid_tgid() >> 32;
		bpf_get_current_comm(v->comm, sizeof(v->comm));
	}
	add(&v->untimed, 1);
	if (b[8] >= '5') {
		add(&v->failed, 1);
		v->failed_as = ANSWER_SIP;
	}
	return 0;
}
