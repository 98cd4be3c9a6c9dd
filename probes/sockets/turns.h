/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Request/response turns, as a socket shows them (docs/probes/turns.md has the
 * definition). Data that came is seen at tcp:tcp_probe, before it is queued;
 * reads and writes at sock:sock_recv_length and sock:sock_send_length (since
 * 6.3), after the call has done its work. A call's tracepoint may run after the
 * peer's reaction to it has come, so whether something was asked or answered is
 * told by sequence numbers (write_seq), which change under the socket's lock, as
 * tcp_probe does; only the times are the tracepoints'.
 */

#define ANSWER_GAP (200 * MSEC)	  /* a silence this long ends an answer */
#define STREAM_TIME (1000 * MSEC) /* what is sent without an answer, or as one, */
#define STREAM_BYTES (256 << 10)  /* for longer or in greater amount is a stream */
#define MOST_SOCKS 65536
#define MSG_PEEK 2

static __always_inline __u32 turn_bucket(__u64 ns)
{
	__u64 halves = ns / 8000; /* the bounds are 2, 3, 4, 6, 8, 12 … of them */
	__u32 v, e = 0, i;

	if (halves < 2)
		return 0;
	v = halves >> 32 ? 0xffffffff : halves;
	if (v >> 16)
		e += 16;
	if (v >> (e + 8))
		e += 8;
	if (v >> (e + 4))
		e += 4;
	if (v >> (e + 2))
		e += 2;
	if (v >> (e + 1))
		e += 1;
	i = 2 * (e - 1) + ((v >> (e - 1)) & 1);
	return i < TURN_BUCKETS ? i : TURN_BUCKETS - 1;
}

/* The row of a key, which may lose its peer. */
static __always_inline struct turn_value *turn_row_of(struct turn_key *key, __u64 *full)
{
	static const struct turn_value zero;
	struct turn_value *v;
	int odd = epoch & 1;

	v = odd ? bpf_map_lookup_elem(&turns_b, key) : bpf_map_lookup_elem(&turns_a, key);
	if (v)
		return v;
	if (turn_rows[odd] < OTHERS) {
		__sync_fetch_and_add(&turn_rows[odd], 1);
	} else {
		__builtin_memset(key->flow.raddr, 0, sizeof(key->flow.raddr));
		key->others = 1;
	}
	return row(&turns_a, &turns_b, odd, key, &zero, full);
}

static __noinline struct turn_value *turn_row(const struct turn *t)
{
	struct turn_key key = t->key;
	struct turn_value *v = turn_row_of(&key, &lost[TURNS]);

	/* A row may begin with what nobody has read yet. */
	if (v && !v->pid && t->pid) {
		v->pid = t->pid;
		__builtin_memcpy(v->comm, t->comm, sizeof(v->comm));
	}
	return v;
}

/* Counts with the socket, whose memory is at hand: a table would cost a search
 * of each turn. turn_swept and the socket's end bring it to the tables. Written
 * under the socket's lock but for answers that a silence ended; the sweep may meet
 * an addition half done, a nanosecond of each second, and is then undone. */
static __always_inline void count_turn(struct turn *t, __u64 end)
{
	__u64 took = end > t->begin ? end - t->begin : 0;
	__u32 i = turn_bucket(took);

	t->sum += took;
	keep_max(&t->max, took + 1); /* 0: none */
	if (t->read > t->begin)
		t->wait += t->read - t->begin;
	if (i < TURN_BUCKETS)
		t->hist[i]++;
}

/* Takes away what it has read, and no more: turns end meanwhile. */
static __always_inline void move(__u64 *to, __u64 *from)
{
	__u64 n = *from;

	add(to, n);
	add(from, -n);
}

/* Of the processes of one listener, whose turn takes longest: there it is worth a look. */
static __always_inline void note_slow(struct turn_value *v, __u32 pid, __u64 took)
{
	if (took <= v->slowest)
		return;
	v->slowest = took;
	v->slow_pid = pid;
}

static __noinline int flush_turns(struct turn *t)
{
	struct turn_value *v;

	if (!t || (!t->max && !t->failed && !t->missed))
		return 0;
	v = turn_row(t);
	if (!v)
		return 0;
	if (t->missed) {
		t->missed = 0;
		add(&v->missed, 1);
	}
	if (t->failed) {
		move(&v->failed, &t->failed);
		v->failed_as = t->failed_as;
	}
	if (!t->max)
		return 0;
	move(&v->sum, &t->sum);
	move(&v->wait, &t->wait);
	keep_max(&v->max, t->max - 1);
	note_slow(v, t->pid, t->max);
	t->max = 0;
	for (int i = 0; i < TURN_BUCKETS; i++) {
		__u32 n = t->hist[i];

		if (n) {
			add(&v->n, n);
			__sync_fetch_and_add(&v->hist[i], n);
			__sync_fetch_and_add(&t->hist[i], -n);
		}
	}
	return 0;
}

