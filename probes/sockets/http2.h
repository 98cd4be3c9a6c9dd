/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Requests of HTTP/2 and gRPC in clear text, which share a connection: counted by the
 * heads of their frames (RFC 9113). What a call has read or written lies in the memory of
 * the process, and is looked at before the call returns: nine bytes of each frame, and the
 * error code of RST_STREAM and GOAWAY. Headers and data are passed over.
 *
 * Each direction of a connection has a parser, which goes on where the last call ended. One
 * thread at a time reads a connection and one writes it, or its frames would be mixed up.
 */

#define H2_SOCKS 4096 /* 3.5 kB each */
#define H2_STREAMS 128
#define H2_PLACES 16  /* where a stream may lie in the table */
#define H2_STEPS 2048 /* pieces and frames of a call */
#define H2_HEAD 9     /* RFC 9113, 4.1 */
#define H2_MOST_HEAD 17
#define H2_PREFACE 24 /* RFC 9113, 3.4 */
#define H2_LEAST_MAX (1 << 14)
#define H2_ENOUGH 3 /* frames that fit tell an HTTP/2 connection whose beginning was not seen */

/* What does not fit: of a call that reads, which may begin amid a frame, and of others. */
#define H2_READ_MISS 1
#define H2_MISS 3
#define H2_MISSES 9
/* Calls without a frame that fits after which it is said that requests are missed: in a new
 * slice, or a new recording, it takes some until one begins with a frame. */
#define H2_PATIENCE 16

/* ns of a call whose frames are looked at, and of each of them. */
#define H2_RUN 350
#define H2_FRAME 60

enum h2_type {
	H2_DATA,
	H2_HEADERS,
	H2_PRIORITY,
	H2_RST_STREAM,
	H2_SETTINGS,
	H2_PUSH_PROMISE,
	H2_PING,
	H2_GOAWAY,
	H2_WINDOW_UPDATE,
	H2_CONTINUATION,
	H2_ALTSVC,
	H2_ORIGIN = 12,
	H2_PRIORITY_UPDATE = 16,
};

#define H2_END_STREAM 1

/* Error codes that are no errors (RFC 9113, 7). */
#define H2_NO_ERROR 0
#define H2_CANCEL 8

struct h2_dir {
	__u8 head[64]; /* no more than H2_MOST_HEAD of it are filled */
	__u32 have;    /* bytes of it */
	__u32 want;    /* H2_HEAD, and the error code behind it */
	__u32 left;    /* of the frame, to be passed over */
	__u8 synced;
	__u8 lost; /* so many calls could not be followed */
	__u16 pad;
	/* Of the present call: what of it is still to be read. */
	__u32 todo;
	__u32 seq; /* of the next byte */
	__u32 frames;
	__u32 broken;
	__u64 pieces; /* an array of them in user space, 0: there is one */
	__u64 at;
	__u64 here; /* bytes of this piece */
	__u64 now;
};

/* When data came that was not read at once. Between the first and the last of it, it is
 * taken to have come evenly. */
struct h2_came {
	__u64 first;
	__u64 last;
	__u32 first_seq;
	__u32 last_seq;
};

/* A request without the whole of its answer; id 0: none. */
struct h2_stream {
	__u64 begin;
	__u32 id;
	__u32 bytes; /* of its answer's DATA; H2_COMPLETE */
	__u32 first; /* us from begin to the answer's first frame, and 1 */
	__u32 wait;  /* us until it was read */
};

#define H2_COMPLETE (1U << 31) /* the client has sent all of it */

/* An answer that was read before the call that asked came back. */
struct h2_early {
	__u32 id;
	__u32 pad;
};

#define H2_EARLY 8

struct h2 {
	struct h2_dir in, out;
	struct h2_came came, before;
	__u32 last; /* the greatest id that was asked with */
	__u32 slice;
	__u32 frames; /* that fit, of a connection whose beginning was not seen */
	__u32 heads;  /* of them are no DATA */
	__u32 calls;
	__u32 hung;
	__u32 open; /* as they are counted; here, for the verifier follows a sum on the stack */
	__u64 oldest;
	struct h2_early early[H2_EARLY];
	struct h2_stream s[H2_STREAMS];
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct h2);
} socket_h2 SEC(".maps");

__u32 h2_socks; /* sockets with a struct h2, about */

static __always_inline __u32 h2_length(const __u8 *b)
{
	return b[0] << 16 | b[1] << 8 | b[2];
}

static __always_inline __u32 h2_be32(const __u8 *b)
{
	return (__u32)b[0] << 24 | b[1] << 16 | b[2] << 8 | b[3];
}

/* Whether nine bytes are a frame's head: RFC 9113, 4.1 and 6. strictly: as one looks that
 * stands where nobody knows of HTTP/2 yet. */
static __noinline bool h2_fits(const __u8 *b, bool strictly)
{
	__u32 length = h2_length(b), id = h2_be32(b + 5);
	__u8 type = b[3], flags = b[4];

	if (id >> 31)
		return false; /* reserved */
	if (strictly && (length > H2_LEAST_MAX || (id && !(id & 1)) || type > H2_CONTINUATION))
		return false;
	switch (type) {
	case H2_DATA:
		return id && !(flags & ~0x09);
	case H2_HEADERS:
		return id && length && !(flags & ~0x2d);
	case H2_PRIORITY:
		return id && length == 5 && !flags;
	case H2_RST_STREAM:
		return id && length == 4 && !flags;
	case H2_SETTINGS:
		return !id && (flags == 1 ? length == 0 : flags == 0 && length % 6 == 0);
	case H2_PUSH_PROMISE:
		return id && length >= 4 && !(flags & ~0x0c);
	case H2_PING:
		return !id && length == 8 && !(flags & ~0x01);
	case H2_GOAWAY:
		return !id && length >= 8 && !flags;
	case H2_WINDOW_UPDATE:
		return length == 4 && !flags;
	case H2_CONTINUATION:
		return id && !(flags & ~0x04);
	case H2_ALTSVC:
	case H2_ORIGIN:
	case H2_PRIORITY_UPDATE:
		return true;
	}
	return false;
}

struct h2_call {
	struct turn *t;
	struct h2 *h;
	struct h2_dir *d;
	__u32 in;
	__u32 server;
};
