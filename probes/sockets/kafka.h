/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Kafka (kafka.apache.org/protocol). Where an answer has its error code, only who knows what
 * was asked can tell. So of a request that a server reads its API key, version and correlation
 * id are kept with the socket until the answer with that id is written. A connection is taken
 * for Kafka only while its requests follow each other as their sizes say, and by the id that is
 * echoed.
 */

#define KAFKA_SIZE 4	       /* bytes: a broker in Java reads them by a call of its own */
#define KAFKA_HEAD 10	       /* key, version, correlation id, length of the client's name */
#define KAFKA_MOST (128 << 20) /* bytes of a request; a broker takes 100 MiB by default */
#define KAFKA_KEYS 92
#define KAFKA_VERSIONS 20
#define KAFKA_MISSES 4			      /* reads that fit no request */
#define KAFKA_FIRST (KAFKA_SIZE + KAFKA_SIZE) /* where an answer's body begins */

enum kafka_key {
	KAFKA_PRODUCE,
	KAFKA_FETCH,
	KAFKA_LIST_OFFSETS,
	KAFKA_OFFSET_COMMIT = 8,
	KAFKA_FIND_COORDINATOR = 10,
	KAFKA_JOIN_GROUP,
	KAFKA_HEARTBEAT,
	KAFKA_LEAVE_GROUP,
	KAFKA_SYNC_GROUP,
	KAFKA_SASL_HANDSHAKE = 17,
	KAFKA_API_VERSIONS,
	KAFKA_INIT_PRODUCER_ID = 22,
	KAFKA_ADD_OFFSETS_TO_TXN = 25,
	KAFKA_END_TXN,
	KAFKA_SASL_AUTHENTICATE = 36,
};

/* n bytes that were read are a request's beginning; false: they are none. */
static __noinline bool kafka_request(struct kafka *k, __u32 n)
{
	struct first f = {};
	const __u8 *b = f.b;
	__u32 size;

	takes(SHORT_RUN);
	if (!first_bytes(&f, n, true))
		return false;
	size = h2_be32(b);
	if (k->step == KAFKA_SIZED) {
		size = k->left;
	} else if (n == KAFKA_SIZE) {
		if (size < KAFKA_HEAD || size > KAFKA_MOST)
			return false;
		k->left = size;
		k->step = KAFKA_SIZED;
		return true;
	} else if (n > KAFKA_SIZE) {
		b += KAFKA_SIZE;
		n -= KAFKA_SIZE;
	} else {
		return false;
	}
	if (size < KAFKA_HEAD || size > KAFKA_MOST || n < KAFKA_HEAD || n > size)
		return false;
	if (b[0] || b[1] > KAFKA_KEYS || b[2] || b[3] > KAFKA_VERSIONS)
		return false;
	if ((b[8] != 0xff || b[9] != 0xff) && (b[8] << 8 | b[9]) > size - KAFKA_HEAD)
		return false;
	k->key = b[1];
	k->version = b[3];
	k->id = h2_be32(b + 4);
	k->left = size - n;
	k->step = KAFKA_ASKED;
	return true;
}

/* A server has read n bytes. Of other protocols the first reads are looked at, or the first
 * alone where the connection's beginning was seen. */
static __always_inline void kafka_read(struct turn *t, __u32 n)
{
	struct kafka *k = &t->kafka;

	if (k->step == KAFKA_NOT)
		return;
	if (k->step != KAFKA_SIZED && k->left) {
		if (k->left >= n) { /* more of the request */
			k->left -= n;
			return;
		}
		k->left = 0; /* some of it was read unseen */
	}
	if (kafka_request(k, n))
		return;
	k->step = KAFKA_UNKNOWN;
	k->left = 0;
	k->misses++;
	if (k->misses >= KAFKA_MISSES || (!k->is && t->greets != GREETS_UNKNOWN))
		k->step = KAFKA_NOT;
}

/* Versions from which on requests and answers of a key have tagged fields (KIP-482): behind
 * the correlation id there is a byte of them, but of ApiVersions. */
