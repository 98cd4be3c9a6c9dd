/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Which connections are HTTP/2, what their calls move, and how they end.
 */

/* Data has come that can be read. */
static __noinline int h2_data(struct sock *sk, struct tcp_sock *tp)
{
	struct h2 *h = bpf_sk_storage_get(&socket_h2, sk, NULL, 0);
	__u32 seq = tp->rcv_nxt;
	__u64 now;

	if (!h)
		return 0;
	now = bpf_ktime_get_ns();
	if (tp->copied_seq == seq) {
		h->before = h->came;
		h->came.first = now;
		h->came.first_seq = seq;
	}
	h->came.last = now;
	h->came.last_seq = seq;
	return 0;
}

/* In a new slice: what was asked and answered since the last is not known. */
static __always_inline void h2_resume(struct h2 *h)
{
	h->slice = slice;
	h2_adrift(&h->in);
	h2_adrift(&h->out);
	h->in.lost = h->out.lost = 0;
	h->came.first = h->before.first = 0;
	h2_forget_streams(h);
}

/* No HTTP/2, it turns out, or it never fits. */
static __noinline int h2_not(struct sock *sk, struct tcp_sock *tp, struct turn *t)
{
	t->h2 = H2_NOT;
	t->base = tp->write_seq;
	t->begin = 0;
	if (!bpf_sk_storage_delete(&socket_h2, sk) && h2_socks)
		__sync_fetch_and_add(&h2_socks, -1);
	return 0;
}

/* A connection that may be one of HTTP/2 is followed as such. What was taken for its turns
 * is not counted. */
static __noinline struct h2 *h2_new(struct sock *sk, struct tcp_sock *tp, struct turn *t)
{
	struct h2 *h = NULL;

	if (h2_socks < H2_SOCKS)
		h = bpf_sk_storage_get(&socket_h2, sk, NULL, BPF_SK_STORAGE_GET_F_CREATE);
	if (h) {
		__sync_fetch_and_add(&h2_socks, 1);
		takes(NEW_TURN);
		h->slice = slice;
		h->in.want = h->out.want = H2_HEAD;
		if (t->role == ROLE_ACCEPT) {
			h->came.first = h->came.last = t->begin;
			h->came.first_seq = h->came.last_seq = tp->copied_seq - tp->bytes_received;
		}
	}
	t->begin = 0;
	t->sum = 0;
	t->max = 0;
	t->wait = 0;
	for (int i = 0; i < TURN_BUCKETS; i++)
		*(volatile __u32 *)&t->hist[i] = 0;
	return h;
}

static __always_inline bool h2_preface(const __u8 *b)
{
	return BEGINS4(b, 'P', 'R', 'I', ' ') && BEGINS4(b + 4, '*', ' ', 'H', 'T') &&
	       BEGINS4(b + 8, 'T', 'P', '/', '2') && b[12] == '.' && b[13] == '0';
}

/* Whether it is the first call of those that read, or of those that write. */
static __always_inline bool h2_begins(const struct tcp_sock *tp, __u32 n, bool in)
{
	if (!in)
		return tp->bytes_sent <= n;
	return tp->bytes_received - (tp->rcv_nxt - tp->copied_seq) <= n + 1; /* a FIN counts */
}

/* Looks at a connection of which it is not known what it is. Where its beginning was seen
 * that tells, else three frames that fit. False: no HTTP/2, as far as can be seen. */