/* The answer has been sent: up to its last byte, or of a stream to its first. An
 * answer that one long call wrote may have waited for its reader: not known. */
static __always_inline void served(struct turn *t)
{
	__u64 end = t->last;

	if (t->bytes > STREAM_BYTES || t->last - t->first > STREAM_TIME)
		end = t->first;
	if (t->bytes <= STREAM_BYTES || t->first != t->last)
		count_turn(t, end);
	t->begin = 0;
}

/* The answer left, but the call that wrote it has not come back yet. */
static __always_inline void catch_up(struct turn *t, const struct tcp_sock *tp, __u32 written)
{
	if (t->last)
		return;
	t->first = t->last = tp->tcp_mstamp * 1000;
	t->bytes = written - t->base;
}

static __always_inline void begin_serving(struct turn *t, __u64 now, __u32 written)
{
	t->begin = now;
	t->read = 0;
	t->first = 0;
	t->last = 0;
	t->bytes = 0;
	if (t->base != written)
		t->before = t->base; /* in this order: see begins_answer */
	*(volatile __u32 *)&t->base = written;
}

/* Whether bytes from here on are an answer's first: of this turn, or of the one before, if
 * the next request came before the call that answers came back. */
static __always_inline bool begins_answer(const struct turn *t, __u32 from)
{
	__u32 base = *(const volatile __u32 *)&t->base;

	return t->role == ROLE_ACCEPT && (from == base || from == *(const volatile __u32 *)&t->before);
}

/* A socket that was accepted still has its listener's backlog (sk_clone_lock). */
static __always_inline bool accepted(const struct sock *sk)
{
	return sk->sk_max_ack_backlog != 0;
}

static __always_inline struct turn *new_turn(struct sock *sk, __u8 role, __u32 written)
{
	struct turn *t;

	if (turn_socks >= MOST_SOCKS) {
		add(&lost[TURNS], 1);
		return NULL;
	}
	t = bpf_sk_storage_get(&socket_turns, sk, NULL, BPF_SK_STORAGE_GET_F_CREATE);
	if (!t) {
		/* The answer, on another CPU, may have been first. */
		t = bpf_sk_storage_get(&socket_turns, sk, NULL, 0);
		if (!t)
			add(&lost[TURNS], 1);
		return t;
	}
	__sync_fetch_and_add(&turn_socks, 1);
	takes(NEW_TURN);
	t->slice = slice;
	flow_of_typed_sock(&t->key.flow, sk);
	t->key.role = t->role = role;
	if (role == ROLE_ACCEPT) {
		t->key.flow.lport = local_port(sk);
		t->key.flow.rport = 0;
	}
	t->base = written;
	return t;
}

/* A connection whose client speaks first, as far as is known when data has come. */
static __always_inline void note_first(struct turn *t, const struct tcp_sock *tp)
{
	if (!tp->bytes_sent)
		t->greets = GREETS_NOT;
}

static __always_inline void name_turn(struct turn *t)
{
	if (t->pid)
		return;
	t->pid = bpf_get_current_pid_tgid() >> 32;
	process_name(&t->comm);
}

/* What a segment takes of the sequence numbers: its bytes, SYN and FIN. A program may
 * read cb as an array of integers; seq and end_seq have been its first two since 2.6
 * (struct tcp_skb_cb). */
static __always_inline __u32 length_of(const struct sk_buff *skb)
{
	const __u32 *cb = (const __u32 *)skb->cb;

	return cb[1] - cb[0];
}

/* Whether a segment has bytes that can be read now: not a duplicate, nor what
 * lies beyond a gap. At tcp_probe its header has not been taken off. */
static __always_inline bool readable(const struct tcp_sock *tp, const struct sk_buff *skb)
{
	const __u32 *cb = (const __u32 *)skb->cb;
	__u32 seq = cb[0], end_seq = cb[1], length = end_seq - seq;

	if (length == 0)
		return false;
	if (length == 1) { /* a byte, or a FIN */
		__u8 doff = 0;

		bpf_probe_read_kernel(&doff, sizeof(doff), skb->data + 12);
		if (skb->len <= (doff >> 4) * 4)
			return false;
	}
	return (__s32)(end_seq - tp->rcv_nxt) > 0 && (__s32)(seq - tp->rcv_nxt) <= 0;
}

