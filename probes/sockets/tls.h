/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Handshakes of TLS 1.3 that an alert ends. From ServerHello on alerts are encrypted, and the
 * head of their record says that it is application data (RFC 8446, 5.2). Their length shows
 * them: where a client's Finished or its certificate is due, nothing else is as short. So the
 * heads of a client's records are followed until its handshake is over. What the records carry
 * is not looked at.
 *
 *  The client objects: its first encrypted record is an alert, and nothing follows.
 *  The server objects: the client sent more than its Finished, which is its certificate, and
 *  all that the server says then is an alert, at once. Then it closes, at once too.
 *
 * A farewell (close_notify) is as long. It comes behind a Finished, a session ticket or an
 * answer, after the client's own farewell, or after a time.
 */

#define TLS_CHANGE_CIPHER 20
#define TLS_HANDSHAKE 22
#define TLS_DATA 23
#define TLS_TAG 16				/* of all ciphers but CCM_8's */
#define TLS_PADDING 16				/* zeros that Java adds to each record */
#define TLS_SECRET_ALERT (2 + 1 + TLS_TAG)	/* level and description, the record's true type */
#define TLS_FINISHED_256 (4 + 32 + 1 + TLS_TAG) /* a message's head and a hash */
#define TLS_FINISHED_384 (4 + 48 + 1 + TLS_TAG)
#define TLS_LEAST_HELLO 128 /* with a session id; a Finished of TLS 1.2 is shorter */
#define TLS_MOST (16384 + 256)
#define TLS_RECORDS 8 /* of one read */
#define TLS_MISSES 4  /* reads before a ClientHello: PostgreSQL's SSLRequest, STARTTLS */
#define MSG_TRUNC 0x20
#define TLS_UNIT 20 /* 2^20 ns, about a millisecond */
#define TLS_AT_ONCE 1000

static __always_inline bool tls_is_alert(__u32 length)
{
	return length == TLS_SECRET_ALERT || length == TLS_SECRET_ALERT + TLS_PADDING;
}

static __always_inline bool tls_is_finished(__u32 length)
{
	return length == TLS_FINISHED_256 || length == TLS_FINISHED_384 || /* or 256 of Java */
	       length == TLS_FINISHED_384 + TLS_PADDING;
}

/* Where a client's record takes its handshake. */
static __always_inline __u8 tls_step(__u8 step, __u8 type, __u32 length)
{
	bool begun = step == TLS_HELLO || step == TLS_CHANGED;

	switch (type) {
	case TLS_HANDSHAKE: /* a second ClientHello may follow a ChangeCipherSpec (RFC 8446, D.4) */
		if (step == TLS_CHANGED && length >= TLS_LEAST_HELLO)
			return TLS_CHANGED;
		return step == TLS_UNKNOWN || step == TLS_HELLO ? TLS_HELLO : TLS_OVER;
	case TLS_CHANGE_CIPHER:
		return begun ? TLS_CHANGED : TLS_OVER;
	case TLS_DATA:
		if (tls_is_alert(length))
			return begun ? TLS_OBJECTED : TLS_OVER; /* or a farewell */
		if (begun && tls_is_finished(length))
			return TLS_OVER;
		return begun || step == TLS_CERTIFIED ? TLS_CERTIFIED : TLS_OVER;
	}
	return TLS_OVER;
}

static __always_inline __u32 tls_now(void)
{
	return bpf_ktime_get_ns() >> TLS_UNIT;
}

static __always_inline int tls_miss(struct tls *s)
{
	s->misses++;
	if (s->step != TLS_UNKNOWN || s->misses >= TLS_MISSES)
		s->step = TLS_OVER;
	return 0;
}

/* Where the n bytes lie that the present call has read; 0: not seen, or in several pieces. */
static __noinline __u64 tls_bytes(__u32 n)
{
	enum written kind;
	struct piece p;
	__u64 at = 0;

	kind = call_bytes(&at, true);
	if (kind == WRITTEN_BYTES)
		return at;
	if (kind != WRITTEN_IOV || bpf_probe_read_user(&p, sizeof(p), (void *)at) || p.length < n)
		return 0;
	return p.at;
}

