/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Once a second and at the end of each slice, over all sockets that had a turn: ends the
 * answers that nothing follows, counts the turns that are open.
 */

#define SLICE_GAP (20 * MSEC)	/* a silence this long ends an answer with its slice */
#define UNIX_KEPT (1000 * MSEC) /* a UNIX socket with nothing open is forgotten after */

/* Whether a turn goes on. An answer that is over ends it. */
static __always_inline bool goes_on(struct turn *t, __u64 begin, __u64 now)
{
	if (t->role != ROLE_ACCEPT)
		return answer_due(t, begin);
	if (!t->last)
		return true;
	if (now > t->last && now - t->last > (ending ? SLICE_GAP : ANSWER_GAP))
		served(t);
	return false;
}

static __always_inline void count_open(struct turn *t, __u64 begin, __u64 now)
{
	struct turn_value *v = turn_row(t);

	if (!v)
		return;
	add(&v->open, 1);
	keep_max(&v->oldest, now - begin);
	note_slow(v, t->pid, now - begin);
}

static __always_inline void turn_swept(struct sock *sk, struct turn *t)
{
	__u64 now, begin;
	bool open = false;

	if (t->h2 >= H2_MAYBE) {
		h2_swept(sk, t);
		return;
	}
	begin = *(volatile __u64 *)&t->begin; /* it may end meanwhile */
	now = bpf_ktime_get_ns();
	if (begin && now > begin && t->slice == slice && sk->__sk_common.skc_state != TCP_CLOSE)
		open = goes_on(t, begin, now);
	flush_turns(t);
	if (open)
		count_open(t, begin, now);
}

SEC("iter/bpf_sk_storage_map")
int turn_sweep(struct bpf_iter__bpf_sk_storage_map *ctx)
{
	struct sock *sk = ctx->sk;
	struct turn *t;

	if (!sk)
		return 0;
	/* Not ctx->value, in which an array may not be indexed. */
	t = bpf_sk_storage_get(&socket_turns, sk, NULL, 0);
	if (t)
		turn_swept(sk, t);
	return 0;
}

/*
 * The same where the kernel refuses to iterate over a map's elements, as hardened ones do:
 * over the files that processes have open. A socket that several have open comes several times.
 */
SEC("iter/task_file")
int file_sweep(struct bpf_iter__task_file *ctx)
{
	struct file *file = ctx->file;
	struct socket *socket;
	struct sock *sk;
	struct turn *t;
	__u16 session;

	if (!file)
		return 0;
	socket = bpf_sock_from_file(file);
	if (!socket)
		return 0;
	sk = socket->sk;
	if (!sk)
		return 0;
	t = bpf_sk_storage_get(&socket_turns, sk, NULL, 0);
	if (!t)
		return 0;
	session = ctx->meta->session_id;
	if (t->swept == session)
		return 0;
	t->swept = session;
	turn_swept(sk, t);
	return 0;
}

/* The hash tables are gone over in one go, at the first of all maps. */
#define SWEEP(table, each)                                                                                   \
	SEC("iter/bpf_map")                                                                                  \
	int table##_sweep(struct bpf_iter__bpf_map *ctx)                                                     \
	{                                                                                                    \
		if (ctx->map && !ctx->meta->seq_num)                                                         \
			bpf_for_each_map_elem(&table, each, NULL, 0);                                        \
		return 0;                                                                                    \
	}

static long unix_swept(struct bpf_map *map, __u64 *key, struct unix_turn *u, void *ctx)
{
	__u64 now, begin, came, id = *key;
	struct turn *t = &u->t;
	bool open = false, alive;

	alive = unix_alive(u, id);
	now = bpf_ktime_get_ns();
	if (!alive && t->role == ROLE_ACCEPT && t->begin && t->last && t->slice == slice)
		served(t);
	begin = *(volatile __u64 *)&t->begin;
	if (begin && now > begin && t->slice == slice)
		open = goes_on(t, begin, now) && alive && answers_there(t);
	came = u->came;
	if (came && !unread_at(u))
		came = u->came = 0; /* noted too late */
	if (came && now > came && t->slice == slice && alive &&
	    (now - came > ANSWER_GAP || answers_there(t))) {
		open = true; /* nobody has read it */
		begin = came;
	}
	flush_turns(t);
	if (open)
		count_open(t, begin, now);
	else if (!alive || (!t->begin && !came && now - t->last > UNIX_KEPT && now - t->read > UNIX_KEPT))
		bpf_map_delete_elem(&unix_turns, &id);
	return 0;
}

SWEEP(unix_turns, unix_swept)

/* Of name servers: what has waited for as long as clients do gets no answer any more. */
static long dns_swept(struct bpf_map *map, struct dns_key *k, struct dns_query *q, void *ctx)
{
	struct dns_key key = *k;
	struct turn_value *v;
	struct dns_server *s;
	__u64 age, now;

	now = bpf_ktime_get_ns();
	age = now > q->begin ? now - q->begin : 0;
	if (q->slice != slice) {
		bpf_map_delete_elem(&dns_queries, &key);
		return 0;
	}
	if (age > DNS_WAITS && bpf_map_delete_elem(&dns_queries, &key))
		return 0; /* answered just now */
	s = bpf_map_lookup_elem(&dns_servers, &key.cookie);
	if (!s || s->blind)
		return 0;
	v = dns_row(s, &key);
	if (!v)
		return 0;
	if (age > DNS_WAITS) {
		add(&v->failed, 1);
		v->failed_as = ANSWER_DNS_NONE;
		return 0;
	}
	add(&v->open, 1);
	keep_max(&v->oldest, age);
	note_slow(v, s->pid, age);
	return 0;
}

SWEEP(dns_queries, dns_swept)

/* The same of queries that were sent from sockets that are connected to nobody. */
static long sent_swept(struct bpf_map *map, struct dns_key *k, struct sent_query *q, void *ctx)
{
	struct dns_key key = *k;
	struct sent_query was = *q;
	struct query_value *v;
	__u64 age, now;
	bool open;

	now = bpf_ktime_get_ns();
	age = now > was.begin ? now - was.begin : 0;
	open = is_open(&was, key.cookie);
	if (was.slice == slice && open && age <= (hidden ? ASKED_AGAIN : DNS_WAITS)) {
		q->seen = age;
		v = query_row(&was.of, was.comm);
		if (v) {
			add(&v->open, 1);
			keep_max(&v->oldest, age);
		}
		return 0;
	}
	if (bpf_map_delete_elem(&sent_queries, &key) || was.slice != slice)
		return 0; /* answered just now, or of another slice */
	if (open || was.seen >= ASKED_AGAIN) {
		gave_up_sent(&was, open ? DNS_WAITS : was.seen, read_unseen(&key));
		return 0;
	}
	v = query_row(&was.of, was.comm);
	if (v)
		add(&v->unknown, 1);
	return 0;
}

SWEEP(sent_queries, sent_swept)
