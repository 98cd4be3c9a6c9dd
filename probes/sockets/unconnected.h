/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Datagrams of UDP sockets that are connected to nobody: whom each is for stands only in the
 * arguments of the call that sends it. Of these the queries to name servers, as dnsmasq, BIND
 * and musl send them, who tell the answers apart themselves: by the server and the id, and so
 * they are told here. That an answer came is seen when it has been queued to the socket
 * (sock:sk_data_ready, since 6.3), as in dns.h. Of a query and its answer only the id, the
 * flags and the code of the answer are read.
 *
 * A query is given up when the same is asked again, when it had no answer for as long as
 * clients wait, or when its socket was closed after it had waited for as long as nobody does in
 * vain (ASKED_AGAIN). Of one whose socket was closed sooner nothing is known: another server
 * may have been quicker. No tracepoint tells of a socket's end: the sweep once a second does.
 */

/* Datagrams that are neither a query nor an answer of SIP, after which a socket sends others. */
#define OTHER_DATAGRAMS 64

static __always_inline bool is_unconnected(const struct sock *sk)
{
	__u16 family = sk->__sk_common.skc_family;

	return sk->sk_protocol == IPPROTO_UDP && !sk->__sk_common.skc_dport &&
	       sk->__sk_common.skc_num != DNS_PORT && (family == AF_INET || family == AF_INET6);
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

static __always_inline void gave_up_sent(const struct sent_query *q, __u64 took)
{
	struct query_value *v = query_row(&q->of, q->comm);

	if (v && hidden)
		add(&v->unknown, 1);
	else
		count_given_up(v, took);
}

static __always_inline void note_sent(struct sock *sk, struct dns_key *key)
{
	struct sent_query fresh = {.begin = bpf_ktime_get_ns(), .sk = (__u64)sk, .slice = slice}, *before;
	struct query_value *v;

	key->cookie = bpf_get_socket_cookie(sk);
	before = bpf_map_lookup_elem(&sent_queries, key);
	if (before && before->slice == slice) {
		if (fresh.begin - before->begin < ASKED_AGAIN)
			return; /* sent twice: one answer stands for both */
		gave_up_sent(before, fresh.begin - before->begin);
	}
	fresh.of.flow.netns = sk->__sk_common.skc_net.net->ns.inum;
	fresh.of.flow.family = 6; /* or mapped into it */
	fresh.of.flow.rport = DNS_PORT;
	__builtin_memcpy(fresh.of.flow.raddr, key->peer, sizeof(key->peer));
	fresh.of.pid = bpf_get_current_pid_tgid() >> 32;
	bpf_get_current_comm(fresh.comm, sizeof(fresh.comm));
	if (bpf_map_update_elem(&sent_queries, key, &fresh, BPF_ANY)) {
		add(&lost[QUERIES], 1);
		return;
	}
	v = query_row(&fresh.of, fresh.comm);
	if (v)
		add(&v->asked, 1);
}

/* Whether that is a query; it is noted where its answer will be seen. */
static __noinline int query_sent(struct sock *sk, struct unconnected *u, __u64 bytes, __u64 to)
{
	struct dns_key key = {};
	__u8 begins[4];

	if (!u || !peer_at(&key, to) || key.port != bpf_htons(DNS_PORT) ||
	    bpf_probe_read_user(begins, sizeof(begins), (void *)bytes) ||
	    begins[2] & (DNS_RESPONSE | DNS_OPCODE))
		return 0;
	u->asks = 1;
	if (!asks_unconnected)
		asks_unconnected = true;
	key.id = *(__u16 *)begins;
	if (woken == slice + 1)
		note_sent(sk, &key);
	return 1;
}

/* Notes an answer of a socket's queue. False: it was noted before, or is none. */
static __always_inline bool answer_came(const struct sk_buff *skb, __u64 cookie, __u64 now)
{
	struct dns_key key = {.cookie = cookie};
	struct sent_query *q, was;
	__u8 begins[4] = {};

	switch (dns_of(skb, &key, begins, true)) {
	case DATAGRAM_UNSEEN:
		add(&lost[QUERIES], 1);
		hidden = true;
		return true;
	case DATAGRAM_DNS:
		break;
	default:
		return false;
	}
	q = bpf_map_lookup_elem(&sent_queries, &key);
	if (!q || q->slice != slice)
		return false; /* asked before we looked, or given up */
	was = *q;
	if (!bpf_map_delete_elem(&sent_queries, &key))
		count_answered(query_row(&was.of, was.comm), now > was.begin ? now - was.begin : 0,
			       begins[3] & DNS_CODE);
	return true;
}

/* The last of a socket's queue has just come. */
static __noinline int answers_came(struct sock *sk)
{
	__u64 cookie = bpf_get_socket_cookie(sk), now = bpf_ktime_get_ns();
	const struct sk_buff *skb = BPF_CORE_READ(sk, sk_receive_queue.prev);

	for (int i = 0; i < DNS_CAME; i++) {
		if (!skb || (__u64)skb == (__u64)&sk->sk_receive_queue)
			break; /* read meanwhile */
		if (!answer_came(skb, cookie, now))
			break;
		skb = BPF_CORE_READ(skb, prev);
	}
	return 0;
}

static __always_inline bool asks_there(struct sock *sk)
{
	struct unconnected *u;

	if (!is_unconnected(sk))
		return false;
	u = bpf_sk_storage_get(&socket_unconnected, sk, NULL, 0);
	return u && u->asks;
}

/* Whether the socket that a query was sent from is still open: sock_orphan takes its file away,
 * and whoever gets its memory has another cookie. */
static __always_inline bool is_open(const struct sent_query *q, __u64 cookie)
{
	const struct sock *sk = (const struct sock *)q->sk;

	return BPF_CORE_READ(sk, __sk_common.skc_cookie.counter) == cookie && BPF_CORE_READ(sk, sk_socket);
}