static __noinline int h2_look(struct sock *sk, struct tcp_sock *tp, struct turn *t, __u32 n, bool in)
{
	bool first = h2_begins(tp, n, in) && in == (t->role == ROLE_ACCEPT);
	struct first f = {};
	struct h2 *h;

	takes(H2_RUN);
	if (n >= H2_HEAD && first_bytes(&f, n, in)) {
		if (h2_preface(f.b)) {
			h = h2_new(sk, tp, t);
			t->h2 = H2_IS;
			if (h) {
				h->in.synced = h->out.synced = 1;
				*(in ? &h->in.left : &h->out.left) = H2_PREFACE;
			}
			return 1;
		}
		if (!first && h2_fits(f.b, true)) {
			if (h2_new(sk, tp, t)) {
				t->h2 = H2_MAYBE;
				return 1;
			}
		}
	}
	t->misses += in ? H2_READ_MISS : H2_MISS;
	if (first || t->misses >= H2_MISSES)
		t->h2 = H2_NOT;
	return 0;
}

/* A direction is not followed any more, until a call begins with a frame that fits. Where
 * answers are missed no stream is known to be open. */
static __noinline int h2_lose(struct sock *sk, struct tcp_sock *tp, struct turn *t, struct h2 *h, bool in)
{
	struct h2_dir *d = in ? &h->in : &h->out;
	bool was = d->synced;

	h2_adrift(d);
	if (d->lost < 255)
		d->lost++;
	if (t->h2 == H2_IS) {
		if (was || d->lost > H2_PATIENCE)
			t->missed = 1;
		if (in != (t->role == ROLE_ACCEPT))
			h2_forget_streams(h);
		return 1;
	}
	h->frames = h->heads = h->calls = 0;
	h2_forget_streams(h);
	t->misses += in && !was ? H2_READ_MISS : H2_MISS;
	if (t->misses < H2_MISSES)
		return 1;
	h2_not(sk, tp, t);
	return 0;
}

/* n bytes of a socket that may be one of HTTP/2 were read or written; false: it is none. */
static __noinline int h2_moved(struct sock *sk, struct tcp_sock *tp, struct turn *t, __u32 n, bool in)
{
	struct h2_call c = {.t = t, .in = in, .server = t->role == ROLE_ACCEPT};
	enum written kind;
	struct h2_dir *d;
	struct h2 *h;
	__u64 at = 0;

	if (t->h2 == H2_UNKNOWN && !h2_look(sk, tp, t, n, in))
		return 0;
	name_turn(t);
	h = bpf_sk_storage_get(&socket_h2, sk, NULL, 0);
	if (!h) { /* too many of them */
		t->missed = 1;
		return 1;
	}
	if (h->slice != slice)
		h2_resume(h);
	t->slice = slice;
	d = in ? &h->in : &h->out;
	if (d->synced && d->left >= n) { /* all of it is payload */
		d->left -= n;
		return 1;
	}
	kind = call_bytes(&at, in);
	if (kind != WRITTEN_BYTES && kind != WRITTEN_IOV)
		return h2_lose(sk, tp, t, h, in);
	c.h = h;
	c.d = d;
	d->broken = d->frames = 0;
	d->todo = n;
	d->pieces = kind == WRITTEN_IOV ? at : 0;
	d->at = at;
	d->here = kind == WRITTEN_IOV ? 0 : n;
	d->seq = tp->copied_seq - n;
	d->now = in ? bpf_ktime_get_ns() : sent_at(tp, tp->write_seq);
	bpf_loop(H2_STEPS, h2_step, &c, 0);
	takes(H2_RUN + d->frames * H2_FRAME);
	if (d->broken || d->todo)
		return h2_lose(sk, tp, t, h, in);
	h->calls = 1;
	return 1;
}

static __always_inline bool h2_read(struct sock *sk, struct turn *t, __u32 n)
{
	struct tcp_sock *tp = bpf_skc_to_tcp_sock(sk);

	return tp && h2_moved(sk, tp, t, n, true);
}

/* The process at this end reads what it asked for. */
static __always_inline void h2_read_answer(struct sock *sk, __u32 n)
{
	struct turn *t = bpf_sk_storage_get(&socket_turns, sk, NULL, 0);

	if (t && t->h2 >= H2_MAYBE)
		h2_read(sk, t, n);
}

