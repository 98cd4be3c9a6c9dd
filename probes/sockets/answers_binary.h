/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Answers of protocols that are not text, and which of all protocols an answer is of. */

static __always_inline __u8 byte_at(const __u8 *b, __u32 pos)
{
	asm volatile("%0 &= 31" : "+r"(pos)); /* or the verifier knows of no bound */
	return b[pos];
}

/* A length of BER (X.690, 8.1.3) at pos: the position behind it, 0 where it is none. */
static __always_inline __u32 ber_length(const __u8 *b, __u32 pos)
{
	__u8 l = byte_at(b, pos);

	if (l < 0x80)
		return pos + 1;
	return l > 0x80 && l <= 0x84 ? pos + 1 + (l & 7) : 0;
}

/* LDAPMessage (RFC 4511, 4.2): a sequence, the message's number, and of those that end an
 * operation LDAPResult, which begins with its code. Counted are timeLimitExceeded,
 * adminLimitExceeded, busy, unavailable, unwillingToPerform (read-only, closed for now) and
 * other (an internal error). Not operationsError: a client asked out of order (A.2).
 */
__noinline int ldap_answer(const struct first *f)
{
	const __u8 *b;
	__u32 pos;
	__u8 tag;

	if (!f)
		return ANSWER_FINE;
	b = f->b;
	pos = ber_length(b, 1);
	if (!pos || byte_at(b, pos) != 2)
		return ANSWER_FINE;
	tag = byte_at(b, pos + 1); /* the number's length */
	if (!tag || tag > 4)
		return ANSWER_FINE;
	pos += 2 + tag;
	tag = byte_at(b, pos);
	switch (tag) {
	case 0x61: /* bind */
	case 0x65: /* search */
	case 0x67: /* modify */
	case 0x69: /* add */
	case 0x6b: /* delete */
	case 0x6d: /* rename */
	case 0x6f: /* compare */
	case 0x78: /* extended */
		break;
	default:
		return ANSWER_FINE;
	}
	pos = ber_length(b, pos + 1);
	if (!pos || byte_at(b, pos) != 10 || byte_at(b, pos + 1) != 1)
		return ANSWER_FINE;
	tag = byte_at(b, pos + 2);
	switch (tag) {
	case 3:
	case 11:
	case 51:
	case 52:
	case 53:
	case 80:
		return ANSWER_LDAP | tag << ALERT_SHIFT;
	}
	return ANSWER_FINE;
}

static __always_inline int binary_answer(const struct first *f)
{
	const __u8 *b = f->b;

	if (b[0] == 0x30)
		return ldap_answer(f);
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

/* What an answer is that begins so. A function of its own to the verifier, which looks at it once.
 * greets: how the server greeted; first: it does so now; more: it has announced this. */
__noinline int class_of(const struct first *f, int greets, int first, int more)
{
	int kind;

	if (!f)
		return ANSWER_FINE;
	kind = status_line(f->b);
	if (kind)
		return kind;
	kind = text_answer(f, greets, first, more);
	if (kind)
		return kind;
	kind = binary_answer(f);
	return kind == ANSWER_TLS ? kind | f->b[TLS_ALERT - 1] << ALERT_SHIFT : kind;
}

/* What the present call, of n bytes, begins to answer; ANSWER_FINE where it is no error or not
 * seen. */
static __always_inline int answers_with(__u32 n, __u8 greets, bool first, bool more)
{
	struct first f = {};

	if (!first_bytes(&f, n, false))
		return ANSWER_FINE;
	return class_of(&f, greets, first, more);
}
