/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Answers that are errors, by their first bytes. These lie in the memory of the process
 * that writes them, and are looked at while its call runs: compared here, never kept. What
 * a call writes from elsewhere (sendfile, splice, io_uring) is not seen, nor what TLS has
 * encrypted, but for alerts that end a handshake (tls.h).
 */

#define ANSWER_BYTES 24

struct first {
	__u8 b[64]; /* a piece may go beyond what is looked at */
};

enum answer {
	ANSWER_FINE,
	ANSWER_HTTP,
	ANSWER_SIP,
	ANSWER_RTSP,
	ANSWER_REDIS,
	ANSWER_MEMCACHED,
	ANSWER_POSTGRESQL,
	ANSWER_MYSQL,
	ANSWER_AMQP,
	ANSWER_MQTT,
	ANSWER_DNS_SERVFAIL,
	ANSWER_DNS_REFUSED,
	ANSWER_DNS_NONE,
	ANSWER_HTTP2,
	ANSWER_REPLY, /* a three-digit reply code of FTP, SMTP, NNTP */
	ANSWER_IMAP,
	ANSWER_POP3,
	ANSWER_REDIS_OR_POP3,
	ANSWER_BEANSTALKD,
	ANSWER_LDAP,
	ANSWER_KAFKA,
	ANSWER_TLS,
	/* No errors: */
	ANSWER_SETTINGS,	/* a server of HTTP/2 begins */
	ANSWER_MORE,		/* what it comes to is said later */
	ANSWER_GREETING = 0x40, /* and enum greets */
};

/* What else is known of an answer stands above its kind: a reply code less 300, a code of
 * LDAP or Kafka, of a TLS alert its description. */
#define ALERT_SHIFT 8

/* The calls that write to a socket or read it, and what their second argument is. */
enum written { WRITTEN_NOWHERE, WRITTEN_BYTES, WRITTEN_IOV, WRITTEN_MSGHDR, WRITTEN_MMSGHDR };

static __always_inline enum written writes_x86(__s32 nr)
{
	switch (nr) {
	case 1:	 /* write */
	case 44: /* sendto */
		return WRITTEN_BYTES;
	case 20: /* writev */
		return WRITTEN_IOV;
	case 46: /* sendmsg */
		return WRITTEN_MSGHDR;
	case 307: /* sendmmsg */
		return WRITTEN_MMSGHDR;
	}
	return WRITTEN_NOWHERE;
}

static __always_inline enum written writes_arm64(__s32 nr)
{
	switch (nr) {
	case 64:
	case 206:
		return WRITTEN_BYTES;
	case 66:
		return WRITTEN_IOV;
	case 211:
		return WRITTEN_MSGHDR;
	case 269:
		return WRITTEN_MMSGHDR;
	}
	return WRITTEN_NOWHERE;
}

static __always_inline enum written reads_x86(__s32 nr)
{
	switch (nr) {
	case 0:	 /* read */
	case 45: /* recvfrom */
		return WRITTEN_BYTES;
	case 19: /* readv */
		return WRITTEN_IOV;
	case 47: /* recvmsg */
		return WRITTEN_MSGHDR;
	}
	return WRITTEN_NOWHERE;
}

static __always_inline enum written reads_arm64(__s32 nr)
{
	switch (nr) {
	case 63:
	case 207:
		return WRITTEN_BYTES;
	case 65:
		return WRITTEN_IOV;
	case 212:
		return WRITTEN_MSGHDR;
	}
	return WRITTEN_NOWHERE;
}

#define MSGHDR_IOV 16 /* of struct user_msghdr: after name and namelen */

/* Pieces of a write that are put together: Varnish writes each word of a status line apart. */
#define ANSWER_PIECES 6

struct piece {
	__u64 at;
	__u64 length;
};

static __noinline bool from_pieces(struct first *f, __u64 at)
{
	struct piece p;
	__u32 have = 0;

	for (int i = 0; i < ANSWER_PIECES; i++) {
		__u32 n;

		if (bpf_probe_read_user(&p, sizeof(p), (void *)(at + i * sizeof(p))))
			return have > 0;
		if (have >= ANSWER_BYTES)
			break;
		n = p.length < ANSWER_BYTES ? p.length : ANSWER_BYTES;
		if (!n)
			continue;
		asm volatile("%0 &= 31" : "+r"(have)); /* the verifier has lost sight of its bound */
		if (bpf_probe_read_user(&f->b[have], n, (void *)p.at))
			return have > 0;
		have += n;
	}
	return have > 0;
}

