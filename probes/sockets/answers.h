/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Answers that are errors, by their first bytes. These lie in the memory of the process
 * that writes them, and are looked at while its call runs: compared here, never kept. What
 * a call writes from elsewhere (sendfile, splice, io_uring) is not seen, nor what TLS has
 * encrypted but its alerts.
 */

#define ANSWER_BYTES 16

struct first {
	__u8 b[3 * ANSWER_BYTES]; /* a piece may go beyond what is looked at */
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
	ANSWER_TLS,
	ANSWER_SETTINGS, /* no error: a server of HTTP/2 begins */
};

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
	struct pt_regs___x86 *x = NULL;
	struct system_call c = {.nr = -1};
	enum written kind;

	read_call(&c, bpf_get_current_task_btf());
	if (bpf_core_field_exists(x->orig_ax))
		kind = in ? reads_x86(c.nr) : writes_x86(c.nr);
	else
		kind = in ? reads_arm64(c.nr) : writes_arm64(c.nr);
	*at = c.args[1];
	if (kind != WRITTEN_MSGHDR && kind != WRITTEN_MMSGHDR)
		return kind;
	if (bpf_probe_read_user(at, sizeof(*at), (void *)(*at + MSGHDR_IOV)))
		return WRITTEN_NOWHERE;
	return kind == WRITTEN_MSGHDR ? WRITTEN_IOV : WRITTEN_MMSGHDR;
}

/* The first bytes of what the present call writes, or has read; false where they are not seen. */
static __always_inline bool first_bytes(struct first *f, bool in)
{
	enum written kind;
	__u64 at = 0;

	kind = call_bytes(&at, in);
	if (kind == WRITTEN_NOWHERE)
		return false;
	if (kind != WRITTEN_BYTES)
		return from_pieces(f, at);
	return bpf_probe_read_user(f->b, ANSWER_BYTES, (void *)at) == 0;
}

static __always_inline bool is_upper(__u8 c)
{
	return c >= 'A' && c <= 'Z';
}

#define BEGINS4(b, w, x, y, z) ((b)[0] == (w) && (b)[1] == (x) && (b)[2] == (y) && (b)[3] == (z))

/* A status line of HTTP/1 (RFC 9112, 4), SIP (RFC 3261, 7.2) or RTSP (RFC 2326, 7.1): what
 * the server could not do, 5xx and of SIP 6xx, and what it would not for there is too much
 * (HTTP's 429, RTSP's 453). */
static __always_inline __u8 status_line(const __u8 *b)
{
	const __u8 *code;
	__u8 kind;

	if (BEGINS4(b, 'H', 'T', 'T', 'P') && b[4] == '/' && b[8] == ' ') {
		code = b + 9;
		kind = ANSWER_HTTP;
	} else if (BEGINS4(b, 'S', 'I', 'P', '/') && b[7] == ' ') {
		code = b + 8;
		kind = ANSWER_SIP;
	} else if (BEGINS4(b, 'R', 'T', 'S', 'P') && b[4] == '/' && b[8] == ' ') {
		code = b + 9;
		kind = ANSWER_RTSP;
	} else {
		return ANSWER_FINE;
	}
	if (code[0] == '5' || (kind == ANSWER_SIP && code[0] == '6'))
		return kind;
	if (kind == ANSWER_HTTP && code[0] == '4' && code[1] == '2' && code[2] == '9')
		return kind;
	if (kind == ANSWER_RTSP && code[0] == '4' && code[1] == '5' && code[2] == '3')
		return kind;
	return ANSWER_FINE;
}

static __always_inline __u8 class_of(const __u8 *b)
{
	__u8 kind = status_line(b);

	if (kind)
		return kind;
	/* RESP: an error begins with its word in capitals; MOVED and ASK send elsewhere. */
	if (b[0] == '-' && is_upper(b[1]) && is_upper(b[2]) && is_upper(b[3]) &&
	    !BEGINS4(b + 1, 'M', 'O', 'V', 'E') && !BEGINS4(b + 1, 'A', 'S', 'K', ' '))
		return ANSWER_REDIS;
	/* memcached's protocol.txt: ERROR, CLIENT_ERROR, SERVER_ERROR. */
	if ((BEGINS4(b, 'E', 'R', 'R', 'O') && b[4] == 'R') ||
	    (BEGINS4(b, 'S', 'E', 'R', 'V') && BEGINS4(b + 4, 'E', 'R', '_', 'E')) ||
	    (BEGINS4(b, 'C', 'L', 'I', 'E') && BEGINS4(b + 4, 'N', 'T', '_', 'E')))
		return ANSWER_MEMCACHED;
	/* ErrorResponse: its length, and first the field S with the severity. */
	if (b[0] == 'E' && !b[1] && !b[2] && b[5] == 'S' && is_upper(b[6]))
		return ANSWER_POSTGRESQL;
	/* ERR_Packet: length, sequence number, 0xff, error number; since 4.1 a state, but in
	 * place of the greeting, whose errors are 1024 to 1279 (too many connections, a blocked host). */
	if (!b[2] && b[3] <= 8 && b[4] == 0xff && (b[7] == '#' || (b[3] == 0 && b[6] == 4)) &&
	    (b[0] > 8 || b[1]))
		return ANSWER_MYSQL;
	/* AMQP 0-9-1: a method frame on channel 0 or another, connection.close or channel.close. */
	if (b[0] == 1 && !b[7] &&
	    ((b[8] == 10 && !b[9] && b[10] == 50) || (b[8] == 20 && !b[9] && b[10] == 40)))
		return ANSWER_AMQP;
	/* CONNACK of MQTT 3 and 5 with a reason. */
	if (b[0] == 0x20 && b[1] >= 2 && b[1] < 64 && b[2] <= 1 && b[3])
		return ANSWER_MQTT;
	/* A fatal alert that is not encrypted yet (RFC 8446, 6). */
	if (b[0] == 21 && b[1] == 3 && !b[3] && b[4] == 2 && b[5] == 2)
		return ANSWER_TLS;
	/* RFC 9113, 3.4 and 6.5. */
	if (!b[0] && !b[1] && b[2] % 6 == 0 && BEGINS4(b + 3, 4, 0, 0, 0) && !b[7] && !b[8])
		return ANSWER_SETTINGS;
	return ANSWER_FINE;
}

/* A TLS alert tells in its seventh byte what is wrong (RFC 8446, 6.2). */
#define TLS_ALERT 7
#define TLS_HEADER 5
#define ALERT_SHIFT 8
#define ALERT_READ (1 << 16) /* the peer's */
/* Of HTTP/2 the error code stands there: of a stream, or of the whole connection (GOAWAY). */
#define H2_OF_ALL (1 << 17)

/* What the present call begins to answer, ANSWER_FINE where it is no error or not seen; of
 * an alert its description too. */
static __noinline int answers_with(void)
{
	struct first f = {};
	int kind;

	if (!first_bytes(&f, false))
		return ANSWER_FINE;
	kind = class_of(f.b);
	return kind == ANSWER_TLS ? kind | f.b[TLS_ALERT - 1] << ALERT_SHIFT : kind;
}

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