/* Requests that were sent whole, and of whose answer nothing has come. */
static __noinline __u32 h2_due(struct h2 *h)
{
	volatile __u32 *n = &h->open;

	*n = 0;
	for (__u32 i = 0; i < H2_STREAMS; i++)
		if (h->s[i].id && (h->s[i].bytes & H2_COMPLETE) && !h->s[i].first)
			*n += 1;
	return *n;
}

/* As cut_by, but that what the peer has sent before its FIN can't be read yet: what is open
 * when this end closes too has been cut off. */
static __always_inline enum cut h2_cut_by(const struct sock *sk, const struct turn *t, struct h2 *h, int old,
					  int new)
{
	bool open = old == TCP_ESTABLISHED;

	if (t->role == ROLE_ACCEPT)
		return open && new == TCP_CLOSE && !sk->sk_err ? CUT_RESET : CUT_NOT;
	if (open && new == TCP_CLOSE_WAIT)
		h->hung = 1;
	if (new == TCP_LAST_ACK)
		return h->hung ? CUT_HUNG_UP : CUT_NOT;
	if (!open || new != TCP_CLOSE || !sk->sk_err)
		return CUT_NOT;
	return sk->sk_err == E_TIMEDOUT ? CUT_TIMED_OUT : CUT_RESET;
}

static __noinline int h2_closing(struct sock *sk, struct turn *t, int old, int new)
{
	struct h2 *h = bpf_sk_storage_get(&socket_h2, sk, NULL, 0);
	struct turn_value *v;
	enum cut cut;
	__u32 n;

	if (!h)
		return 0;
	cut = h2_cut_by(sk, t, h, old, new);
	if (cut && t->h2 == H2_IS && h->slice == slice) {
		n = h2_due(h);
		v = n ? turn_row(t) : NULL;
		if (v) {
			add(&v->cut, n);
			v->cut_by = cut;
		}
		h2_forget_streams(h);
	}
	if (new == TCP_CLOSE && h2_socks)
		__sync_fetch_and_add(&h2_socks, -1);
	return 0;
}

struct h2_sweep {
	struct turn *t;
	struct h2 *h;
	__u64 now;
};

/* Of a socket's stream: whether it is open. An answer that goes on for longer is a stream:
 * counted with its first frame, and its end is not waited for. */
static long h2_settle(__u32 i, struct h2_sweep *c)
{
	struct h2_stream *s;
	__u64 begin;

	if (i >= H2_STREAMS)
		return 1;
	s = &c->h->s[i];
	begin = s->begin;
	if (!s->id || c->now <= begin)
		return 0;
	if (s->first) {
		if (c->now - begin > s->first * 1000ULL + STREAM_TIME)
			h2_answered(c->t, s, c->now);
		return 0;
	}
	if (!(s->bytes & H2_COMPLETE))
		return 0;
	c->h->open++;
	keep_max(&c->h->oldest, c->now - begin);
	return 0;
}

static __noinline int h2_swept(struct sock *sk, struct turn *t)
{
	struct h2_sweep c = {.t = t, .now = bpf_ktime_get_ns()};
	struct turn_value *v;

	c.h = bpf_sk_storage_get(&socket_h2, sk, NULL, 0);
	if (!c.h || c.h->slice != slice)
		return flush_turns(t);
	c.h->open = 0;
	c.h->oldest = 0;
	bpf_loop(H2_STREAMS, h2_settle, &c, 0);
	flush_turns(t);
	if (t->role == ROLE_ACCEPT ? c.h->out.lost : c.h->in.lost)
		return 0; /* they may have been answered */
	v = c.h->open && sk->__sk_common.skc_state != TCP_CLOSE ? turn_row(t) : NULL;
	if (!v)
		return 0;
	add(&v->open, c.h->open);
	keep_max(&v->oldest, c.h->oldest);
	note_slow(v, t->pid, c.h->oldest);
	return 0;
}
