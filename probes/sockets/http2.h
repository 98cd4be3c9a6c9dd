/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Requests of HTTP/2 and gRPC in clear text, which share a connection: counted by the
 * heads of their frames (RFC 9113). What a call has read or written lies in the memory of
 * the process, and is looked at before the call returns: nine bytes of each frame, and the
 * error code of RST_STREAM and GOAWAY. Headers and data are passed over.
 *
 * Each direction of a connection has a parser, which goes on where the last call ended. One
 * thread at a time reads a connection and one writes it, or its frames would be mixed up.
 */

#define H2_SOCKS 4096 /* 3.5 kB each */
#define H2_STREAMS 128
#define H2_PLACES 16  /* where a stream may lie in the table */
#define H2_STEPS 2048 /* pieces and frames of a call */
#define H2_HEAD 9     /* RFC 9113, 4.1 */
#define H2_MOST_HEAD 17
#define H2_PREFACE 24 /* RFC 9113, 3.4 */
#define H2_LEAST_MAX (1 << 14)
#define H2_ENOUGH 3 /* frames that fit tell an HTTP/2 connection whose beginning was not seen */

/* What does not fit: of a call that reads, which may begin amid a frame, and of others. */
#define H2_READ_MISS 1
#define H2_MISS 3
#define H2_MISSES 9

/* ns of a call whose frames are looked at, and of each of them. */
#define H2_RUN 350
#define H2_FRAME 60

enum h2_type {
	H2_DATA,
	H2_HEADERS,
	H2_PRIORITY,
	H2_RST_STREAM,
	H2_SETTINGS,
	H2_PUSH_PROMISE,
	H2_PING,
	H2_GOAWAY,
	H2_WINDOW_UPDATE,
	H2_CONTINUATION,
	H2_ALTSVC,
	H2_ORIGIN = 12,
	H2_PRIORITY_UPDATE = 16,
};

#define H2_END_STREAM 1

/* Error codes that are no errors (RFC 9113, 7). */
#define H2_NO_ERROR 0
#define H2_CANCEL 8

struct h2_dir {
	__u8 head[64]; /* no more than H2_MOST_HEAD of it are filled */
	__u32 have;    /* bytes of it */
	__u32 want;    /* H2_HEAD, and the error code behind it */
	__u32 left;    /* of the frame, to be passed over */
	__u8 synced;
	__u8 lost; /* it was, or was looked for in vain */
	__u16 pad;
	/* Of the present call: what of it is still to be read. */
	__u32 todo;
	__u32 seq; /* of the next byte */
	__u32 frames;
	__u32 broken;
	__u64 pieces; /* an array of them in user space, 0: there is one */
	__u64 at;
	__u64 here; /* bytes of this piece */
	__u64 now;
};

/* When data came that was not read at once. Between the first and the last of it, it is
 * taken to have come evenly. */
struct h2_came {
	__u64 first;
	__u64 last;
	__u32 first_seq;
	__u32 last_seq;
};

/* A request without the whole of its answer; id 0: none. */
struct h2_stream {
	__u64 begin;
	__u32 id;
	__u32 bytes; /* of its answer's DATA; H2_COMPLETE */
	__u32 first; /* us from begin to the answer's first frame, and 1 */
	__u32 wait;  /* us until it was read */
};

#define H2_COMPLETE (1U << 31) /* the client has sent all of it */

/* An answer that was read before the call that asked came back. */
struct h2_early {
	__u32 id;
	__u32 pad;
};

#define H2_EARLY 8

struct h2 {
	struct h2_dir in, out;
	struct h2_came came, before;
	__u32 last; /* the greatest id that was asked with */
	__u32 slice;
	__u32 frames; /* that fit, of a connection whose beginning was not seen */
	__u32 heads;  /* of them are no DATA */
	__u32 calls;
	__u32 hung;
	__u32 open; /* as they are counted; here, for the verifier follows a sum on the stack */
	__u64 oldest;
	struct h2_early early[H2_EARLY];
	struct h2_stream s[H2_STREAMS];
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct h2);
} socket_h2 SEC(".maps");

__u32 h2_socks; /* sockets with a struct h2, about */

static __always_inline __u32 h2_length(const __u8 *b)
{
	return b[0] << 16 | b[1] << 8 | b[2];
}

