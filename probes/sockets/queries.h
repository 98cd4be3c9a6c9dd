/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Queries to name servers: datagrams to port 53 of a connected UDP socket, which
 * is what glibc, Go, c-ares, systemd-resolved and nginx ask by, and their answers
 * (sock:sock_send_length and sock:sock_recv_length, since 6.3). A query that gets
 * no answer has no end of its own: what tells that the program gave it up is that
 * the same thread asks again, the same server or the next one. Sockets that are
 * not connected: see unconnected.h.
 */

#define MSEC 1000000ULL
#define DNS_PORT 53
#define DNS_HEADER 12
#define DNS_RESPONSE 0x80 /* QR, in the third byte */
#define DNS_OPCODE 0x78	  /* 0: a query (RFC 1035, 4.1.1) */
#define DNS_CODE 0x0f	  /* RCODE, in the fourth */
#define DNS_SERVFAIL 2
#define DNS_REFUSED 5
/* Nobody waits longer for an answer (resolv.conf(5), timeout). */
#define DNS_WAITS (5000 * MSEC)
/* Sooner than this nobody asks again for want of an answer (resolv.conf(5) counts
 * in seconds); the A and the AAAA query of one name leave together. */
#define ASKED_AGAIN (500 * MSEC)
#define TOGETHER (100 * MSEC)

static __always_inline bool asks_names(const struct sock *sk)
{
	return sk->sk_protocol == IPPROTO_UDP && sk->__sk_common.skc_dport == bpf_htons(DNS_PORT);
}

/* The row of a query; comm is who asked, NULL: who runs now. */
static __always_inline struct query_value *query_row(const struct query_key *of, const __u8 *comm)
{
	static const struct query_value zero;
	struct query_key key = *of;
	struct query_value *v = row(&queries_a, &queries_b, epoch & 1, &key, &zero, &lost[QUERIES]);

	if (!v || v->comm[0])
		return v;
	if (comm)
		__builtin_memcpy(v->comm, comm, sizeof(v->comm));
	else
		process_name(&v->comm);
	return v;
}

static __always_inline void count_given_up(struct query_value *v, __u64 took)
{
	if (!v)
		return;
	add(&v->gave_up, 1);
	add(&v->gave_sum, took);
	keep_max(&v->gave_max, took);
	if (!v->gave_min || took < v->gave_min)
		v->gave_min = took;
}

static __always_inline void count_answered(struct query_value *v, __u64 took, __u8 code)
{
	if (!v)
		return;
	add(&v->answered, 1);
	add(&v->sum, took);
	keep_max(&v->max, took);
	if (code != DNS_SERVFAIL && code != DNS_REFUSED)
		return;
	add(&v->failed, 1);
	v->failed_as = code == DNS_REFUSED ? ANSWER_DNS_REFUSED : ANSWER_DNS_SERVFAIL;
}

/* The thread asked again, with no answer to what it asked before. */
static __always_inline void gave_up(const struct asked *before, __u64 now)
{
	count_given_up(query_row(&before->key, NULL), now - before->begin);
}

static __always_inline bool same_server(const struct query_key *a, const struct query_key *b)
{
	const __u32 *x = (const __u32 *)a->flow.raddr, *y = (const __u32 *)b->flow.raddr;

	return x[0] == y[0] && x[1] == y[1] && x[2] == y[2] && x[3] == y[3];
}

static __noinline int name_asked(struct sock *sk)
{
	__u64 thread = bpf_get_current_pid_tgid(), now = bpf_ktime_get_ns();
	struct asked fresh = {.begin = now, .sk = (__u64)sk, .slice = slice}, *before;
	struct query_value *v;

	flow_of_full_sock(&fresh.key.flow, sk);
	fresh.key.flow.lport = 0;
	fresh.key.pid = thread >> 32;
	v = query_row(&fresh.key, NULL);
	if (v)
		add(&v->asked, 1);
	before = bpf_map_lookup_elem(&asking, &thread);
	if (before && before->slice != slice)
		before = NULL; /* its answer may have come meanwhile */
	if (before && now - before->begin < ASKED_AGAIN) {
		if (now - before->begin >= TOGETHER)
			before->mixed = 1; /* whose answer it waits for can't be told */
		return 0;
	}
	/* A new socket to the same server is a new lookup: what came between the
	 * two is not known to be a wait. */
	if (before && !before->mixed && (before->sk == fresh.sk || !same_server(&before->key, &fresh.key)))
		gave_up(before, now);
	bpf_map_update_elem(&asking, &thread, &fresh, BPF_ANY);
	return 0;
}

/* Keeps with the socket when it was asked, which other threads may read from. */
static __always_inline void note_query(struct sock *sk)
{
	struct query *q = bpf_sk_storage_get(&socket_queries, sk, NULL, BPF_SK_STORAGE_GET_F_CREATE);
	__u64 now = bpf_ktime_get_ns();

	if (!q) {
		add(&lost[QUERIES], 1);
		return;
	}
	if (!q->open || q->slice != slice || now - q->begin >= ASKED_AGAIN) {
		q->begin = now;
		q->open = 0;
		q->slice = slice;
	}
	q->open++;
	q->thread = bpf_get_current_pid_tgid();
}

/* The code of the answer that the present call has read; 0 where it is not seen. */
static __noinline int code_read(int n)
{
	struct first f = {};

	if (n < DNS_HEADER || !first_bytes(&f, n, true) || !(f.b[2] & DNS_RESPONSE))
		return 0;
	return f.b[3] & DNS_CODE;
}

static __noinline int name_answered(struct sock *sk, int n)
{
	struct query *q = bpf_sk_storage_get(&socket_queries, sk, NULL, 0);
	struct query_key key = {};
	struct asked *before;
	__u64 thread, took;

	if (!q || !q->begin || q->slice != slice)
		return 0; /* asked before we looked */
	took = bpf_ktime_get_ns() - q->begin;
	thread = q->thread;
	if (q->open)
		q->open--;
	flow_of_full_sock(&key.flow, sk);
	key.flow.lport = 0;
	key.pid = thread >> 32;
	count_answered(query_row(&key, NULL), took, code_read(n));
	before = bpf_map_lookup_elem(&asking, &thread);
	if (before && before->sk == (__u64)sk)
		bpf_map_delete_elem(&asking, &thread);
	return 0;
}
