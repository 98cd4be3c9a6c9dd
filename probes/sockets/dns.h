/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Queries at name servers of this host, as turns that are served: datagrams to UDP sockets
 * that are bound to port 53 and connected to nobody, and what these send. That a datagram
 * came is seen at sock:sk_data_ready (since 6.3), when it has been queued; who asked and
 * with which id is read from it there. The answer is seen when the call that sends it has
 * done its work, and whose it is in that call's arguments. So a packet that leaves and
 * arrives on loopback is seen once on either way. Of a query and its answer only the id,
 * the flags and the code of the answer are read.
 */

/* Datagrams for which one wake-up may stand (6.18 queues what several CPUs receive at
 * once), and messages of one sendmmsg that are looked at. */
#define DNS_CAME 8
#define DNS_SENT 16

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct udp_sock {
	struct sk_buff_head reader_queue; /* what a reader has taken from the receive queue at once */
};

struct pt_regs___fifth {
	unsigned long r8; /* x86: a call's fifth argument */
};

#pragma clang attribute pop

static __always_inline bool serves_names(const struct sock *sk)
{
	__u16 family = sk->__sk_common.skc_family;

	return sk->sk_protocol == IPPROTO_UDP && sk->__sk_common.skc_num == DNS_PORT &&
	       !sk->__sk_common.skc_dport && (family == AF_INET || family == AF_INET6);
}

/* Datagrams that lie in a queue for some time have waited for as long together: so it need
 * not be known which of them is read. */
static __always_inline void note_unread(struct dns_server *s, struct sock *sk, __u64 now)
{
	if (s->slice != slice) {
		s->unread = 0;
		s->slice = slice;
	} else if (now > s->since) {
		s->unread += s->queued * (now - s->since);
	}
	s->since = now;
	s->queued = BPF_CORE_READ((const struct udp_sock *)sk, reader_queue.qlen);
	s->queued += sk->sk_receive_queue.qlen;
}

static __always_inline void peer_v4(struct dns_key *key, __be32 addr)
{
	__u32 *words = (__u32 *)key->peer;

	words[2] = bpf_htonl(0xffff);
	words[3] = addr;
}

enum datagram { DATAGRAM_OTHER, DATAGRAM_UNSEEN, DATAGRAM_DNS };

/* Whether a datagram of a socket's queue is a query or an answer, with whom, and how it begins. */
static __always_inline enum datagram dns_of(const struct sk_buff *skb, struct dns_key *key, __u8 begins[4],
					    bool answer)
{
	const unsigned char *head = BPF_CORE_READ(skb, head), *ip, *payload;
	__u32 linear = BPF_CORE_READ(skb, len) - BPF_CORE_READ(skb, data_len);
	struct udphdr udp = {};
	__u8 version = 0;
	__be32 v4;

	ip = head + BPF_CORE_READ(skb, network_header);
	payload = head + BPF_CORE_READ(skb, transport_header) + sizeof(udp);
	bpf_probe_read_kernel(&udp, sizeof(udp), payload - sizeof(udp));
	if ((answer ? udp.source : udp.dest) != bpf_htons(DNS_PORT) ||
	    bpf_ntohs(udp.len) < sizeof(udp) + DNS_HEADER)
		return DATAGRAM_OTHER;
	if ((__s64)(BPF_CORE_READ(skb, data) + linear - payload) < 4)
		return DATAGRAM_UNSEEN; /* its bytes are in the device's pages */
	bpf_probe_read_kernel(begins, 4, payload);
	if (!(begins[2] & DNS_RESPONSE) == answer)
		return DATAGRAM_OTHER;
	bpf_probe_read_kernel(&version, sizeof(version), ip);
	if (version >> 4 == 6) {
		bpf_probe_read_kernel(key->peer, sizeof(key->peer), ip + 8);
	} else {
		bpf_probe_read_kernel(&v4, sizeof(v4), ip + 12);
		peer_v4(key, v4);
	}
	key->port = udp.source;
	key->id = *(__u16 *)begins;
	return DATAGRAM_DNS;
}