static __always_inline __u32 h2_be32(const __u8 *b)
{
	return (__u32)b[0] << 24 | b[1] << 16 | b[2] << 8 | b[3];
}

/* Whether nine bytes are a frame's head: RFC 9113, 4.1 and 6. strictly: as one looks that
 * stands where nobody knows of HTTP/2 yet. */
static __noinline bool h2_fits(const __u8 *b, bool strictly)
{
	__u32 length = h2_length(b), id = h2_be32(b + 5);
	__u8 type = b[3], flags = b[4];

	if (id >> 31)
		return false; /* reserved */
	if (strictly && (length > H2_LEAST_MAX || (id && !(id & 1)) || type > H2_CONTINUATION))
		return false;
	switch (type) {
	case H2_DATA:
		return id && !(flags & ~0x09);
	case H2_HEADERS:
		return id && length && !(flags & ~0x2d);
	case H2_PRIORITY:
		return id && length == 5 && !flags;
	case H2_RST_STREAM:
		return id && length == 4 && !flags;
	case H2_SETTINGS:
		return !id && (flags == 1 ? length == 0 : flags == 0 && length % 6 == 0);
	case H2_PUSH_PROMISE:
		return id && length >= 4 && !(flags & ~0x0c);
	case H2_PING:
		return !id && length == 8 && !(flags & ~0x01);
	case H2_GOAWAY:
		return !id && length >= 8 && !flags;
	case H2_WINDOW_UPDATE:
		return length == 4 && !flags;
	case H2_CONTINUATION:
		return id && !(flags & ~0x04);
	case H2_ALTSVC:
	case H2_ORIGIN:
	case H2_PRIORITY_UPDATE:
		return true;
	}
	return false;
}

/* Its place in the table: id 0 finds an empty one for at. */
static __noinline struct h2_stream *h2_find(struct h2 *h, __u32 at, __u32 id)
{
	for (__u32 i = 0; i < H2_PLACES; i++) {
		struct h2_stream *s = &h->s[((at >> 1) + i) & (H2_STREAMS - 1)];

		if (s->id == id)
			return s;
	}
	return NULL;
}

/* A place for a new stream: one of those that the client has not ended may go, for it is
 * nothing that anybody waits for. */
static __always_inline struct h2_stream *h2_place(struct h2 *h, __u32 id)
{
	struct h2_stream *s = h2_find(h, id, 0);

	if (s)
		return s;
	for (__u32 i = 0; i < H2_PLACES; i++) {
		s = &h->s[((id >> 1) + i) & (H2_STREAMS - 1)];
		if (!(s->bytes & H2_COMPLETE) && !s->first)
			return s;
	}
	return NULL;
}

/* What all of a connection's threads count, in the socket's turn. */
static __always_inline void h2_count(struct turn *t, __u64 took, __u64 wait)
{
	__u32 i = turn_bucket(took);

	if (t->h2 != H2_IS)
		return;
	add(&t->sum, took);
	keep_max(&t->max, took + 1);
	add(&t->wait, wait);
	if (i < TURN_BUCKETS)
		__sync_fetch_and_add(&t->hist[i], 1);
}

/* When the byte at seq came. */
static __always_inline __u64 h2_arrival(const struct h2 *h, __u32 seq, __u64 now)
{
	const struct h2_came *c = &h->came;
	__u32 span, off;
	__u64 at;

	if ((__s32)(seq - c->first_seq) < 0)
		c = &h->before;
	off = seq - c->first_seq;
	span = c->last_seq - c->first_seq;
	if (!c->first || (__s32)off < 0 || c->last < c->first)
		return now;
	at = off >= span ? c->last : c->first + (c->last - c->first) * off / span;
	return at < now ? at : now;
}

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

struct h2_call {
	struct turn *t;
	struct h2 *h;
	struct h2_dir *d;
	__u32 in;
	__u32 server;
};

/* Of the frame whose head was read last. */
static __always_inline __u64 h2_time(const struct h2_call *c)
{
	const struct h2_dir *d = c->d;

	return c->in ? h2_arrival(c->h, d->seq - d->want, d->now) : d->now;
}

/* A request's first frame. One whose answer was read before the call that asked came back took
 * less than that call. */
