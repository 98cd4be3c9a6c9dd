/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The requests of a connection of HTTP/2: a small table of those that have no answer, or not
 * the whole of it. Which are counted, and when, is as for turns (docs/probes/turns.md).
 */

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

/* A server's answer ends as a turn's does; a stream with its first frame. */
static __always_inline void h2_answered(struct turn *t, struct h2_stream *s, __u64 now)
{
	__u64 took = now > s->begin ? now - s->begin : 0, first = (s->first - 1) * 1000ULL;

	if ((s->bytes & ~H2_COMPLETE) > STREAM_BYTES || took > first + STREAM_TIME)
		took = first;
	h2_count(t, took, s->wait * 1000ULL);
	s->id = 0;
}

/* Who asked does not wait any more. A server may have written its answer already, by a call
 * that is not back yet; an answer that has begun is one. */
static __always_inline void h2_given_up(const struct h2_call *c, struct h2_stream *s)
{
	if (!c->server)
		s->id = 0;
	else if (s->first)
		h2_answered(c->t, s, c->d->now);
	else
		s->bytes &= ~H2_COMPLETE;
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
	if (type == H2_RST_STREAM) {
		h2_given_up(c, s);
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

static __noinline int h2_forget_streams(struct h2 *h)
{
	for (__u32 i = 0; i < H2_STREAMS; i++)
		*(volatile __u32 *)&h->s[i].id = 0;
	for (__u32 i = 0; i < H2_EARLY; i++)
		h->early[i].id = 0;
	return 0;
}
