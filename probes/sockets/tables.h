/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* The tables, their keys and values. Go sees the same through bpf2go's types. */

#define ROWS 8192   /* of a table, a second */
#define OTHERS 6144 /* from here on connections are counted without their peer */
#define SOCKETS 32768

/* One end of a connection as its host sees it. Ports in host order. */
struct flow {
	__u8 laddr[16]; /* IPv4: the first four bytes */
	__u8 raddr[16];
	__u32 netns; /* inode */
	__u16 lport;
	__u16 rport;
	__u8 family; /* 4 or 6; 1: UNIX, with the id of a path for an address (unix.h) */
	__u8 pad[3];
};

enum role { ROLE_UNKNOWN, ROLE_CONNECT, ROLE_ACCEPT };

struct conn_key {
	struct flow flow; /* connect: without lport; accept: without rport */
	__u8 role;
	__u8 others; /* the peer is left out */
	__u8 pad[2];
};

struct conn_value {
	__u64 opened;
	__u64 failed;
	__u64 closed;
	__u64 brief;	/* of the closed: lived under a second */
	__u64 unasked;	/* of the brief: the server ended it before the client had sent a byte */
	__u64 by_peer;	/* the peer's FIN came first */
	__u64 lifetime; /* of the closed, ns */
	__u64 bytes_in;
	__u64 bytes_out;
	__u64 handshake; /* of the opened, ns */
	__u64 handshake_max;
	__u8 comm[16]; /* connect: who called */
	__u32 pid;
	__u32 pad;
};

/* A connection that began while we looked (births.h): a cache line. */
struct birth {
	__u64 sk;  /* 0: nobody's */
	__u64 syn; /* ns */
	__u64 established;
	__u8 comm[16]; /* connect: who called */
	__u32 pid;
	__u8 role;
	__u8 unasked; /* the server hung up before the client had sent a byte */
	__u8 pad[18];
};

struct reset_key {
	struct flow flow;
	__u32 reason; /* enum sk_rst_reason, 0 where unknown */
	__u8 sent;
	__u8 state; /* of the socket, 0 when there was none */
	__u8 pad[2];
};

struct retransmit_key {
	struct flow flow;
	__u8 state;
	__u8 pad[3];
};

/* The socket behind a reset or a retransmit. */
struct count {
	__u64 n;
	__u64 inode; /* 0: no process has it */
	__u8 comm[16];
	__u32 pid; /* 0: not known to the kernel side */
	__u32 pad;
};

struct signal_key {
	__u32 sig;
	__u32 pid; /* who gets it: the process */
	__u32 from;
	__s32 result; /* TRACE_SIGNAL_…: 0 delivered, 1 ignored */
	__u32 kernel; /* no process asked for it: a fault, or no memory */
};

struct signal_value {
	__u64 n;
	__u64 first; /* ns */
	__u64 last;
	__u8 comm[16];
	__u8 from_comm[16];
};

/* A socket's memory is used again by the next one: hence the ports. */
struct hold_key {
	__u64 sk;
	__u16 lport;
	__u16 rport;
	__u32 pad;
};

/* Holds of one socket in one second. */
struct hold {
	struct flow flow;
	__u8 comm[16];
	__u32 pid;
	__u64 inode;
	__u64 cookie;
	__u64 writes; /* 0: see struct writes */
	__u64 held;
	__u64 released;
	__u64 sum; /* of the released, ns */
	__u64 max;
};

/* A write that is held now; later writes held with it are counted in. */
struct pending {
	__u64 first;  /* when it was written, ns */
	__u64 starts; /* sum of all writes' times after first, ns */
	__u64 n;
	__u8 comm[16];
	__u32 pid;
	__u32 seq; /* snd_nxt while it is held */
};

/* Writes of a socket without a turn, in the epoch at and in the one before. */
struct writes {
	__u32 at;
	__u32 now;
	__u32 before;
};

#define TURN_BUCKETS 44 /* up to 48 s, see recording.TurnBound */

struct turn_key {
	struct flow flow; /* serve: without rport; call: without lport */
	__u8 role;	  /* ROLE_CONNECT calls, ROLE_ACCEPT serves */
	__u8 others;	  /* the peer is left out */
	__u8 udp;	  /* datagrams: serve is an unconnected socket */
	__u8 pad;
};

/* Turns that ended in one second; durations in ns. */
struct turn_value {
	__u64 n;
	__u64 sum;
	__u64 max;
	__u64 wait;
	__u64 open; /* at the end of the second */
	__u64 oldest;
	__u64 failed; /* answers that were errors */
	__u64 cut;    /* requests whose connection ended before the answer */
	__u32 hist[TURN_BUCKETS];
	__u8 comm[16];
	__u32 pid;
	__u32 failed_as; /* enum answer, of the last */
	__u32 cut_by;	 /* enum cut, of the last */
	__u32 slow_pid;	 /* whose turn took longest, or takes */
	__u64 slowest;
	__u64 missed;  /* connections of HTTP/2 some of whose requests were not seen */
	__u64 untimed; /* answers that are in no other count but failed (sip.h) */
};