static __always_inline void h2_asked(const struct h2_call *c, __u32 id, __u8 flags)
{
	struct h2 *h = c->h;
	struct h2_early *e = &h->early[(id >> 1) & (H2_EARLY - 1)];
	struct h2_stream *s = h2_place(h, id);
	__u64 begin;

	if (!s) {
		h->last = id;
		c->t->missed = 1;
		return;
	}
	begin = h2_time(c);
	s->begin = begin;
	s->wait = c->in ? (c->d->now - begin) / 1000 : 0;
	s->first = 0;
	s->bytes = flags & H2_END_STREAM ? H2_COMPLETE : 0;
	*(volatile __u32 *)&s->id = id;
	*(volatile __u32 *)&h->last = id;
	if (*(volatile __u32 *)&e->id == id) {
		e->id = s->id = 0;
		h2_count(c->t, 0, 0);
	}
}

/* An answer to a request that is not known. Of a caller it may have been read on another CPU
 * while the call that asked comes back. */
static __always_inline struct h2_stream *h2_early(const struct h2_call *c, __u32 id)
{
	struct h2_early *e = &c->h->early[(id >> 1) & (H2_EARLY - 1)];
	struct h2_stream *s;

	if (c->server)
		return NULL;
	if ((__s32)(id - *(volatile __u32 *)&c->h->last) > 0)
		*(volatile __u32 *)&e->id = id;
	s = h2_find(c->h, id, id); /* which it may be by now */
	if (s)
		e->id = 0;
	return s;
}

/* RFC 9113, 5.1 and 5.1.1: HEADERS with a greater id open a stream. More of a request, until
 * it is answered, is the client's time. */
static __always_inline void h2_request(const struct h2_call *c, __u8 type, __u8 flags, __u32 id)
{
	struct h2_stream *s;
	__u64 now;

	if (type == H2_HEADERS && (id & 1) && (__s32)(id - c->h->last) > 0) {
		h2_asked(c, id, flags);
		return;
	}
	if (type != H2_HEADERS && type != H2_DATA && type != H2_RST_STREAM)
		return;
	s = h2_find(c->h, id, id);
	if (!s)
		return;
	if (type == H2_RST_STREAM) { /* who asked does not wait any more */
		s->id = 0;
		return;
	}
	if (!s->first) {
		now = h2_time(c);
		if (now > s->begin) {
			s->begin = now;
			s->wait = c->in ? (c->d->now - now) / 1000 : 0;
		}
	}
	if (flags & H2_END_STREAM)
		s->bytes |= H2_COMPLETE;
}

/* A server's answer ends as a turn's does; a stream with its first frame. */
static __always_inline void h2_answered(struct turn *t, struct h2_stream *s, __u64 now)
{
	__u64 took = now > s->begin ? now - s->begin : 0, first = (s->first - 1) * 1000ULL;

	if ((s->bytes & ~H2_COMPLETE) > STREAM_BYTES || took > first + STREAM_TIME)
		took = first;
	h2_count(t, took, s->wait * 1000ULL);
	s->id = 0;
}

static __always_inline void h2_error(struct turn *t, __u32 code, __u32 kind)
{
	if (t->h2 != H2_IS || code == H2_NO_ERROR)
		return;
	failed_as(t, ANSWER_HTTP2 | (code & 0xff) << ALERT_SHIFT | kind);
}

static __always_inline void h2_answer(const struct h2_call *c, __u8 type, __u8 flags, __u32 id)
{
	const struct h2_dir *d = c->d;
	struct h2_stream *s;
	__u64 now, after;
	__u32 code;

	if (type == H2_GOAWAY) {
		if (c->server)
			h2_error(c->t, h2_be32(d->head + H2_HEAD + 4), H2_OF_ALL);
		return;
	}
	if ((type != H2_HEADERS && type != H2_DATA && type != H2_RST_STREAM) || !(id & 1))
		return;
	s = h2_find(c->h, id, id);
	if (!s)
		s = h2_early(c, id);
	if (!s)
		return;
	now = h2_time(c);
	after = now > s->begin ? now - s->begin : 0;
	if (!c->server) { /* as a turn of a caller: with the first that comes */
		h2_count(c->t, after, 0);
		s->id = 0;
		return;
	}
	if (!s->first)
		s->first = after / 1000 + 1;
	if (type == H2_RST_STREAM) {
		code = h2_be32(d->head + H2_HEAD);
		if (code != H2_CANCEL)
			h2_error(c->t, code, 0);
	} else if (type == H2_DATA && (s->bytes & ~H2_COMPLETE) <= STREAM_BYTES) {
		s->bytes += h2_length(d->head);
	}
	if (type == H2_RST_STREAM || flags & H2_END_STREAM)
		h2_answered(c->t, s, now);
}

