// clang-format off
//go:build ignore

// clang-format on
// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * What happens to sockets between two dumps of them, counted in the kernel:
 * connections opened, failed and closed, resets, retransmits, signals, the small
 * writes that Nagle's algorithm holds back, request/response turns, requests of HTTP/2,
 * queries to name servers and at those of this host, and errors.
 *
 * Every table exists twice. Programs write to the one that the lowest bit of
 * `epoch` names; once a second user space adds one to epoch, waits for a grace
 * period (membarrier), and reads and empties the other in peace. Nothing is sent
 * to user space an event at a time.
 */
#include "kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char __license[] SEC("license") = "Dual BSD/GPL";

/* Turns need what kernels before 6.3 have not: what is under it is then dead to the
 * verifier. */
const volatile bool has_turns = false;

#include "registers.h"
#include "calls.h"
#include "spent.h"
#include "tables.h"
#include "flow.h"
#include "holds.h"
#include "births.h"
#include "connections.h"
#include "resets.h"
#include "signals.h"
#include "errors.h"
#include "answers.h"
#include "queries.h"
#include "answers_text.h"
#include "answers_binary.h"
#include "tls.h"
#include "turns.h"
#include "http2.h"
#include "http2_streams.h"
#include "http2_frames.h"
#include "http2_sockets.h"
#include "kafka.h"
#include "unix.h"
#include "dns.h"
#include "unconnected.h"
#include "sip.h"
#include "sweep.h"

/* Two programs on one tracepoint cost more than one that does both: the kernel
 * then calls them through pointers (kernel/tracepoint.c). */
SEC("tp_btf/sock_send_length")
int BPF_PROG(sent, struct sock *sk, int ret, int flags)
{
	struct tcp_sock *tp;
	struct turn *t;
	__u64 *ns;
	int as;

	if (!on)
		return 0;
	ns = takes(SHORT_RUN);
	if (is_error(ret))
		return socket_error(sk, -ret, CALL_SEND);
	if (ret <= 0)
		return 0;
	if (sk->sk_protocol != IPPROTO_TCP) {
		if (asks_names(sk)) {
			name_asked(sk);
			note_query(sk);
		}
		if (serves_names(sk)) {
			takes_more(ns, WHOLE_RUN - SHORT_RUN);
			name_sent(sk);
		}
		if (is_unconnected(sk))
			datagram_sent(sk, ret, ns);
		if (on_unix(sk)) {
			takes_more(ns, WHOLE_RUN - SHORT_RUN);
			unix_moved(sk, ret, true);
		}
		return 0;
	}
	tp = bpf_skc_to_tcp_sock(sk);
	if (!tp)
		return 0; /* not AF_INET or AF_INET6 */
	takes_more(ns, WHOLE_RUN - SHORT_RUN);
	t = turn_of_sender(sk, tp, ret);
	hold_write(sk, tp, t);
	if (!t) {
		speaks_first(sk, tp, NULL, ret);
		return 0;
	}
	if (t->h2 != H2_NOT && h2_moved(sk, tp, t, ret, false))
		return 0;
	if (spoke_first(tp, t, ret)) {
		speaks_first(sk, tp, t, ret);
		return 0;
	}
	if (asked_too_late(sk, tp, t, ret))
		return 0;
	turn_sent(tp, t);
	tls_sent(sk, tp, t, ret);
	if (t->kafka.step == KAFKA_ASKED) {
		as = kafka_answer(&t->kafka, ret);
		if (as >= 0) {
			if (begins_answer(t, tp->write_seq - ret))
				failed_as(t, as);
			return 0;
		}
	}
	if (t->more || begins_answer(t, tp->write_seq - ret))
		count_failed(t, ret);
	if (sk->__sk_common.skc_state == TCP_CLOSE) /* no state follows */
		flush_turns(t);
	return 0;
}

/* A call that is to read has failed. */
static __always_inline int unread(struct sock *sk, int ret)
{
	if (ret == -E_CONNRESET && on_unix(sk))
		unix_moved(sk, ret, false);
	return socket_error(sk, -ret, CALL_RECV);
}

/* A client's reset may come before its server has read why: no state follows. */
static __always_inline void read_last(struct sock *sk, struct turn *t)
{
	struct tcp_sock *tp = bpf_skc_to_tcp_sock(sk);

	if (tp && tp->rcv_nxt - tp->copied_seq <= 1) /* a FIN counts */
		failed_as(t, tls_ended(t));
	flush_turns(t);
}