/* A server has read n bytes. */
static __noinline int tls_follow(struct tls *s, __u32 n)
{
	__u32 pos = s->left, length;
	__u8 b[8] = {};
	__u64 at;

	if (pos >= n) {
		s->left -= n;
		return 0;
	}
	takes(SHORT_RUN);
	at = tls_bytes(n);
	if (!at)
		return tls_miss(s);
	for (int i = 0; i < TLS_RECORDS && pos < n; i++) {
		if (n - pos < TLS_HEADER || bpf_probe_read_user(b, TLS_HEADER, (void *)(at + pos)))
			return tls_miss(s);
		length = b[3] << 8 | b[4];
		if (b[1] != 3 || length > TLS_MOST || (s->step == TLS_UNKNOWN && b[0] != TLS_HANDSHAKE))
			return tls_miss(s);
		s->step = tls_step(s->step, b[0], length);
		if (s->step == TLS_OVER)
			return 0;
		pos += TLS_HEADER + length;
	}
	if (pos < n)
		return tls_miss(s);
	s->left = pos - n;
	if (s->step == TLS_CERTIFIED)
		s->at = tls_now();
	return 0;
}

static __always_inline void tls_read(struct sock *sk, struct turn *t, __u32 n, int flags)
{
	struct tcp_sock *tp;

	if (t->slice != slice)
		t->tls.step = TLS_OVER; /* what was read since is not known */
	if (t->tls.step == TLS_REFUSED && flags & MSG_TRUNC)
		return; /* HAProxy throws away what the client still sent */
	if (t->tls.step == TLS_OVER)
		return;
	tls_follow(&t->tls, n);
	tp = bpf_skc_to_tcp_sock(sk);
	if (tp)
		t->tls.seq = tp->copied_seq;
}

/* The server writes n bytes to a client that has shown a certificate. The times are the server's own
 * calls': what the client says to an alert may come before the call that wrote it is back. */
static __noinline int tls_answered(struct tls *s, __u32 n, bool open)
{
	struct first f = {};
	const __u8 *b = f.b;
	__u32 now = tls_now();
	bool alert = s->step == TLS_CERTIFIED && open && tls_is_alert(n - TLS_HEADER) &&
		     now - s->at <= TLS_AT_ONCE && first_bytes(&f, TLS_HEADER, false) && b[0] == TLS_DATA &&
		     b[1] == 3 && !b[3] && b[4] == n - TLS_HEADER;

	s->step = alert ? TLS_REFUSED : TLS_OVER;
	s->at = now;
	return 0;
}

/* Whether the client had not hung up when the present call wrote. If what was written made it do so,
 * it has come there, and its FIN has not been read. */
static __always_inline bool tls_open(const struct sock *sk, const struct tcp_sock *tp, const struct tls *s)
{
	if (sk->__sk_common.skc_state == TCP_CLOSE_WAIT)
		return tp->copied_seq == s->seq && tp->snd_una == tp->write_seq;
	return sk->__sk_common.skc_state == TCP_ESTABLISHED;
}

static __always_inline void tls_sent(const struct sock *sk, const struct tcp_sock *tp, struct turn *t,
				     __u32 n)
{
	if (t->tls.step == TLS_CERTIFIED || t->tls.step == TLS_REFUSED)
		tls_answered(&t->tls, n, tls_open(sk, tp, &t->tls));
}

/* The connection ends: whether an alert that was encrypted has ended its handshake. */
static __always_inline int tls_ended(struct turn *t)
{
	__u8 step = t->tls.step;

	if (t->slice != slice || (step != TLS_OBJECTED && step != TLS_REFUSED))
		return ANSWER_FINE;
	t->tls.step = TLS_OVER;
	if (step == TLS_OBJECTED)
		return ANSWER_TLS | ALERT_ENCRYPTED << ALERT_SHIFT | ALERT_READ;
	return tls_now() - t->tls.at <= TLS_AT_ONCE ? ANSWER_TLS | ALERT_ENCRYPTED << ALERT_SHIFT
						    : ANSWER_FINE;
}