/* The head of a frame is whole; false: it is none. */
static __always_inline bool h2_frame(const struct h2_call *c)
{
	struct h2_dir *d = c->d;
	__u8 type = d->head[3], flags = d->head[4];
	__u32 id = h2_be32(d->head + 5);
	bool is = c->t->h2 == H2_IS;

	if (d->want == H2_HEAD) {
		if (!h2_fits(d->head, !is))
			return false;
		d->want += type == H2_RST_STREAM ? 4 : type == H2_GOAWAY ? 8 : 0;
		if (d->want > H2_HEAD)
			return true; /* and its code */
	}
	d->left = h2_length(d->head) - (d->want - H2_HEAD);
	d->synced = 1;
	d->lost = 0;
	d->frames++;
	if (!is) {
		c->h->frames++;
		if (type != H2_DATA)
			c->h->heads = 1;
		if (c->h->frames >= H2_ENOUGH && c->h->heads && c->h->calls)
			c->t->h2 = H2_IS;
	}
	if (c->in == c->server)
		h2_request(c, type, flags, id);
	else
		h2_answer(c, type, flags, id);
	d->have = 0;
	d->want = H2_HEAD;
	return true;
}

static __always_inline void h2_pass(struct h2_dir *d, __u32 n)
{
	d->at += n;
	d->here -= n;
	d->todo -= n;
	d->seq += n;
}

static __always_inline __u32 h2_there(const struct h2_dir *d)
{
	return d->here < d->todo ? d->here : d->todo;
}

/* Reads on, by a frame or to the end of a piece; 1 ends it. */
static long h2_step(__u32 i, struct h2_call *c)
{
	struct h2_dir *d = c->d;
	__u32 n, have, want;

	if (!d->todo)
		return 1;
	if (!d->here) {
		struct piece p = {};

		if (!d->pieces || bpf_probe_read_user(&p, sizeof(p), (void *)d->pieces))
			goto broken;
		d->pieces += sizeof(p);
		d->at = p.at;
		d->here = p.length;
	}
	n = h2_there(d);
	if (d->left) {
		if (n > d->left)
			n = d->left;
		h2_pass(d, n);
		d->left -= n;
		n = h2_there(d);
	}
	if (d->left || !n)
		return 0;
	have = d->have;
	want = d->want;
	if (have >= want || want > H2_MOST_HEAD)
		goto broken;
	if (n > want - have)
		n = want - have;
	asm volatile("%0 &= 31" : "+r"(have)); /* the verifier has lost sight of their bounds */
	asm volatile("%0 &= 31" : "+r"(n));
	if (bpf_probe_read_user(&d->head[have], n, (void *)d->at))
		goto broken;
	h2_pass(d, n);
	d->have = have + n;
	if (d->have < want || h2_frame(c))
		return 0;
broken:
	d->broken = 1;
	return 1;
}

static __always_inline void h2_adrift(struct h2_dir *d, bool lost)
{
	d->synced = 0;
	d->lost = lost;
	d->have = 0;
	d->want = H2_HEAD;
	d->left = 0;
}

static __noinline int h2_forget_streams(struct h2 *h)
{
	for (__u32 i = 0; i < H2_STREAMS; i++)
		*(volatile __u32 *)&h->s[i].id = 0;
	for (__u32 i = 0; i < H2_EARLY; i++)
		h->early[i].id = 0;
	return 0;
}

/* In a new slice: what was asked and answered since the last is not known. */
static __always_inline void h2_resume(struct h2 *h)
{
	h->slice = slice;
	h2_adrift(&h->in, false);
	h2_adrift(&h->out, false);
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
	if (n >= H2_HEAD && first_bytes(&f, in)) {
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
	bool was = in ? h->in.synced : h->out.synced;

	if (in)
		h2_adrift(&h->in, true);
	else
		h2_adrift(&h->out, true);
	if (t->h2 == H2_IS) {
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

/* As cut_by, but that what the peer has sent before its FIN may not be read yet: what is open
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