/* A socket that was last seen in another slice: what was asked and answered since is not
 * known. False: data of then still waits to be read, and when it came is not known. */
static __always_inline bool resume(struct turn *t, const struct tcp_sock *tp, __u32 written)
{
	if (t->slice == slice)
		return true;
	if (t->role == ROLE_ACCEPT && tp->copied_seq != tp->rcv_nxt)
		return false;
	t->begin = 0;
	t->base = written;
	t->slice = slice;
	t->tls.step = TLS_OVER;
	return true;
}

/* Whether a connection began in this slice; all have in the first. */
static __always_inline bool opened_in_slice(struct sock *sk)
{
	struct birth *b;

	if (!slice_began)
		return true;
	b = birth_of(number_of(sk));
	return b && b->established >= slice_began;
}

/* The first answer on a connection that was opened here, and no turn: either nothing was
 * asked, or the call that asked is not back yet. Of a connection whose beginning was not
 * seen that can't be told. */
static __always_inline void asked_first(struct sock *sk, struct tcp_sock *tp, __u32 written)
{
	struct birth *b = birth_of(number_of(sk));
	struct turn *t;

	if (!b || b->established < slice_began || !tp->bytes_sent)
		return;
	t = new_turn(sk, ROLE_CONNECT, written);
	if (!t)
		return;
	t->base = written;
	if (!t->begin)
		t->begin = tp->tcp_mstamp * 1000;
	count_turn(t, bpf_ktime_get_ns());
	t->begin = 0;
}

/* Of http2.h, which needs what is here. */
static int h2_data(struct sock *sk, struct tcp_sock *tp);
static int h2_closing(struct sock *sk, struct turn *t, int old, int new);

static __always_inline void turn_data(struct sock *sk, struct tcp_sock *tp, struct sk_buff *skb)
{
	struct turn *t;
	__u32 written;
	__u64 now;

	if (skb->len <= tp->tcp_header_len || !readable(tp, skb))
		return; /* most are headers that only acknowledge */
	written = tp->write_seq;
	t = bpf_sk_storage_get(&socket_turns, sk, NULL, 0);
	if (!t) {
		if (!accepted(sk)) {
			asked_first(sk, tp, written);
			return;
		}
		if (slice && tp->copied_seq != tp->rcv_nxt)
			return; /* see resume */
		t = new_turn(sk, ROLE_ACCEPT, written);
		if (!t)
			return;
		note_first(t, tp);
	}
	if (t->h2 >= H2_MAYBE) {
		h2_data(sk, tp);
		return;
	}
	if (!resume(t, tp, written))
		return;
	if (t->role == ROLE_ACCEPT) {
		if (t->begin && written != t->base) {
			catch_up(t, tp, written);
			served(t);
		} else if (t->begin && tp->copied_seq != tp->rcv_nxt) {
			return; /* more of what is still unread */
		}
		/* What was read and not answered was no request, or not all of it. */
		begin_serving(t, bpf_ktime_get_ns(), written);
		return;
	}
	if (written == t->base)
		return; /* more of the answer, or a message that nobody asked for */
	now = bpf_ktime_get_ns();
	if (!t->begin)
		t->begin = t->last = tp->tcp_mstamp * 1000; /* asked by a call that is not back yet */
	if (t->last - t->begin <= STREAM_TIME && written - t->base <= STREAM_BYTES)
		count_turn(t, now);
	t->begin = 0;
	t->base = written;
}

/* When what was written left: the kernel's own time of the last packet, unless
 * some of it waits in the queue. Spares reading the clock. */
static __always_inline __u64 sent_at(const struct tcp_sock *tp, __u32 written)
{
	return tp->snd_nxt == written ? tp->tcp_mstamp * 1000 : bpf_ktime_get_ns();
}

#define E_PIPE 32
#define E_CONNRESET 104
#define E_TIMEDOUT 110

static __always_inline void count_cut(struct turn *t, enum cut cut)
{
	struct turn_value *v = turn_row(t);

	if (v) {
		add(&v->cut, 1);
		v->cut_by = cut;
	}
	t->begin = 0;
}

/* A request that is sent when the peer has closed already: it gets no answer, and a reset. Of
 * other protocols what follows a FIN is a farewell. */