static __always_inline bool kafka_flexible(__u8 key, __u8 v)
{
	switch (key) {
	case KAFKA_PRODUCE:
		return v >= 9;
	case KAFKA_FETCH:
		return v >= 12;
	case KAFKA_OFFSET_COMMIT:
		return v >= 8;
	case KAFKA_LIST_OFFSETS:
	case KAFKA_JOIN_GROUP:
		return v >= 6;
	case KAFKA_HEARTBEAT:
	case KAFKA_LEAVE_GROUP:
	case KAFKA_SYNC_GROUP:
		return v >= 4;
	case KAFKA_FIND_COORDINATOR:
	case KAFKA_ADD_OFFSETS_TO_TXN:
	case KAFKA_END_TXN:
		return v >= 3;
	case KAFKA_INIT_PRODUCER_ID:
	case KAFKA_SASL_AUTHENTICATE:
		return v >= 2;
	}
	return false;
}

/* Where the body of an answer has an error of the whole, -1: nowhere. Most have
 * throttle_time_ms before it. */
static __always_inline int kafka_error_at(__u8 key, __u8 v)
{
	switch (key) {
	case KAFKA_FETCH:
		return v >= 7 ? 4 : -1;
	case KAFKA_FIND_COORDINATOR: /* several since v4, with their names before the errors */
		return v > 3 ? -1 : v ? 4 : 0;
	case KAFKA_JOIN_GROUP:
		return v >= 2 ? 4 : 0;
	case KAFKA_HEARTBEAT:
	case KAFKA_LEAVE_GROUP:
	case KAFKA_SYNC_GROUP:
		return v ? 4 : 0;
	case KAFKA_INIT_PRODUCER_ID:
	case KAFKA_ADD_OFFSETS_TO_TXN:
	case KAFKA_END_TXN:
		return 4;
	case KAFKA_SASL_HANDSHAKE:
	case KAFKA_API_VERSIONS:
	case KAFKA_SASL_AUTHENTICATE:
		return 0;
	}
	return -1;
}

/* Where it has its topics, -1: nowhere that is looked at. */
static __always_inline int kafka_topics_at(__u8 key, __u8 v)
{
	switch (key) {
	case KAFKA_PRODUCE:
		return 0;
	case KAFKA_FETCH: /* throttle_time_ms; the error, session_id */
		return v >= 7 ? 10 : v ? 4 : 0;
	case KAFKA_LIST_OFFSETS: /* v0 had other partitions */
		return v >= 2 ? 4 : v ? 0 : -1;
	case KAFKA_OFFSET_COMMIT:
		return v >= 3 ? 4 : 0;
	}
	return -1;
}

/* Topics have ids in place of names. */
static __always_inline bool kafka_topic_ids(__u8 key, __u8 v)
{
	return ((key == KAFKA_PRODUCE || key == KAFKA_FETCH) && v >= 13) ||
	       (key == KAFKA_OFFSET_COMMIT && v >= 10);
}

/* The error of the first partition of the first topic stands behind its index: where, 0: there
 * is none. An array's length and a name's are four and two bytes, or one in flexible versions, which
 * has one added. */
static __always_inline __u32 kafka_partition_at(const __u8 *b, __u32 at, __u8 key, __u8 v)
{
	__u32 n;

	if (!kafka_flexible(key, v)) {
		if (byte_at(b, at) || byte_at(b, at + 1) || !(byte_at(b, at + 2) | byte_at(b, at + 3)))
			return 0;
		n = byte_at(b, at + 4) << 8 | byte_at(b, at + 5);
		return n && n < 250 ? at + 6 + n + 8 : 0; /* a topic's name is no longer */
	}
	n = byte_at(b, at);
	if (n < 2 || n > 127)
		return 0;
	if (kafka_topic_ids(key, v))
		return at + 1 + 16 + 1 + 4;
	n = byte_at(b, at + 1);
	return n > 1 && n < 128 ? at + 1 + n + 1 + 4 : 0;
}

/*
 * Errors that say that the broker or its cluster can't. Not 0; what belongs to a group's
 * life (22 ILLEGAL_GENERATION, 25 UNKNOWN_MEMBER_ID, 27 REBALANCE_IN_PROGRESS, 79
 * MEMBER_ID_REQUIRED), to a fetch session's (70, 71) and a transaction's (47, 51, 90); what a
 * client did not know yet and asks for next (35 UNSUPPORTED_VERSION, 74, 75, 100); what is not there, or no
 * more (1 OFFSET_OUT_OF_RANGE, 3 UNKNOWN_TOPIC_OR_PARTITION, 17); who may not (29 to 33, 53, 58).
 */