SEC("tp_btf/sock_recv_length")
int BPF_PROG(turn_read, struct sock *sk, int ret, int flags)
{
	struct tcp_sock *tp;
	struct turn *t;
	struct birth *b;
	__u64 *ns;
	__u8 state;

	if (!on)
		return 0;
	ns = takes(SHORT_RUN);
	if (is_error(ret))
		return unread(sk, ret);
	if (ret <= 0 || flags & MSG_PEEK) {
		if (ret == 0 && on_unix(sk))
			unix_moved(sk, ret, false);
		return 0;
	}
	if (sk->sk_protocol != IPPROTO_TCP) {
		if (asks_names(sk))
			name_answered(sk, ret);
		if (serves_names(sk))
			queries_read(sk);
		else if (asks_unconnected && asks_there(sk))
			answer_read(sk, ret);
		if (on_unix(sk)) {
			takes_more(ns, WHOLE_RUN - SHORT_RUN);
			unix_moved(sk, ret, false);
		}
		return 0;
	}
	state = sk->__sk_common.skc_state;
	if (!accepted(sk) && (state == TCP_ESTABLISHED || state == TCP_CLOSE_WAIT)) {
		if (h2_socks)
			h2_read_answer(sk, ret);
		return 0; /* a caller's: counted when the answer came, maybe on another CPU */
	}
	takes_more(ns, WHOLE_RUN - SHORT_RUN);
	t = bpf_sk_storage_get(&socket_turns, sk, NULL, 0);
	if (t && t->h2 != H2_NOT && h2_read(sk, t, ret))
		return 0;
	if (t && t->role == ROLE_ACCEPT) {
		name_turn(t);
		if (t->begin && !t->read && t->slice == slice)
			t->read = bpf_ktime_get_ns();
		count_alert(t, ret);
		tls_read(sk, t, ret, flags);
		kafka_read(t, ret);
		if (state == TCP_CLOSE)
			read_last(sk, t);
		return 0;
	}
	if (!t && state == TCP_ESTABLISHED && accepted(sk) && opened_in_slice(sk)) {
		/* It came with the handshake, or before we looked. */
		tp = bpf_skc_to_tcp_sock(sk);
		if (!tp)
			return 0;
		t = new_turn(sk, ROLE_ACCEPT, tp->write_seq);
		if (!t)
			return 0;
		note_first(t, tp);
		name_turn(t);
		if (h2_moved(sk, tp, t, ret, true))
			return 0;
		begin_serving(t, bpf_ktime_get_ns(), tp->write_seq);
		t->read = t->begin;
		tls_read(sk, t, ret, flags);
		kafka_read(t, ret);
		/* With the handshake: it has lain there since (TCP_DEFER_ACCEPT). */
		b = birth_of(number_of(sk));
		if (b)
			t->begin = b->established;
		return 0;
	}
	/* What comes after our own FIN does not pass tcp_probe, and may be read when
	 * the connection is gone. */
	if (t && t->begin && t->slice == slice && state != TCP_ESTABLISHED && state != TCP_CLOSE_WAIT) {
		if (t->last - t->begin <= STREAM_TIME && t->bytes <= STREAM_BYTES)
			count_turn(t, bpf_ktime_get_ns());
		t->begin = 0;
		flush_turns(t); /* no state may follow that does */
	}
	return 0;
}

#define STATES_OF_INTEREST                                                                                   \
	(1 << TCP_SYN_SENT | 1 << TCP_ESTABLISHED | 1 << TCP_FIN_WAIT1 | 1 << TCP_CLOSE_WAIT |               \
	 1 << TCP_LAST_ACK | 1 << TCP_CLOSE)

SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(set_state, struct sock *sk, int old, int new)
{
	/* Of the ten changes of a connection's two ends some are of no interest. */
	if (!(STATES_OF_INTEREST >> new & 1) || !is_tcp(sk))
		return 0;
	count_state(sk, old, new);
	if (has_turns)
		turn_closing(sk, old, new);
	return 0;
}

SEC("tp_btf/tcp_probe")
int BPF_PROG(received, struct sock *sk, struct sk_buff *skb)
{
	struct tcp_sock *tp;
	__u64 *ns;

	if (!on)
		return 0;
	ns = takes(SHORT_RUN);
	if (!holding && !length_of(skb))
		return 0; /* half of all segments only acknowledge */
	tp = bpf_skc_to_tcp_sock(sk);
	if (!tp)
		return 0;
	takes_more(ns, WHOLE_RUN - SHORT_RUN);
	free_held(sk, tp, skb);
	turn_data(sk, tp, skb);
	return 0;
}

/* Data has come to a socket of any kind. Attached only where names are asked for at a socket, or
 * by one, that is connected to nobody. */
SEC("tp_btf/sk_data_ready")
int BPF_PROG(data_ready, struct sock *sk)
{
	__u64 *ns;

	if (!on)
		return 0;
	ns = takes(SHORT_RUN);
	if (woken != slice + 1)
		woken = slice + 1;
	if (serves_names(sk)) {
		takes_more(ns, WHOLE_RUN - SHORT_RUN);
		queries_came(sk);
	} else if (asks_there(sk)) {
		takes_more(ns, WHOLE_RUN - SHORT_RUN);
		answers_came(sk);
	}
	return 0;
}