/* What ended a connection on which a request was open. */
enum cut { CUT_NOT, CUT_RESET, CUT_TIMED_OUT, CUT_HUNG_UP };

/* Whether a connection is one of HTTP/2 in clear text (http2.h). */
enum h2_is { H2_UNKNOWN, H2_NOT, H2_MAYBE, H2_IS };

enum kafka_step { KAFKA_UNKNOWN, KAFKA_SIZED, KAFKA_ASKED, KAFKA_NOT };

/* The last request of Kafka (kafka.h). */
struct kafka {
	__u32 id;
	__u32 left; /* bytes of it that have not been read */
	__u8 key;
	__u8 version;
	__u8 step; /* enum kafka_step */
	__u8 misses;
	__u8 is; /* a request was answered */
	__u8 pad[3];
};

/* How far a client is in a handshake of TLS 1.3, as its server reads it (tls.h). */
enum tls_at {
	TLS_UNKNOWN,
	TLS_HELLO,     /* it has begun */
	TLS_CHANGED,   /* it has sent a ChangeCipherSpec */
	TLS_CERTIFIED, /* and a certificate */
	TLS_OBJECTED,  /* or an alert, in place of its Finished */
	TLS_REFUSED,   /* the server answered its certificate with an alert */
	TLS_OVER,      /* it is done, or this is no TLS 1.3 */
};

struct tls {
	__u16 left; /* bytes of a record that have not been read */
	__u8 step;  /* enum tls_at */
	__u8 misses;
	__u32 at;  /* when the last of it was read or written, in units of TLS_UNIT */
	__u32 seq; /* up to which the client was read */
};

/* How a server greets, which tells what its answers may be; not, where the client speaks first. */
enum greets { GREETS_UNKNOWN, GREETS_NOT, GREETS_REPLIES, GREETS_IMAP, GREETS_POP3 };

/* The turn that a socket is in; times in ns, 0 for what has not happened. What
 * every event touches fits one cache line: two CPUs pass it to and fro. */
struct turn {
	__u64 begin;
	__u64
	    read; /* serve: the process read the first byte of the request; UNIX, call: the last one ended */
	__u64 first; /* serve: the first byte of the answer was sent */
	__u64 last;  /* the last byte so far was sent */
	__u32 base;  /* write_seq when it began (serve), when the last one ended (call); UNIX: bytes sent
			(serve) */
	__u32 bytes; /* sent since base */
	__u8 role;
	__u8 h2;     /* enum h2_is */
	__u8 misses; /* what spoke against it */
	__u8 missed; /* it is, and requests of it were not seen */
	__u32 pid;
	__u32 writes; /* in the epoch writes_at, while Nagle's algorithm may hold them */
	__u32 writes_at;
	__u32 held;  /* the epoch of the last write that was held, and 1 */
	__u32 slice; /* in which it was last seen: what it tells of another is not known to be so still */
	/* Turns that ended and are not in the tables yet: see turn_swept. */
	__u64 sum;
	__u64 max;
	__u64 wait;
	__u64 failed;
	__u32 failed_as;
	__u32 before; /* serve: base of the turn before; UNIX: bytes that the caller has read */
	__u8 greets;  /* enum greets */
	__u8 more;    /* the answer that was announced has not come yet */
	__u16 swept;		      /* file_sweep: the last session that came by */
	struct kafka kafka;
	struct tls tls;
	__u32 hist[TURN_BUCKETS];
	__u8 comm[16];
	struct turn_key key;
};

/* The same of a UNIX socket. It is in a table, for nothing tells of the socket's end: what
 * was counted must outlive it. */
struct unix_turn {
	struct turn t;
	__u64 came;    /* serve: since when something waits unread in the socket buffer, 0: nothing */
	__u64 sk;      /* only read as what it may not be any more */
	__u32 answers; /* serve: it is noted that its listener answers */
	__u32 classed; /* serve: it is looked at whether the answer is an error */
};

enum call { CALL_SEND, CALL_RECV, CALL_SOCKET, CALL_OTHER };

/* An error: of a process' calls, or of a socket (then pid is 0). */
struct error_key {
	__u64 inode; /* CALL_SOCKET */
	__u32 pid;
	__u32 nr;  /* CALL_OTHER: the system call */
	__u16 err; /* positive */
	__u8 call;
	__u8 proto; /* IPPROTO_…, 0 for other families than IP */
	__u32 pad;
};

struct error_value {
	__u64 n;
	struct flow flow; /* of the first; family 0: not a socket of IP */
	__s32 fd;	  /* -1: not known */
	__u8 comm[16];
};