/* Notes a datagram of a socket's queue. False: it was noted before, or is no query. */
static __always_inline bool query_came(const struct sk_buff *skb, __u64 cookie, __u64 now)
{
	struct dns_query fresh = {.begin = now, .slice = slice}, *before;
	struct dns_key key = {.cookie = cookie};
	__u8 begins[4] = {};
	enum datagram is = dns_of(skb, &key, begins, false);

	if (is == DATAGRAM_UNSEEN)
		add(&lost[DNS], 1);
	if (is != DATAGRAM_DNS)
		return false;
	before = bpf_map_lookup_elem(&dns_queries, &key);
	if (before && before->slice == slice && now - before->begin < DNS_WAITS)
		return false; /* or sent again by who waits since then */
	if (bpf_map_update_elem(&dns_queries, &key, &fresh, BPF_ANY))
		add(&lost[DNS], 1);
	return true;
}

/* The last of a socket's queue has just come. */
static __noinline int queries_came(struct sock *sk)
{
	__u64 cookie = bpf_get_socket_cookie(sk), now = bpf_ktime_get_ns();
	static const struct dns_server zero;
	struct dns_server *s = bpf_map_lookup_elem(&dns_servers, &cookie);
	const struct sk_buff *skb;

	if (!s) {
		bpf_map_update_elem(&dns_servers, &cookie, &zero, BPF_NOEXIST);
		s = bpf_map_lookup_elem(&dns_servers, &cookie);
		if (!s) {
			add(&lost[DNS], 1);
			return 0;
		}
		flow_of_typed_sock(&s->flow, sk);
		s->flow.lport = DNS_PORT;
	}
	note_unread(s, sk, now);
	skb = BPF_CORE_READ(sk, sk_receive_queue.prev);
	for (int i = 0; i < DNS_CAME; i++) {
		if (!skb || (__u64)skb == (__u64)&sk->sk_receive_queue)
			break; /* read meanwhile */
		if (!query_came(skb, cookie, now))
			break;
		skb = BPF_CORE_READ(skb, prev);
	}
	return 0;
}

static __noinline int queries_read(struct sock *sk)
{
	__u64 cookie = bpf_get_socket_cookie(sk);
	struct dns_server *s = bpf_map_lookup_elem(&dns_servers, &cookie);
	__u32 pid = bpf_get_current_pid_tgid() >> 32;

	if (!s)
		return 0;
	note_unread(s, sk, bpf_ktime_get_ns());
	if (s->pid != pid) {
		s->pid = pid;
		process_name(&s->comm);
	}
	return 0;
}

static __noinline struct turn_value *dns_row(const struct dns_server *s, const struct dns_key *of)
{
	struct turn_key key = {.role = ROLE_ACCEPT, .udp = 1};
	struct turn_value *v;

	if (!s || !of)
		return NULL;
	key.flow = s->flow;
	if (key.flow.family == 6)
		__builtin_memcpy(key.flow.raddr, of->peer, sizeof(key.flow.raddr));
	else
		*(__u32 *)key.flow.raddr = *(const __u32 *)&of->peer[12];
	v = turn_row_of(&key, &lost[DNS]);
	if (v && !v->pid && s->pid) {
		v->pid = s->pid;
		__builtin_memcpy(v->comm, s->comm, sizeof(v->comm));
	}
	return v;
}

static __always_inline void count_name(struct dns_server *s, const struct dns_key *key, __u64 took, __u8 code)
{
	__u32 i = turn_bucket(took);
	struct turn_value *v = dns_row(s, key);

	if (!v)
		return;
	add(&v->n, 1);
	add(&v->sum, took);
	keep_max(&v->max, took);
	note_slow(v, bpf_get_current_pid_tgid() >> 32, took);
	if (i < TURN_BUCKETS)
		__sync_fetch_and_add(&v->hist[i], 1);
	move(&v->wait, &s->unread);
	if (code != DNS_SERVFAIL && code != DNS_REFUSED)
		return;
	add(&v->failed, 1);
	v->failed_as = code == DNS_REFUSED ? ANSWER_DNS_REFUSED : ANSWER_DNS_SERVFAIL;
}

/* struct sockaddr_in, and the beginning of sockaddr_in6. */
struct user_address {
	__u16 family;
	__be16 port;
	__be32 v4;
};

#define ADDRESS_V6 8 /* in sockaddr_in6 */