/* Where the bytes lie that the present call has written, or read: the address of all of them,
 * or of their pieces. Of several messages (WRITTEN_MMSGHDR) those of the first. */
static __noinline enum written call_bytes(__u64 *at, bool in)
{
	__s32 nr = call_number(bpf_get_current_task_btf(), at);
	struct pt_regs___x86 *x = NULL;
	enum written kind;

	if (bpf_core_field_exists(x->orig_ax))
		kind = in ? reads_x86(nr) : writes_x86(nr);
	else
		kind = in ? reads_arm64(nr) : writes_arm64(nr);
	if (kind != WRITTEN_MSGHDR && kind != WRITTEN_MMSGHDR)
		return kind;
	if (bpf_probe_read_user(at, sizeof(*at), (void *)(*at + MSGHDR_IOV)))
		return WRITTEN_NOWHERE;
	return kind == WRITTEN_MSGHDR ? WRITTEN_IOV : WRITTEN_MMSGHDR;
}

/* The first of n bytes that the present call writes, or has read; false where they are not
 * seen. What lies behind them in the process' memory is something else. */
static __always_inline bool first_bytes(struct first *f, __u32 n, bool in)
{
	enum written kind;
	__u64 at = 0;

	kind = call_bytes(&at, in);
	if (kind == WRITTEN_NOWHERE)
		return false;
	if (kind != WRITTEN_BYTES)
		return from_pieces(f, at);
	if (n > ANSWER_BYTES)
		n = ANSWER_BYTES;
	asm volatile("%0 &= 31" : "+r"(n)); /* as in from_pieces */
	return bpf_probe_read_user(f->b, n, (void *)at) == 0;
}

static __always_inline bool is_upper(__u8 c)
{
	return c >= 'A' && c <= 'Z';
}

static __always_inline bool is_digit(__u8 c)
{
	return c >= '0' && c <= '9';
}

#define BEGINS4(b, w, x, y, z) ((b)[0] == (w) && (b)[1] == (x) && (b)[2] == (y) && (b)[3] == (z))

/* Whether it begins as a request of HTTP/1: a word in capitals, and a path behind it. */
static __always_inline bool asks_http(const __u8 *b)
{
	for (int i = 0; i < 8; i++) {
		if (b[i] == ' ')
			return i >= 3 && (b[i + 1] == '/' || b[i + 1] == 'h');
		if (!is_upper(b[i]))
			return false;
	}
	return false;
}

/* A TLS alert tells in its seventh byte what is wrong (RFC 8446, 6.2). */
#define TLS_ALERT 7
#define TLS_HEADER 5
#define ALERT_READ (1 << 16) /* the peer's */
#define ALERT_ENCRYPTED 0xff /* in place of its description, which is not seen */
/* Of HTTP/2 the error code stands there: of a stream, or of the whole connection (GOAWAY). */
#define H2_OF_ALL (1 << 17)

/* Whether the present call has read a peer's alert in clear: what it says of the handshake, for
 * afterwards all is encrypted. Some read the head of a record first, and then what it says. A
 * call that has read from elsewhere (readv, recvmsg) is not seen. */
static __noinline int alert_read(int n)
{
	struct pt_regs___x86 *x = NULL;
	struct system_call c = {.nr = -1};
	__u8 b[8] = {};
	bool reads;

	read_call(&c, bpf_get_current_task_btf());
	reads = bpf_core_field_exists(x->orig_ax) ? c.nr == 0 || c.nr == 45 : c.nr == 63 || c.nr == 207;
	if (!reads)
		return ANSWER_FINE;
	if (n == TLS_ALERT - TLS_HEADER) {
		if (bpf_probe_read_user(b, TLS_ALERT - TLS_HEADER, (void *)c.args[1]))
			return ANSWER_FINE;
		return ANSWER_TLS | b[1] << ALERT_SHIFT | ALERT_READ;
	}
	if (bpf_probe_read_user(b, n == TLS_ALERT ? TLS_ALERT : TLS_HEADER, (void *)c.args[1]))
		return ANSWER_FINE;
	if (b[0] != 21 || b[1] != 3 || b[3] || b[4] != 2 || (n == TLS_ALERT && b[5] != 2))
		return ANSWER_FINE;
	return ANSWER_TLS | b[TLS_ALERT - 1] << ALERT_SHIFT | ALERT_READ;
}
