/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Turns on UNIX stream sockets (docs/probes/turns.md). They have no sequence numbers, and
 * nothing tells that data came or that a socket ended. But a sender reaches its peer's
 * socket: the caller's send notes since when something waits unread in the socket buffer, and both ends' counts
 * of bytes show a call whose tracepoint runs after the other end's reaction to it. Which
 * end is which is told by the addresses: an accepted socket has its listener's, whoever
 * connects mostly has none. Only the served end's own calls begin and end its turns, so
 * that no two CPUs do.
 */

/* The kernel has UNIX sockets: without, what asks for their type is not to be loaded. */
const volatile bool has_unix = false;

#define SOCK_STREAM 1
#define SOCK_SEQPACKET 5
#define SHUTDOWN_MASK 3 /* the peer has closed, not only ended what it sends */
#define PATH_MOST 108

/* An id of an address of that length without its family; 0: it could not be noted. */
static __noinline __u64 path_id(const char *name, __u64 length)
{
	struct unix_path p = {};
	const __u32 *words = (const __u32 *)&p;
	__u64 id;

	barrier_var(length); /* else the check and the call have it in different registers */
	if (length == 0 || length > PATH_MOST)
		return 0;
	if (bpf_probe_read_kernel(p.name, length, name))
		return 0;
	if (p.name[0]) { /* a path may be given with its end, or without */
		for (length = 0; length < PATH_MOST && p.name[length]; length++)
			;
	}
	id = length;
	for (int i = 0; i < PATH_MOST / 4; i++) {
		id = (id ^ words[i]) * 0x9e3779b97f4a7c15ULL;
		id ^= id >> 29;
	}
	if (!id)
		return 0;
	if (bpf_map_lookup_elem(&unix_paths, &id))
		return id;
	p.length = length;
	bpf_map_update_elem(&unix_paths, &id, &p, BPF_NOEXIST);
	return bpf_map_lookup_elem(&unix_paths, &id) ? id : 0;
}

/* Whether a socket was accepted or connects; unknown for those of a pair. */
static __always_inline __u8 unix_role(const struct unix_sock *u, const struct unix_sock *peer)
{
	const struct unix_address *own = u->addr, *other = peer->addr;
	int holders, others;

	if (!own) {
		barrier_var(other); /* pointers may not be joined by an or */
		return other ? ROLE_CONNECT : ROLE_UNKNOWN;
	}
	if (!other)
		return ROLE_ACCEPT;
	/* Who connects is bound as well: but nobody shares its address. */
	holders = own->refcnt.refs.counter;
	others = other->refcnt.refs.counter;
	if (holders == others)
		return ROLE_UNKNOWN;
	return holders > others ? ROLE_ACCEPT : ROLE_CONNECT;
}

static __always_inline struct unix_turn *new_unix_turn(struct sock *sk, __u64 id, const struct unix_sock *u,
						       const struct unix_sock *peer)
{
	static const struct unix_turn zero;
	__u8 role = unix_role(u, peer);
	const struct unix_address *at;
	struct unix_turn *t;
	__u64 path;

	if (role == ROLE_UNKNOWN || (sk->sk_type != SOCK_STREAM && sk->sk_type != SOCK_SEQPACKET))
		return NULL;
	at = role == ROLE_ACCEPT ? u->addr : peer->addr;
	if (!at)
		return NULL;
	path = path_id(at->name[0].sun_path, at->len - sizeof(at->name[0].sun_family));
	if (path)
		bpf_map_update_elem(&unix_turns, &id, &zero, BPF_NOEXIST);
	t = path ? bpf_map_lookup_elem(&unix_turns, &id) : NULL;
	if (!t) {
		add(&lost[TURNS], 1);
		return NULL;
	}
	takes(NEW_TURN);
	t->t.key.flow.family = AF_UNIX;
	t->t.key.flow.netns = sk->__sk_common.skc_net.net->ns.inum;
	if (role == ROLE_ACCEPT)
		*(__u64 *)t->t.key.flow.laddr = path;
	else
		*(__u64 *)t->t.key.flow.raddr = path;
	t->t.key.role = t->t.role = role;
	t->t.slice = slice;
	t->sk = (__u64)sk;
	return t;
}

/* The turn of a socket, as far as it is known in this slice. */
static __always_inline struct unix_turn *unix_turn(__u64 *id)
{
	struct unix_turn *t = bpf_map_lookup_elem(&unix_turns, id);

	if (t && t->t.slice != slice) {
		t->t.begin = t->came = 0;
		t->t.base = t->t.before = 0;
		t->t.slice = slice;
	}
	return t;
}

static __always_inline struct unix_path *path_of(const struct turn *t)
{
	__u64 id = *(const __u64 *)(t->role == ROLE_ACCEPT ? t->key.flow.laddr : t->key.flow.raddr);

	return bpf_map_lookup_elem(&unix_paths, &id);
}

/* Whether whoever asks there waits for an answer, as far as has been seen: a log, a
 * notification has none, and is never open. */
static __always_inline bool answers_there(const struct turn *t)
{
	struct unix_path *p = path_of(t);

	return p && p->answers;
}

static __always_inline void note_answers(struct unix_turn *t)
{
	struct unix_path *p;

	if (t->answers)
		return;
	p = path_of(&t->t);
	if (p)
		p->answers = 1;
	t->answers = 1;
}

