/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* The tables, their keys and values. Go sees the same through bpf2go's types. */

/* ns of a run for a process that is not looked at, and of one that counts: half of what
 * a call takes longer (docs/bench.md). */
#define SHORT_RUN 90
#define WHOLE_RUN 240

#define ROWS 16384
#define FINE 12288   /* from here on new rows are of a process and call: threads and descriptors together */
#define COARSE 15360 /* from here on of a call alone */
#define THREADS 16384
#define TARGETS 4096
#define OPERATIONS 16384 /* of io_uring, in flight */
#define BUCKETS 32 /* recording.CallBound: the last is of 37 min and more; a power of two */

#define FD_NONE -1
#define FD_SEVERAL -2

#define NR_COMPAT (1U << 31) /* a 32-bit call: another table of numbers */

/* What is counted together. A call's failures are rows of their own, an errno each. */
struct call_key {
	__u32 pid;
	__u32 tid; /* 0: threads together */
	__s32 fd;
	__u32 nr;
	__u16 err; /* positive; 0: it did not fail */
	__u16 pad;
};

/* Of the calls that returned in one second. */
struct call_value {
	__u64 n;
	__u64 asked; /* bytes */
	__u64 done;
	__u64 sum; /* ns */
	__u64 max;
	__u64 max_at; /* when the longest began */
	__u32 hist[BUCKETS];
	__u8 comm[16];
};

/* A thread, from its first call to its end. */
struct in_call {
	__u64 begin; /* ns; 0: it is in no call */
	__u64 asked;
	__u64 buffer; /* of the call's data, in its memory */
	__u32 pid;
	__u32 tid;
	__s32 fd;
	__u32 nr;
	__u32 kind;
	__u32 pad;
};

struct fd_key {
	__u32 pid;
	__s32 fd;
};

/* What a descriptor was when it was first used in a second. */
struct fd_note {
	__u32 what; /* NOTE_FD */
	__u32 pid;
	__u64 at; /* ns */
	__u64 inode;
	__u64 peer_inode; /* of a Unix socket: the other end */
	__s32 fd;
	__u32 netns;
	__u32 mode; /* i_mode: its type tells sockets, files and pipes apart */
	__u16 family;
	__u16 type; /* SOCK_STREAM … */
	__u16 proto;
	__u16 lport;
	__u16 rport;
	__u8 state;
	__u8 pad;
	__u8 laddr[16];
	__u8 raddr[16];
};

#define PEEK_MOST 256

/* The first bytes of a buffer, on the user's word. User space reads a name out of
 * them and keeps nothing else. */
struct peek_note {
	__u32 what; /* NOTE_PEEK */
	__u32 pid;
	__u64 offset; /* of the first byte in its direction of the connection */
	__s32 fd;
	__u32 len;
	__u8 bytes[PEEK_MOST];
};

enum note { NOTE_FD = 1, NOTE_PEEK = 2 };

/* So that the compiler keeps the types of what goes through the ring. */
const struct fd_note *type_of_fd_note __attribute__((unused));
const struct peek_note *type_of_peek_note __attribute__((unused));

/* A connection that was made while we looked. */
struct conn {
	__u64 offset; /* bytes from the client so far */
	__u8 server;  /* this is the server's end */
	__u8 left;    /* buffers that may still be looked into */
	__u8 rtmp;
	__u8 pad[5];
};

enum lost {
	LOST_ROWS,
	LOST_THREADS,
	LOST_TARGETS,
	LOST_NOTES,
	LOST_CONNS,
	LOST_OPERATIONS, /* of io_uring: over OPERATIONS in flight */
	LOST_SAME,	 /* had the user_data of another in flight, where that tells them apart */
	LOST_OVERFLOWN,	 /* came when the completion queue was full */
	LOST,
};

/* What kind of call: set by user space from the names of this machine's calls. */
#define KIND_FD 1    /* the first argument is a descriptor */
#define KIND_READ 2  /* its return value is bytes that came */
#define KIND_WRITE 4 /* … that went */
#define KIND_ASKED_2 8
#define KIND_ASKED_3 16
#define KIND_ASKED_4 32
#define KIND_BUFFER 64 /* the second argument is the data */
#define KIND_VECTOR 128
#define KIND_MESSAGE 256
#define KIND_CLOSE 512
#define KIND_ACCEPT 1024
#define KIND_CONNECT 2048
#define KIND_FORK 4096

#define NUMBERS 512

const volatile __u16 kinds[NUMBERS];
const volatile __u16 kinds32[NUMBERS];
const volatile bool all;   /* every process but snag */
const volatile __u32 self; /* snag */
const volatile __u32 peek; /* bytes of a buffer to look into; 0: none */

__u64 attached; /* ns; counts with `all` */
__u32 epoch;
__u32 rows[2];	  /* in calls_a and calls_b, about */
__u64 lost[LOST]; /* what found no room */
__u64 before;	  /* calls that had begun before we looked */

/* By the low bits of a process' number: 1 where it may be a target. Most that are
 * none are told by it without a search. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 65536);
	__type(key, __u32);
	__type(value, __u8);
} maybe SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, ROWS);
	__type(key, struct call_key);
	__type(value, struct call_value);
} calls_a SEC(".maps"), calls_b SEC(".maps");

/* By task: threads change their id when they execve(2). */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, THREADS);
	__type(key, __u64);
	__type(value, struct in_call);
} threads SEC(".maps");

/* Processes to look at, and since when, ns. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TARGETS);
	__type(key, __u32);
	__type(value, __u64);
} targets SEC(".maps");

/* The file that a descriptor was when it was last told of. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct fd_key);
	__type(value, __u64);
} told SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, struct fd_key);
	__type(value, struct conn);
} conns SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 19);
} notes SEC(".maps");

static __always_inline void add(__u64 *to, __u64 n)
{
	/* Or the compiler makes of an addition of 0 an atomic "or", which kernels before
	 * 5.12 do not have. */
	asm volatile("" : "+r"(n));
	__sync_fetch_and_add(to, n);
}