/* The file that a call failed on, as the call or the kernel names it. */
struct error_path {
	__u32 dev; /* of its file system, 12 bits and 20; 0: not known */
	__s32 fd;  /* -1: the call names a path */
	char path[96];
};

/* Where a call that is looked at names its file; 0: it is not looked at. */
enum file_in { FILE_NOT, FILE_IN_FD, FILE_IN_FIRST, FILE_IN_SECOND, FILE_NONE };

/* What a UNIX listener is bound to, by an id made of it. */
struct unix_path {
	__u8 name[108]; /* abstract: begins with 0 */
	__u8 length;
	__u8 answers; /* somebody was answered there: who asks waits for something */
	__u8 pad[2];
};

/* Queries of one process to one name server in one second; times in ns. */
struct query_key {
	struct flow flow; /* without lport */
	__u32 pid;
};

struct query_value {
	__u64 asked;
	__u64 answered;
	__u64 sum; /* of the answered */
	__u64 max;
	__u64 gave_up; /* the same thread asked again, with no answer */
	__u64 gave_sum;
	__u64 gave_min;
	__u64 gave_max;
	__u64 failed; /* answers that were errors */
	/* Of sockets that are connected to nobody (unconnected.h): */
	__u64 unknown; /* whether they were answered was not seen */
	__u64 open;    /* at the end of the second */
	__u64 oldest;
	__u32 failed_as; /* enum answer, of the last */
	__u8 comm[16];
};

/* What a socket has asked and has no answer to. */
struct query {
	__u64 begin;  /* of the first of them */
	__u64 thread; /* who asked */
	__u32 open;
	__u32 slice;
};

/* What a thread asked last and has no answer to. */
struct asked {
	__u64 begin;
	__u64 sk;    /* only compared */
	__u32 mixed; /* it asked more meanwhile: an event loop, of many names */
	__u32 slice;
	struct query_key key;
};

/* A query at a name server of this host, or from a socket that is connected to nobody, by what
 * its answer names again. */
struct dns_key {
	__u64 cookie;  /* of the socket of this host */
	__u8 peer[16]; /* who asks, or is asked; IPv4: mapped into IPv6 */
	__be16 port;
	__u16 id; /* as it lies in the datagram */
	__u32 pad;
};

struct dns_query {
	__u64 begin; /* when it was queued to the socket, ns */
	__u32 slice;
	__u32 pad;
};

/* A query that was sent from a socket that is connected to nobody. */
struct sent_query {
	struct query_key of;
	__u64 begin;
	__u64 sk;   /* only read as what it may not be any more */
	__u64 seen; /* how old it was when its socket was last seen to be there, ns */
	__u32 slice;
	__u8 comm[16];
	__u32 pad;
};

#define ASKED_OF 4

/* Whom a socket has asked under one id. */
struct id_key {
	__u64 cookie;
	__u64 id;
};

struct asked_of {
	__u8 peers[ASKED_OF][16];
	__u32 n;
	__u32 came;  /* answers that were noted when they came */
	__u32 read;  /* answers that were read */
	__u32 again; /* an answer may come twice: asked twice, or of more than fit */
	__u32 slice;
};

/* A UDP socket that is connected to nobody. */
struct unconnected {
	__u32 others; /* datagrams that it sent and that were none of these */
	__u16 asks;   /* it asks name servers */
	__u16 sip;    /* it sends answers of SIP */
};

/* A socket of a name server. */
struct dns_server {
	struct flow flow; /* its own end */
	__u64 since;	  /* so many datagrams have been unread since then, ns */
	__u64 unread;	  /* ns that datagrams waited unread in the socket buffer, not in a row yet */
	__u32 queued;
	__u32 slice; /* of these three */
	__u32 blind; /* not all that it sends can be told: what has no answer is not known */
	__u32 pid;   /* who read last */
	__u8 comm[16];
};

enum table { CONNECTIONS, RESETS, RETRANSMITS, SIGNALS, HOLDS, TURNS, ERRORS, QUERIES, DNS, TABLES };

const volatile __u64 started; /* when user space loaded us, ns */
__u32 epoch;
__u32 conn_rows[2]; /* rows in connections_a and _b, about */
__u32 turn_rows[2]; /* rows in turns_a and _b, about */
__u32 crowded;	    /* entries of more_births, about */
bool tabled;	    /* some socket's writes were counted in the table of writers */
__u32 holding;	    /* rows in pendings */
__u32 turn_socks;   /* sockets with a struct turn, about */
__u64 lost[TABLES]; /* events that found their table full */

/* The programs at what happens with each segment and each call are attached for slices
 * of the time where that is often (probes/probe/slices.go). */
bool on;	   /* in a slice: all of them are attached */
bool ending;	   /* a slice is over: turn_sweep settles what it left */
__u32 slice;	   /* counts slices that have ended */
__u64 slice_began; /* ns; 0 of the first, which sees what was there before it too */