static __always_inline bool kafka_trouble(__u8 high, __u8 low)
{
	if (high)
		return high == 0xff && low == 0xff; /* UNKNOWN_SERVER_ERROR */
	switch (low) {
	case 2:	 /* CORRUPT_MESSAGE */
	case 5:	 /* LEADER_NOT_AVAILABLE */
	case 6:	 /* NOT_LEADER_OR_FOLLOWER: the leader has moved; once for each client is as it should be */
	case 7:	 /* REQUEST_TIMED_OUT */
	case 8:	 /* BROKER_NOT_AVAILABLE */
	case 9:	 /* REPLICA_NOT_AVAILABLE */
	case 10: /* MESSAGE_TOO_LARGE: beyond the broker's or the topic's limit */
	case 13: /* NETWORK_EXCEPTION: a broker behind it went */
	case 14: /* COORDINATOR_LOAD_IN_PROGRESS */
	case 15: /* COORDINATOR_NOT_AVAILABLE */
	case 16: /* NOT_COORDINATOR */
	case 19: /* NOT_ENOUGH_REPLICAS */
	case 20: /* NOT_ENOUGH_REPLICAS_AFTER_APPEND */
	case 56: /* KAFKA_STORAGE_ERROR */
	case 81: /* GROUP_MAX_SIZE_REACHED */
	case 89: /* THROTTLING_QUOTA_EXCEEDED */
		return true;
	}
	return false;
}

/* Two bytes of what the present call writes, and which begins with f's: from one piece, or, as
 * a broker in Java has them, the size from a piece of its own and all else from the next. */
static __noinline bool kafka_bytes(__u8 *to, const struct first *f, __u32 at)
{
	__u64 from = 0, pieces;
	struct piece p = {};
	enum written kind;

	if (at + 2 <= ANSWER_BYTES) {
		to[0] = byte_at(f->b, at);
		to[1] = byte_at(f->b, at + 1);
		return true;
	}
	kind = call_bytes(&from, false);
	if (kind == WRITTEN_IOV) {
		pieces = from;
		if (bpf_probe_read_user(&p, sizeof(p), (void *)pieces))
			return false;
		if (p.length == KAFKA_SIZE) {
			at -= KAFKA_SIZE;
			if (bpf_probe_read_user(&p, sizeof(p), (void *)(pieces + sizeof(p))))
				return false;
		}
		if (p.length < at + 2)
			return false;
		from = p.at;
	} else if (kind != WRITTEN_BYTES) {
		return false;
	}
	return bpf_probe_read_user(to, 2, (void *)(from + at)) == 0;
}

/* The error of an answer of n bytes, if it is one that is counted. */
static __noinline int kafka_error(const struct kafka *k, const struct first *f, __u32 n)
{
	__u8 key = k->key, v = k->version, code[2] = {};
	__u32 body = KAFKA_FIRST + kafka_flexible(key, v), at = 0;
	int error_at = kafka_error_at(key, v), topics_at;

	if (error_at >= 0)
		at = body + error_at;
	if (at && at + 2 <= n && kafka_bytes(code, f, at)) {
		if (kafka_trouble(code[0], code[1]))
			return ANSWER_KAFKA | code[1] << ALERT_SHIFT;
	}
	topics_at = kafka_topics_at(key, v);
	if (topics_at < 0 || code[0] || code[1])
		return ANSWER_FINE;
	at = kafka_partition_at(f->b, body + topics_at, key, v);
	if (!at || at + 2 > n || !kafka_bytes(code, f, at) || !kafka_trouble(code[0], code[1]))
		return ANSWER_FINE;
	return ANSWER_KAFKA | code[1] << ALERT_SHIFT;
}

/* What the n bytes of the present call answer; -1: not what was asked, by its id. */
static __noinline int kafka_answer(struct kafka *k, __u32 n)
{
	struct first f = {};

	if (n < KAFKA_FIRST || !first_bytes(&f, n, false) || h2_be32(f.b + KAFKA_SIZE) != k->id ||
	    h2_be32(f.b) < n - KAFKA_SIZE)
		return -1;
	k->step = KAFKA_UNKNOWN;
	k->misses = 0;
	k->is = 1;
	return kafka_error(k, &f, n);
}