/* The caller has sent; s is the served end's turn. */
static __always_inline void unix_asked(struct turn *t, struct unix_turn *s, const struct sock *peer, int ret)
{
	__u64 now = bpf_ktime_get_ns();

	name_turn(t);
	if (s && s->t.role == ROLE_ACCEPT && !s->came && peer->sk_receive_queue.qlen)
		s->came = now; /* else it was read before this call came back */
	if (!t->begin) {
		t->begin = now;
		t->bytes = 0;
		/* It may have been read meanwhile, and answered: t->read is when the last turn ended. */
		if (s && s->t.begin > t->read && s->t.begin < now)
			t->begin = s->t.begin;
	}
	t->last = now;
	t->bytes += ret;
}

/* The served end has sent. */
static __always_inline void unix_answered(struct unix_turn *u, const struct sock *sk, int ret)
{
	struct turn *t = &u->t;
	__u64 now;

	t->base += ret;
	if (!sk->sk_receive_queue.qlen)
		u->came = 0; /* noted too late: it was read */
	if (t->begin && !u->classed) { /* here, for a reader may have noted the answer's start */
		u->classed = 1;
		count_failed(t, ret);
	}
	if (!t->begin || (__s32)(t->base - t->before) <= 0)
		return; /* pushed, not asked for; or the peer has read it already: see unix_taken */
	name_turn(t);
	now = bpf_ktime_get_ns();
	if (t->last && now - t->last > ANSWER_GAP) {
		served(t); /* and this is a message that nobody asked for */
		return;
	}
	if (!t->first) {
		t->first = now;
		note_answers(u);
	}
	t->last = now;
	t->bytes += ret;
}

/* The served end has read. */
static __always_inline void unix_read(struct unix_turn *u)
{
	__u64 now = bpf_ktime_get_ns(), came = u->came;
	struct turn *t = &u->t;

	name_turn(t);
	u->came = 0;
	if (t->begin && t->last)
		served(t);
	if (t->begin && !came)
		return; /* more of the request */
	/* What was read and not answered was no request, or not all of it. What came before the
	 * last read was noted too late. */
	t->begin = came > t->read && came < now ? came : now;
	t->read = now;
	t->first = t->last = 0;
	t->bytes = 0;
	u->classed = 0;
}

/* The caller has read; s is the served end's turn. */
static __always_inline void unix_taken(struct turn *t, struct unix_turn *s, int ret)
{
	__u64 now = bpf_ktime_get_ns();

	if (s && s->t.role == ROLE_ACCEPT) {
		s->t.before += ret;
		if (s->t.begin &&
		    (__s32)(s->t.before - s->t.base) > 0) { /* the call that wrote it is not back */
			if (!s->t.first) {
				s->t.first = now;
				note_answers(s);
			}
			s->t.last = now;
			s->t.bytes += ret;
		}
	}
	if (!t->begin)
		return; /* more of the answer, or a message that nobody asked for */
	if (answer_due(t, t->begin))
		count_turn(t, now);
	t->begin = 0;
	t->read = now;
}

/* The other end has closed. Who still waits for its answer misses it. */
static __always_inline void unix_over(struct unix_turn *u, enum cut by)
{
	struct turn *t = &u->t;
	struct turn_value *v;

	if (!t->begin)
		return;
	if (t->role == ROLE_ACCEPT) {
		if (t->last)
			served(t);
	} else if (answer_due(t, t->begin) && answers_there(t)) {
		v = turn_row(t);
		if (v) {
			add(&v->cut, 1);
			v->cut_by = by;
		}
	}
	t->begin = 0;
}

/* A call on a UNIX socket has come back. */
static __noinline int unix_moved(struct sock *sk, int ret, bool sends)
{
	struct unix_sock *u = bpf_skc_to_unix_sock(sk), *v;
	struct unix_turn *t, *s;
	struct sock *peer;
	__u64 id, other;

	if (!u)
		return 0;
	peer = u->peer;
	v = bpf_skc_to_unix_sock(peer);
	if (!v)
		return 0;
	id = bpf_get_socket_cookie(sk);
	t = unix_turn(&id);
	if (ret <= 0) {
		if (t && (ret < 0 || sk->sk_shutdown == SHUTDOWN_MASK))
			unix_over(t, ret < 0 ? CUT_RESET : CUT_HUNG_UP);
		return 0;
	}
	if (!t)
		t = new_unix_turn(sk, id, u, v);
	if (!t)
		return 0;
	if (t->t.role == ROLE_ACCEPT) {
		if (sends)
			unix_answered(t, sk, ret);
		else
			unix_read(t);
		return 0;
	}
	other = bpf_get_socket_cookie(peer);
	s = unix_turn(&other);
	if (!s && sends)
		s = new_unix_turn(peer, other, v, u);
	if (sends)
		unix_asked(&t->t, s, peer, ret);
	else
		unix_taken(&t->t, s, ret);
	return 0;
}

static __always_inline bool on_unix(const struct sock *sk)
{
	return has_unix && sk->__sk_common.skc_family == AF_UNIX;
}

static __always_inline bool unread_at(const struct unix_turn *t)
{
	const struct sock *sk = (const struct sock *)t->sk;

	return BPF_CORE_READ(sk, sk_receive_queue.qlen) != 0;
}

/* Whether the connection is still there: of a closed one the memory may have become anything
 * since (unix_release_sock). */
static __always_inline bool unix_alive(const struct unix_turn *t, __u64 id)
{
	const struct sock *sk = (const struct sock *)t->sk;

	return BPF_CORE_READ(sk, __sk_common.skc_cookie.counter) == id &&
	       BPF_CORE_READ(sk, __sk_common.skc_state) == TCP_ESTABLISHED &&
	       BPF_CORE_READ(sk, sk_shutdown) != SHUTDOWN_MASK;
}
