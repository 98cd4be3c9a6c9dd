/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Resets and retransmits, at tcp:tcp_receive_reset, tcp:tcp_send_reset and
 * tcp:tcp_retransmit_skb (include/trace/events/tcp.h). */

/* Arguments that the tracepoints grew later. A program that reads one too many
 * is refused when attached, so the branch must be dead to the verifier. */
const volatile bool reset_has_reason = false;	/* since 6.10 */
const volatile bool retransmit_has_err = false; /* later than 6.12 */
/* Reasons, a bit each, with which a process itself resets a connection: only
 * then is the current task the one that did it. */
const volatile __u64 reasons_of_caller = 0;

/* The socket's process, where we saw it connect. The rest is found by inode. */
static __always_inline void who(struct count *c, const struct sock *sk)
{
	struct birth *b = birth_of(number_of_untyped(sk));

	c->inode = inode_of(sk);
	if (!b)
		return;
	c->pid = b->pid;
	__builtin_memcpy(c->comm, b->comm, sizeof(c->comm));
}

/* Whether the current task is the one that resets sk. Before 6.10 there is no
 * reason to tell it, and skb tells nothing: a socket that has left its state for
 * CLOSE, locked by a task, is in that task's close or disconnect, as the packets
 * that softirq handles find it unlocked (tcp_close, tcp_disconnect, tcp_v4_rcv). */
static __always_inline bool by_caller(const struct sock *sk, const struct reset_key *key)
{
	if (reset_has_reason)
		return key->reason < 64 && (reasons_of_caller >> key->reason) & 1;
	return key->state == TCP_CLOSE && BPF_CORE_READ(sk, sk_lock.owned);
}

SEC("raw_tp/tcp_receive_reset")
int receive_reset(__u64 *ctx)
{
	static const struct count zero;
	const struct sock *sk = (void *)ctx[0];
	struct reset_key key = {};
	struct count *c;

	flow_of_sock(&key.flow, sk);
	key.state = BPF_CORE_READ(sk, __sk_common.skc_state);
	c = row(&resets_a, &resets_b, epoch & 1, &key, &zero, &lost[RESETS]);
	if (!c)
		return 0;
	if (!c->n)
		who(c, sk);
	add(&c->n, 1);
	return 0;
}

SEC("raw_tp/tcp_send_reset")
int send_reset(__u64 *ctx)
{
	static const struct count zero;
	const struct sock *sk = (void *)ctx[0];
	const struct sk_buff *skb = (void *)ctx[1];
	struct reset_key key = {.sent = 1};
	struct count *c;
	bool full = false;

	if (reset_has_reason)
		key.reason = (__u32)ctx[2];
	if (sk) {
		key.state = BPF_CORE_READ(sk, __sk_common.skc_state);
		full = key.state != TCP_TIME_WAIT && key.state != TCP_NEW_SYN_RECV;
	}
	/* A listener or no socket at all answers a packet: the packet knows the
	 * peer. Otherwise skb is NULL, or before 6.10 the reset itself. */
	if (!sk || (key.state == TCP_LISTEN && skb)) {
		if (!skb || !flow_of_packet(&key.flow, skb))
			return 0;
	} else if (full) {
		flow_of_full_sock(&key.flow, sk);
	} else {
		flow_of_sock(&key.flow, sk);
	}
	c = row(&resets_a, &resets_b, epoch & 1, &key, &zero, &lost[RESETS]);
	if (!c)
		return 0;
	if (!c->n && full)
		who(c, sk);
	if (full && by_caller(sk, &key)) {
		c->pid = bpf_get_current_pid_tgid() >> 32;
		process_name(&c->comm);
	}
	add(&c->n, 1);
	return 0;
}

SEC("raw_tp/tcp_retransmit_skb")
int retransmit(__u64 *ctx)
{
	static const struct count zero;
	const struct sock *sk = (void *)ctx[0];
	struct retransmit_key key = {};
	struct count *c;

	if (retransmit_has_err && (int)ctx[2] != 0)
		return 0; /* it did not leave */
	flow_of_sock(&key.flow, sk);
	key.state = BPF_CORE_READ(sk, __sk_common.skc_state);
	c = row(&retransmits_a, &retransmits_b, epoch & 1, &key, &zero, &lost[RETRANSMITS]);
	if (!c)
		return 0;
	if (!c->n)
		who(c, sk);
	add(&c->n, 1);
	return 0;
}
