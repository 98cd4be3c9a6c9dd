/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Answers of protocols that are text. Counted is what says that the service can't; not what
 * a client asked wrongly, is not allowed, or what is not there.
 */

/* Eight bytes, as one number. */
#define WORD(s)                                                                                              \
	((__u64)(__u8)(s)[0] | (__u64)(__u8)(s)[1] << 8 | (__u64)(__u8)(s)[2] << 16 |                        \
	 (__u64)(__u8)(s)[3] << 24 | (__u64)(__u8)(s)[4] << 32 | (__u64)(__u8)(s)[5] << 40 |                 \
	 (__u64)(__u8)(s)[6] << 48 | (__u64)(__u8)(s)[7] << 56)

static __always_inline __u64 word_at(const __u8 *b)
{
	return *(const __u64 *)b;
}

/* A status line of HTTP/1 (RFC 9112, 4), SIP (RFC 3261, 7.2) or RTSP (RFC 2326, 7.1): what
 * the server could not do, 5xx and of SIP 6xx, and what it would not for there is too much
 * (HTTP's 429, RTSP's 453). 1xx is not the answer yet. */
static __always_inline int status_line(const __u8 *b)
{
	const __u8 *code;
	int kind;

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
	if (code[0] == '1')
		return ANSWER_MORE;
	if (code[0] == '5' || (kind == ANSWER_SIP && code[0] == '6'))
		return kind;
	if (kind == ANSWER_HTTP && code[0] == '4' && code[1] == '2' && code[2] == '9')
		return kind;
	if (kind == ANSWER_RTSP && code[0] == '4' && code[1] == '5' && code[2] == '3')
		return kind;
	return ANSWER_FINE;
}

/*
 * Three-digit replies: FTP (RFC 959, 2228), SMTP and LMTP (RFC 5321, 2033), NNTP (RFC 3977).
 * What stands behind the code may be an enhanced one (RFC 3463), which tells whose trouble
 * it is: the system's (4.3.x), the network's (4.4.x) or nobody's (4.0.x); not that of an
 * address or mailbox (1, 2), a protocol (5: too many recipients), a message (6; 3.3 and 3.4) or
 * a policy (7: greylisting, relaying), but for TLS and passwords that can't be checked at the
 * moment (454 4.7.0, RFC 3207 and 4954) and for a greeting (421 4.7.0: too many connections).
 * Without it:
 *
 *  421  the service is not available (all three: too many connections, it shuts down)
 *  425  FTP can't open the data connection; not "Use PORT or PASV first"
 *  431  FTP lacks a resource for security (RFC 2228)
 *  451  an error in processing: of FTP, where a transfer has begun, and Exim's "Temporary
 *       local problem". Others say so of greylisting.
 *  452  no room in the system; not "too many recipients"
 *  454  "TLS not available", "Temporary authentication failure"
 *  400, 403, 436  NNTP: not available, an internal fault, a transfer that can be tried again
 *
 * Not 426 (who downloads has broken off), 450 and 550 (that file or mailbox; greylisting), 552
 * (a quota, a message that is too large; 5.3.1 is the system's room), 554 (but with 5.3.x),
 * 500 to 504, 530, 535 and what else a client provokes, nor 411, 430, 502 of NNTP.
 */
static __always_inline bool reply_tells(const __u8 *b, __u32 code, bool greeting)
{
	if (b[5] == '.') { /* RFC 3463, 2 */
		if (b[7] != '.' || b[4] != b[0])
			return false;
		if (b[6] == '7')
			return b[8] == '0' && !is_digit(b[9]) && (code == 454 || (code == 421 && greeting));
		if (b[6] == '3')
			return b[8] != '3' && b[8] != '4' && code != 450;
		return (b[6] == '4' || b[6] == '0') && code < 500 && code != 450;
	}
	switch (code) {
	case 421:
	case 431:
		return true;
	case 425:
		return !BEGINS4(b + 4, 'U', 's', 'e', ' ');
	case 451:
		return word_at(b + 4) == WORD("Temporar") && word_at(b + 12) == WORD("y local ");
	case 452:
		return (b[4] != 't' && b[4] != 'T') || b[5] != 'o' || b[6] != 'o';
	case 454:
		return b[4] == 'T';
	case 400:
	case 403:
	case 436:
		return true;
	}
	return false;
}