static __always_inline bool asked_too_late(struct sock *sk, struct tcp_sock *tp, struct turn *t, int ret)
{
	struct first f = {};
	__u8 state = sk->__sk_common.skc_state;

	/* The reset may come before the call is back (tcp_reset: EPIPE is of CLOSE_WAIT alone). */
	if (state != TCP_CLOSE_WAIT && (state != TCP_CLOSE || sk->sk_err != E_PIPE))
		return false;
	if (t->role == ROLE_ACCEPT || t->begin || t->slice != slice || !first_bytes(&f, ret, false) ||
	    !asks_http(f.b))
		return false;
	name_turn(t);
	count_cut(t, CUT_HUNG_UP);
	t->base = tp->write_seq;
	return true;
}

/* The connection may have ended while the call that wrote its first request came back. What
 * is written behind an answer and a FIN is a farewell. */
static __always_inline enum cut cut_first(const struct sock *sk, const struct tcp_sock *tp, int ret)
{
	if (tp->bytes_sent > ret)
		return CUT_NOT;
	if (sk->__sk_common.skc_state == TCP_CLOSE_WAIT && tp->bytes_received == 1) /* the FIN */
		return CUT_HUNG_UP;
	return sk->__sk_common.skc_state == TCP_CLOSE && sk->sk_err == E_CONNRESET ? CUT_RESET : CUT_NOT;
}

/* The turn of a socket that has sent something, NULL: it has none. */
static __always_inline struct turn *turn_of_sender(struct sock *sk, struct tcp_sock *tp, int ret)
{
	struct turn *t = bpf_sk_storage_get(&socket_turns, sk, NULL, 0);
	enum cut cut;

	if (t && t->slice != slice && t->role != ROLE_ACCEPT) {
		t->begin = 0;
		t->base = tp->write_seq - ret;
		t->slice = slice;
	}
	if (t || accepted(sk)) /* which speaks first: no answer */
		return t;
	cut = cut_first(sk, tp, ret);
	t = new_turn(sk, ROLE_CONNECT, cut ? tp->write_seq : tp->write_seq - ret);
	if (!t || !cut)
		return t;
	name_turn(t);
	count_cut(t, cut);
	if (cut == CUT_RESET && turn_socks) /* no state follows */
		__sync_fetch_and_add(&turn_socks, -1);
	return t;
}

static __always_inline void failed_as(struct turn *t, int as)
{
	if (as == ANSWER_FINE)
		return;
	add(&t->failed, 1);
	t->failed_as = as;
}

/* A server has read so many bytes: it may be a client's alert. */
static __always_inline void count_alert(struct turn *t, int n)
{
	if (n == TLS_ALERT || n == TLS_HEADER)
		failed_as(t, alert_read(n));
	else if (n == TLS_ALERT - TLS_HEADER && t->failed && t->failed_as == (ANSWER_TLS | ALERT_READ))
		t->failed_as = alert_read(n);
}

static __always_inline void count_failed(struct turn *t, int n)
{
	int as = answers_with(n, t->greets, false, t->more);

	t->more = as == ANSWER_MORE;
	if (as < ANSWER_SETTINGS || as > 0xff) {
		failed_as(t, as);
	} else if (as == ANSWER_SETTINGS &&
		   t->h2 == H2_NOT) { /* behind a PROXY header, or after an upgrade */
		t->h2 = H2_UNKNOWN;
		t->misses = 0;
	}
}

/* Whether a server's first word is what this call wrote, before the first request, which is
 * here before the call is back. */
static __always_inline bool spoke_first(const struct tcp_sock *tp, const struct turn *t, int ret)
{
	return t->role == ROLE_ACCEPT && t->greets == GREETS_UNKNOWN && tp->write_seq == t->base &&
	       tp->bytes_sent <= ret;
}

/* A server that says the first word on a connection greets; it may also refuse, without
 * having been asked for anything. There is nothing to time. t may be NULL. */
static __always_inline void speaks_first(struct sock *sk, struct tcp_sock *tp, struct turn *t, int ret)
{
	int as;

	if (!t && (!accepted(sk) || tp->bytes_sent > ret ||
		   tp->bytes_received > (sk->__sk_common.skc_state == TCP_CLOSE_WAIT))) /* a FIN counts */
		return;
	as = answers_with(ret, GREETS_UNKNOWN, true, false);
	if (as == ANSWER_FINE || as == ANSWER_SETTINGS || as == ANSWER_MORE)
		return;
	if (!t)
		t = new_turn(sk, ROLE_ACCEPT, tp->write_seq);
	if (!t)
		return;
	name_turn(t);
	if (as >= ANSWER_GREETING && as <= 0xff)
		t->greets = as - ANSWER_GREETING;
	else
		failed_as(t, as);
}