bool asks_unconnected; /* a name server was asked from a socket that is connected to nobody */
__u32 woken;	       /* the slice in which wake-ups of sockets are seen, and 1 */
bool hidden;	       /* bytes of an answer were not seen: what has none is not known to be unanswered */

#define HASH(name, k, v, n)                                                                                  \
	struct {                                                                                             \
		__uint(type, BPF_MAP_TYPE_HASH);                                                             \
		__uint(max_entries, n);                                                                      \
		__type(key, k);                                                                              \
		__type(value, v);                                                                            \
	} name SEC(".maps")

HASH(connections_a, struct conn_key, struct conn_value, ROWS);
HASH(connections_b, struct conn_key, struct conn_value, ROWS);
HASH(resets_a, struct reset_key, struct count, ROWS);
HASH(resets_b, struct reset_key, struct count, ROWS);
HASH(retransmits_a, struct retransmit_key, struct count, ROWS);
HASH(retransmits_b, struct retransmit_key, struct count, ROWS);
HASH(signals_a, struct signal_key, struct signal_value, 1024);
HASH(signals_b, struct signal_key, struct signal_value, 1024);
HASH(holds_a, struct hold_key, struct hold, 4096);
HASH(holds_b, struct hold_key, struct hold, 4096);
HASH(turns_a, struct turn_key, struct turn_value, ROWS);
HASH(turns_b, struct turn_key, struct turn_value, ROWS);
HASH(errors_a, struct error_key, struct error_value, ROWS);
HASH(errors_b, struct error_key, struct error_value, ROWS);
HASH(queries_a, struct query_key, struct query_value, 2048);
HASH(queries_b, struct query_key, struct query_value, 2048);
HASH(unix_paths, __u64, struct unix_path, 2048);
/* Processes whose failing calls are looked at, see exit_call. */
HASH(failing, __u32, __u8, 64);
/* The calls on files, by number: enum file_in. */
HASH(file_calls, __u32, __u8, 128);
HASH(more_births, __u64, struct birth, SOCKETS / 2);
HASH(pendings, __u64, struct pending, 4096);

/* What is mapped begins with a page: so each lies in one cache line. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SOCKETS);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct birth);
} births SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 512);
	__type(key, struct error_key);
	__type(value, struct error_path);
} error_paths SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, __u64);
	__type(value, struct writes);
} writers SEC(".maps");

/* By the socket's cookie, of those with a turn in the last seconds. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8192); /* 3 MB: what is allocated when needed may not be had at once */
	__type(key, __u64);
	__type(value, struct unix_turn);
} unix_turns SEC(".maps");

/* By thread: whoever ends without its answer is pushed out by others. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u64);
	__type(value, struct asked);
} asking SEC(".maps");

/* The sweep takes out what no answer came to: so what finds no room is counted, where an
 * LRU table would forget what is still open. */
HASH(dns_queries, struct dns_key, struct dns_query, 8192);
HASH(sent_queries, struct dns_key, struct sent_query, 8192);

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, struct id_key);
	__type(value, struct asked_of);
} asked_ids SEC(".maps");

/* By the socket's cookie. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, __u64);
	__type(value, struct dns_server);
} dns_servers SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct query);
} socket_queries SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct unconnected);
} socket_unconnected SEC(".maps");

/* Lives and dies with its socket; no table to search. */
struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct turn);
} socket_turns SEC(".maps");

/* ns of a run that finds at once that it is not concerned, and of one that counts: a
 * request of nginx is nine runs, and 2.4 us. */
#define SHORT_RUN 70
#define WHOLE_RUN 270
/* And of a socket's storage, which is given when its turns begin and freed with it. */
#define NEW_TURN 2500

/* The verifier wants one map for each call: so the choice is made around it. */
static __always_inline void *row(void *a, void *b, int odd, const void *key, const void *zero, __u64 *full)
{
	void *v;

	if (odd) {
		v = bpf_map_lookup_elem(b, key);
		if (v)
			return v;
		bpf_map_update_elem(b, key, zero, BPF_NOEXIST);
		v = bpf_map_lookup_elem(b, key);
	} else {
		v = bpf_map_lookup_elem(a, key);
		if (v)
			return v;
		bpf_map_update_elem(a, key, zero, BPF_NOEXIST);
		v = bpf_map_lookup_elem(a, key);
	}
	if (!v && full)
		__sync_fetch_and_add(full, 1);
	return v;
}

static __always_inline void add(__u64 *to, __u64 n)
{
	__sync_fetch_and_add(to, n);
}

/* Two CPUs may race for the maximum; the loser's try is not repeated. */
static __always_inline void keep_max(__u64 *to, __u64 n)
{
	if (*to < n)
		*to = n;
}