/* more: a transfer has been announced (1xx), which only FTP does. Where it is not known whether
 * the server greeted, "421 rows" may be anything. */
static __always_inline int reply_code(const __u8 *b, enum greets greets, bool greeting, bool more)
{
	bool enhanced = b[5] == '.', known = greeting || greets == GREETS_REPLIES;
	__u32 code;

	if (!is_digit(b[0]) || !is_digit(b[1]) || !is_digit(b[2]) || (b[3] != ' ' && b[3] != '-'))
		return ANSWER_FINE;
	if (greeting && b[0] == '2')
		return ANSWER_GREETING | GREETS_REPLIES;
	if (!is_digit(b[4]) && !is_upper(b[4] & ~0x20))
		return ANSWER_FINE;
	code = (b[0] - '0') * 100 + (b[1] - '0') * 10 + (b[2] - '0');
	if (code == 125 || code == 150)
		return known || greets == GREETS_UNKNOWN ? ANSWER_MORE : ANSWER_FINE;
	switch (code) {
	case 400:
	case 403:
	case 436:
		if (enhanced)
			return ANSWER_FINE;
		break;
	case 421:
	case 425:
	case 431:
	case 451:
	case 452:
	case 454:
	case 552:
	case 554:
		break;
	default:
		return ANSWER_FINE;
	}
	if (more && code != 552 && code != 554 && !enhanced)
		return ANSWER_REPLY | (code - 300) << ALERT_SHIFT;
	if ((!known && !enhanced) || !reply_tells(b, code, greeting))
		return ANSWER_FINE;
	return ANSWER_REPLY | (code - 300) << ALERT_SHIFT;
}

/* RFC 5530: of the response codes of NO and BAD those that say the server can't. */
static __always_inline int imap_code(const __u8 *b)
{
	if (BEGINS4(b, 'U', 'N', 'A', 'V'))
		return 1;
	if (BEGINS4(b, 'S', 'E', 'R', 'V'))
		return 2;
	if (BEGINS4(b, 'L', 'I', 'M', 'I'))
		return 3;
	if (BEGINS4(b, 'O', 'V', 'E', 'R'))
		return 4;
	if (BEGINS4(b, 'I', 'N', 'U', 'S'))
		return 5;
	if (BEGINS4(b, 'C', 'O', 'N', 'T'))
		return 6;
	return 0;
}

#define IMAP_TAG 9 /* bytes of it that are looked at */

/* A tagged answer of IMAP (RFC 9051, 2.2.2). */
__noinline int imap_answer(const struct first *f)
{
	const __u8 *code = NULL, *b;
	int kind;

	if (!f)
		return ANSWER_FINE;
	b = f->b;
	for (int i = 1; i < IMAP_TAG; i++) {
		if (b[i] != ' ')
			continue;
		if (BEGINS4(b + i + 1, 'N', 'O', ' ', '['))
			code = b + i + 5;
		else if (BEGINS4(b + i + 1, 'B', 'A', 'D', ' ') && b[i + 5] == '[')
			code = b + i + 6;
		break;
	}
	kind = code ? imap_code(code) : 0;
	return kind ? ANSWER_IMAP | kind << ALERT_SHIFT : ANSWER_FINE;
}

/* Lines that begin with a dash. RESP: an error begins with its word in capitals; MOVED and ASK
 * send elsewhere. POP3: RFC 3206's SYS/TEMP and SYS/PERM; not AUTH, nor IN-USE and LOGIN-DELAY
 * (RFC 2449), by which one user keeps himself out. Redis greets nobody, but refuses
 * so (maxclients). */
