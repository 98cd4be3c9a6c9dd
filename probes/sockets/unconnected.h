/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Datagrams of UDP sockets that are connected to nobody: whom each is for stands only in the
 * arguments of the call that sends it. Of these the queries to name servers, as dnsmasq, BIND
 * and musl send them, who tell the answers apart themselves: by the server and the id, and so
 * they are told here. That an answer came is seen when it has been queued to the socket
 * (sock:sk_data_ready, since 6.3), as in dns.h. Of a query and its answer only the id, the
 * flags and the code of the answer are read.
 *
 * A reader that is awake may take an answer from the queue before that event is called. When it
 * has read more answers of an id than were noted, it is the one that is still open; where
 * several are, it is not known which.
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

static __always_inline void gave_up_sent(const struct sent_query *q, __u64 took, bool unseen)
{
	struct query_value *v = query_row(&q->of, q->comm);

	if (v && (hidden || unseen))
		add(&v->unknown, 1);
	else
		count_given_up(v, took);
}

/* Whether an answer of that id may have been read: one was whose sender is not known, or what
 * was read has been pushed out. */
static __always_inline bool read_unseen(const struct dns_key *key)
{
	struct id_key id = {.cookie = key->cookie, .id = key->id};
	struct asked_of *a = bpf_map_lookup_elem(&asked_ids, &id);

	return !a || (a->slice == slice && !a->again && a->read > a->came);
}

/* Notes whom this socket has asked under that id; again: it had asked him before. */
static __always_inline void note_asked(const struct dns_key *key, bool again)
{
	struct id_key id = {.cookie = key->cookie, .id = key->id};
	static const struct asked_of zero;
	struct asked_of *a = bpf_map_lookup_elem(&asked_ids, &id);
	__u32 n;

	if (!a || a->slice != slice || (a->read == a->n && !again)) {
		bpf_map_update_elem(&asked_ids, &id, &zero, BPF_ANY);
		a = bpf_map_lookup_elem(&asked_ids, &id);
		if (!a)
			return;
		a->slice = slice;
	}
	n = a->n;
	if (again || n >= ASKED_OF) {
		a->again = 1;
		return;
	}
	__builtin_memcpy(a->peers[n], key->peer, sizeof(key->peer));
	a->n = n + 1;
}

static __always_inline void note_sent(struct sock *sk, struct dns_key *key)
{
	struct sent_query fresh = {.begin = bpf_ktime_get_ns(), .sk = (__u64)sk, .slice = slice}, *before;
	struct query_value *v;
	bool unseen;

	key->cookie = bpf_get_socket_cookie(sk);
	before = bpf_map_lookup_elem(&sent_queries, key);
	if (before && before->slice == slice) {
		unseen = read_unseen(key);
		note_asked(key, true);
		if (fresh.begin - before->begin < ASKED_AGAIN)
			return; /* sent twice: one answer stands for both */
		gave_up_sent(before, fresh.begin - before->begin, unseen);
	} else {
		note_asked(key, false);
	}
	fresh.of.flow.netns = sk->__sk_common.skc_net.net->ns.inum;
	fresh.of.flow.family = 6; /* or mapped into it */
	fresh.of.flow.rport = DNS_PORT;
	__builtin_memcpy(fresh.of.flow.raddr, key->peer, sizeof(key->peer));
	fresh.of.pid = bpf_get_current_pid_tgid() >> 32;
	process_name(&fresh.comm);
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

/* Counts the answer to a query, once. */
static __always_inline bool answered(const struct dns_key *key, __u64 now, __u8 code)
{
	struct sent_query *q = bpf_map_lookup_elem(&sent_queries, key), was;

	if (!q || q->slice != slice)
		return false; /* asked before we looked, or given up */
	was = *q;
	if (!bpf_map_delete_elem(&sent_queries, key)) {
		struct id_key id = {.cookie = key->cookie, .id = key->id};
		struct asked_of *a = bpf_map_lookup_elem(&asked_ids, &id);

		if (a)
			__sync_fetch_and_add(&a->came, 1);
		count_answered(query_row(&was.of, was.comm), now > was.begin ? now - was.begin : 0, code);
	}
	return true;
}

/* Who of those that were asked under an id has not answered, as far as is known: a bit each. */
static __always_inline __u32 still_open(const struct asked_of *a, struct dns_key *key)
{
	__u32 open = 0;

	for (int i = 0; i < ASKED_OF && i < a->n; i++) {
		__builtin_memcpy(key->peer, a->peers[i], sizeof(key->peer));
		if (bpf_map_lookup_elem(&sent_queries, key))
			open |= 1 << i;
	}
	return open;
}

/* The present call has read a datagram of n bytes at a socket that asks. */
static __noinline int answer_read(struct sock *sk, int n)
{
	struct dns_key key = {.port = bpf_htons(DNS_PORT)};
	struct id_key id = {};
	struct asked_of *a;
	struct first f = {};
	__u32 open, missed = 0;

	if (n < DNS_HEADER || !first_bytes(&f, n, true) || !(f.b[2] & DNS_RESPONSE))
		return 0;
	key.cookie = id.cookie = bpf_get_socket_cookie(sk);
	id.id = key.id = *(__u16 *)f.b;
	a = bpf_map_lookup_elem(&asked_ids, &id);
	if (!a || a->slice != slice)
		return 0;
	__sync_fetch_and_add(&a->read, 1);
	if (a->again || a->read <= a->came)
		return 0;
	missed = a->read - a->came;
	open = still_open(a, &key);
	for (int i = 0; i < ASKED_OF; i++)
		missed -= open >> i & 1;
	if (missed)
		return 0; /* one of several: not known whose */
	for (int i = 0; i < ASKED_OF; i++) {
		if (!(open >> i & 1))
			continue;
		__builtin_memcpy(key.peer, a->peers[i], sizeof(key.peer));
		/* Of several the code may be another's. */
		answered(&key, bpf_ktime_get_ns(), a->n == 1 ? f.b[3] & DNS_CODE : 0);
	}
	return 0;
}

/* Notes an answer of a socket's queue. False: it was noted before, or is none. */
static __always_inline bool answer_came(const struct sk_buff *skb, __u64 cookie, __u64 now)
{
	struct dns_key key = {.cookie = cookie};
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
	return answered(&key, now, begins[3] & DNS_CODE);
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