static __always_inline void turn_sent(struct tcp_sock *tp, struct turn *t)
{
	__u32 written = tp->write_seq;
	__u64 now;

	if (written == t->base) { /* answered while the call came back */
		name_turn(t);
		return;
	}
	if (t->role == ROLE_ACCEPT && (!t->begin || t->slice != slice))
		return;
	name_turn(t);
	now = sent_at(tp, written);
	if (t->role == ROLE_ACCEPT) {
		if (t->last && now - t->last > ANSWER_GAP) {
			served(t); /* and this is a message that nobody asked for */
			return;
		}
		if (!t->first)
			t->first = now;
	} else if (!t->begin) {
		t->begin = now;
	}
	t->last = now;
	t->bytes = written - t->base;
}

/* Whether the answer to a request that was sent is due: what is sent for longer, or in
 * greater amount, is a stream. */
static __always_inline bool answer_due(const struct turn *t, __u64 begin)
{
	return (__s64)(t->last - begin) <= (__s64)STREAM_TIME && t->bytes <= STREAM_BYTES;
}

/* Most bytes of a farewell that gets no answer: Terminate of PostgreSQL and COM_QUIT of MySQL have
 * 5, "quit" of memcached 6, UnbindRequest of LDAP 7. */
#define FAREWELL_BYTES 7

/* Whether what was asked last says goodbye: the peer hangs up when it has read that. */
static __always_inline bool farewell(const struct sock *sk, const struct turn *t)
{
	const struct tcp_sock *tp = bpf_skc_to_tcp_sock((void *)sk);

	return t->bytes <= FAREWELL_BYTES && tp && tp->bytes_received > 1; /* which a FIN counts as */
}

/* What ends a connection on which a request is open. Who asked misses the answer if the
 * peer hangs up or resets, or nothing comes any more; not if he closes it himself, nor
 * after the peer's FIN, when a TLS client says farewell. Who is asked breaks it if he
 * closes by a reset what has not been answered (unread data, SO_LINGER 0). */
static __always_inline enum cut cut_by(const struct sock *sk, const struct turn *t, int old, int new)
{
	if (!t->begin || t->slice != slice || old != TCP_ESTABLISHED)
		return CUT_NOT;
	if (t->role == ROLE_ACCEPT)
		return new == TCP_CLOSE && !sk->sk_err && !t->last ? CUT_RESET : CUT_NOT;
	if (!answer_due(t, t->begin))
		return CUT_NOT;
	if (new == TCP_CLOSE_WAIT)
		return farewell(sk, t) ? CUT_NOT : CUT_HUNG_UP;
	if (new != TCP_CLOSE || !sk->sk_err)
		return CUT_NOT;
	return sk->sk_err == E_TIMEDOUT ? CUT_TIMED_OUT : CUT_RESET;
}

/* What the connection ends on may have been asked by a call that is not back yet. */
static __always_inline void catch_up_asked(struct turn *t, const struct tcp_sock *tp)
{
	if (t->role == ROLE_ACCEPT || t->h2 >= H2_MAYBE || t->begin || t->slice != slice ||
	    tp->write_seq == t->base)
		return;
	t->begin = t->last = tp->tcp_mstamp * 1000;
	t->bytes = tp->write_seq - t->base;
	t->base = tp->write_seq; /* turn_sent has no more to do */
}

static __always_inline void turn_closing(struct sock *sk, int old, int new)
{
	struct tcp_sock *tp;
	struct turn *t;
	enum cut cut;

	if (new != TCP_CLOSE_WAIT &&new != TCP_FIN_WAIT1 &&new != TCP_LAST_ACK &&new != TCP_CLOSE)
		return;
	t = bpf_sk_storage_get(&socket_turns, sk, NULL, 0);
	if (!t)
		return;
	tp = bpf_skc_to_tcp_sock(sk);
	if (tp && old == TCP_ESTABLISHED) /* later a FIN counts too */
		catch_up_asked(t, tp);
	cut = cut_by(sk, t, old, new);
	if (new != TCP_CLOSE_WAIT)
		failed_as(t, tls_ended(t));
	if (t->h2 >= H2_MAYBE) {
		h2_closing(sk, t, old, new);
	} else if (cut) {
		count_cut(t, cut);
	}
	if (new == TCP_CLOSE_WAIT)
		return;
	if (tp && t->begin && t->slice == slice && t->role == ROLE_ACCEPT && tp->write_seq != t->base &&
	    t->last) {
		served(t);
	}
	flush_turns(t);
	if (new == TCP_CLOSE && turn_socks)
		__sync_fetch_and_add(&turn_socks, -1);
}