static __always_inline int dashed(const __u8 *b, enum greets greets, bool greeting)
{
	bool err = BEGINS4(b + 1, 'E', 'R', 'R', ' ');

	if (!is_upper(b[1]) || !is_upper(b[2]) || !is_upper(b[3]) || BEGINS4(b + 1, 'M', 'O', 'V', 'E') ||
	    BEGINS4(b + 1, 'A', 'S', 'K', ' '))
		return ANSWER_FINE;
	if (err && b[5] == '[')
		return b[6] == 'S' && BEGINS4(b + 7, 'Y', 'S', '/', b[10]) ? ANSWER_POP3 : ANSWER_FINE;
	if (greets == GREETS_NOT)
		return ANSWER_REDIS;
	if (greets != GREETS_UNKNOWN)
		return ANSWER_FINE;
	if (!err || (greeting && BEGINS4(b + 5, 'm', 'a', 'x', ' ')))
		return ANSWER_REDIS;
	return ANSWER_REDIS_OR_POP3;
}

/* What a server says before it is asked; ANSWER_FINE where it may be anything. */
static __always_inline int greeting_of(const __u8 *b)
{
	if (BEGINS4(b, '+', 'O', 'K', ' '))
		return ANSWER_GREETING | GREETS_POP3;
	if (BEGINS4(b, '*', ' ', 'O', 'K') || BEGINS4(b, '*', ' ', 'P', 'R'))
		return ANSWER_GREETING | GREETS_IMAP;
	if (BEGINS4(b, '*', ' ', 'B', 'Y') && b[4] == 'E')
		return ANSWER_IMAP; /* after LOGOUT it is as it should be */
	return ANSWER_FINE;
}

/* memcached's protocol.txt: ERROR, CLIENT_ERROR, SERVER_ERROR. beanstalkd's: what it has no
 * room for, an error of its own, that it takes no jobs, and a job beyond its limit; not
 * NOT_FOUND, TIMED_OUT and DEADLINE_SOON, which answer what was asked. */
static __always_inline int error_word(const __u8 *b)
{
	switch (word_at(b)) {
	case WORD("SERVER_E"):
	case WORD("CLIENT_E"):
		return ANSWER_MEMCACHED;
	case WORD("OUT_OF_M"):
		return BEGINS4(b + 8, 'E', 'M', 'O', 'R') && b[12] == 'Y' && b[13] == '\r'
			   ? ANSWER_BEANSTALKD | 1 << ALERT_SHIFT
			   : ANSWER_FINE;
	case WORD("INTERNAL"):
		return BEGINS4(b + 8, '_', 'E', 'R', 'R') && b[12] == 'O' && b[13] == 'R' && b[14] == '\r'
			   ? ANSWER_BEANSTALKD | 2 << ALERT_SHIFT
			   : ANSWER_FINE;
	case WORD("DRAINING"):
		return b[8] == '\r' ? ANSWER_BEANSTALKD | 3 << ALERT_SHIFT : ANSWER_FINE;
	case WORD("JOB_TOO_"):
		return BEGINS4(b + 8, 'B', 'I', 'G', '\r') ? ANSWER_BEANSTALKD | 4 << ALERT_SHIFT
							   : ANSWER_FINE;
	}
	return BEGINS4(b, 'E', 'R', 'R', 'O') && b[4] == 'R' ? ANSWER_MEMCACHED : ANSWER_FINE;
}

/* Where it is no status line, whatever may begin so. */
__noinline int text_answer(const struct first *f, int greets, int greeting, int more)
{
	const __u8 *b;
	int kind;

	if (!f)
		return ANSWER_FINE;
	b = f->b;
	if (b[0] == '-')
		return dashed(b, greets, greeting);
	if (is_digit(b[0]) && b[3] <= '-') {
		kind = greets == GREETS_NOT ? ANSWER_FINE : reply_code(b, greets, greeting, more);
		if (kind || greets == GREETS_REPLIES)
			return kind;
	}
	if (greeting) {
		kind = greeting_of(b);
		if (kind)
			return kind;
	} else if (greets == GREETS_IMAP || greets == GREETS_UNKNOWN) {
		kind = imap_answer(f);
		if (kind)
			return kind;
	}
	return error_word(b);
}