/* Whom a message is for. */
static __always_inline bool peer_at(struct dns_key *key, __u64 to)
{
	struct user_address a = {};

	if (bpf_probe_read_user(&a, sizeof(a), (void *)to))
		return false;
	key->port = a.port;
	if (a.family == AF_INET) {
		peer_v4(key, a.v4);
		return true;
	}
	return a.family == AF_INET6 &&
	       !bpf_probe_read_user(key->peer, sizeof(key->peer), (void *)(to + ADDRESS_V6));
}

enum message { MESSAGE_UNSEEN, MESSAGE_NO_ANSWER, MESSAGE_ANSWERS };

/* What is sent from there to there: the answer to which query. */
__noinline int message_of(struct dns_server *s, __u64 cookie, __u64 bytes, __u64 to)
{
	struct dns_key key = {.cookie = cookie};
	__u8 begins[4] = {};
	struct dns_query *q;
	__u64 begin, now;

	if (!s || bpf_probe_read_user(begins, sizeof(begins), (void *)bytes) || !peer_at(&key, to))
		return MESSAGE_UNSEEN;
	if (!(begins[2] & DNS_RESPONSE))
		return MESSAGE_NO_ANSWER; /* it asks others from the same port */
	key.id = *(__u16 *)begins;
	q = bpf_map_lookup_elem(&dns_queries, &key);
	if (!q || q->slice != slice)
		return MESSAGE_NO_ANSWER; /* asked before we looked, or answered already */
	begin = q->begin;
	if (bpf_map_delete_elem(&dns_queries, &key))
		return MESSAGE_NO_ANSWER; /* a thread beside was quicker */
	now = bpf_ktime_get_ns();
	count_name(s, &key, now > begin ? now - begin : 0, begins[3] & DNS_CODE);
	return MESSAGE_ANSWERS;
}

/* struct user_msghdr and mmsghdr. */
struct user_message {
	__u64 name;
	__u64 namelen;
	__u64 iov;
};

#define MMSGHDR 64

/* Of several messages of one call that which has not been noted: they leave in order. */
static __always_inline int messages_of(struct dns_server *s, __u64 cookie, __u64 at, __u64 n)
{
	struct user_message m;
	int kind = MESSAGE_UNSEEN;
	__u64 bytes;

	for (int i = 0; i < DNS_SENT; i++) {
		if (i >= n)
			return kind;
		if (bpf_probe_read_user(&m, sizeof(m), (void *)(at + i * MMSGHDR)) ||
		    bpf_probe_read_user(&bytes, sizeof(bytes), (void *)m.iov))
			return MESSAGE_UNSEEN;
		kind = message_of(s, cookie, bytes, m.name);
		if (kind != MESSAGE_NO_ANSWER)
			return kind;
	}
	return MESSAGE_UNSEEN;
}

static __always_inline __u64 fifth_argument(void)
{
	struct pt_regs___fifth *x = current_registers();
	struct pt_regs___arm64 *a = (void *)x;

	if (bpf_core_field_exists(x->r8))
		return BPF_CORE_READ(x, r8);
	if (bpf_core_field_exists(a->syscallno))
		return BPF_CORE_READ(a, user_regs.regs[4]);
	return 0;
}

/* The present call: its number and arguments, in a frame of its own. */
static __noinline int call_now(struct system_call *c)
{
	if (c)
		read_call(c, bpf_get_current_task_btf());
	return 0;
}

/* A name server has sent something. */
static __noinline int name_sent(struct sock *sk)
{
	__u64 cookie = bpf_get_socket_cookie(sk);
	struct dns_server *s = bpf_map_lookup_elem(&dns_servers, &cookie);
	struct pt_regs___x86 *x = NULL;
	struct system_call c = {.nr = -1};
	int kind = MESSAGE_UNSEEN;

	if (!s)
		return 0; /* nobody has asked yet */
	call_now(&c);
	switch (bpf_core_field_exists(x->orig_ax) ? writes_x86(c.nr) : writes_arm64(c.nr)) {
	case WRITTEN_BYTES:
		kind = message_of(s, cookie, c.args[1], fifth_argument());
		break;
	case WRITTEN_MSGHDR:
		kind = messages_of(s, cookie, c.args[1], 1);
		break;
	case WRITTEN_MMSGHDR:
		kind = messages_of(s, cookie, c.args[1], c.args[2]);
		break;
	default:
		break;
	}
	if (kind == MESSAGE_UNSEEN)
		s->blind = 1;
	return 0;
}
