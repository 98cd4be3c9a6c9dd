/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* The tables, their keys and values. Go sees the same through bpf2go's types. */

/* ns: a switch or a wake of processes that are not looked at, what a thread that is adds
 * by leaving its CPU and by coming back, by being woken, and a pair of stacks. */
#define SHORT_RUN 80
#define HALF_SWITCH 220
#define A_WAKE 220
#define STACKS_TAKEN 1200

#define ROWS 8192
#define THREADS 16384
#define STACKS 16384
#define WAKER_STACKS 8192
#define HANDS 4096
#define DEPTH 64
#define NO_STACK (-1)

/* How a thread left its CPU. */
enum how {
	HOW_SLEEP = 1, /* interruptible: it waits for something */
	HOW_DISK,      /* uninterruptible */
	HOW_STOPPED,   /* stopped or traced */
	HOW_READY,     /* it would have run on: preempted, or its time was up */
};

/* What a thread may hold since another of its process woke it from a futex: nobody
 * wakes for a lock but who lets go of it. */
struct hold {
	__u64 got;     /* when it was woken; 0: it never was */
	__u64 handed;  /* when it last woke another */
	__u64 address; /* the word that it had waited on */
	__u64 busy;    /* the longest wait since the later of the two, or before, ns */
	__u64 busy_at; /* when that began */
	__u64 object;  /* of that wait: the call's first argument */
	__s32 nr;
	__s32 kstack;
	__s32 ustack;
	__u32 site;
	__u32 from; /* who woke it */
	__u32 pad;
};

/* A thread of a process that is looked at. Times in ns of CLOCK_MONOTONIC. */
struct thread {
	__u64 start;   /* when it left its CPU; 0: it runs */
	__u64 woken;   /* when somebody woke it; 0: nobody yet */
	__u64 args[3]; /* of the system call it sits in */
	__u64 ip;      /* in user space; with sp and bp: the place, see stacks_of */
	__u64 sp;
	__u64 bp;
	__u64 refilled;
	__u32 tgid;
	__s32 nr; /* the system call; negative: in none, or not known */
	__s32 kstack;
	__s32 ustack;
	__u32 site;   /* of ustack: see struct top_key */
	__u32 tokens; /* stacks that may be taken */
	__u32 waker_tgid;
	__u32 waker_tid;
	__s32 waker_kstack;
	__s32 waker_ustack;
	__u32 waker_site;
	__u32 ran;     /* HOW_READY: who was given the CPU */
	__u8 how;      /* enum how */
	__u8 seeded;   /* by user space: it was off the CPU before it was looked at */
	__u8 shared;   /* the stack is an earlier one of the same place */
	__u8 by_futex; /* who woke it from a futex did so by a call of that */
	__u8 pad[4];
	__u8 comm[16];
	__u8 waker_comm[16];
	__u8 ran_comm[16];
	struct hold parked; /* it had waited on a word of its own, or for a note */
	struct hold locked; /* for a lock's word */
};

/* A thread that was woken from a futex by one of its process wakes another: so a lock
 * passes on whose word names nobody. */
struct hand_key {
	__u64 at;
	__u32 tid; /* who wakes */
	__u32 lock;
};

struct hand_value {
	struct hold hold; /* of who wakes */
	__u64 vain;	  /* when who is woken had been woken before, and found it taken; 0 */
	__u64 began;	  /* the wait that ends */
	__u64 address;
	__u32 tgid;
	__u32 to; /* who is woken */
	__s32 kstack;
	__s32 ustack; /* of its wait */
	__u32 site;
	__s32 waker_kstack;
	__s32 waker_ustack;
	__u32 waker_site;
	__u8 comm[16];
	__u8 waker_comm[16];
};

/* Who woke the most, by majority vote: whoever wakes adds to its own votes or
 * takes one away, and 0 votes change the name. */
struct waker {
	__u32 tgid;
	__u32 tid;
	__s32 kstack;
	__s32 ustack;
	__u32 site;
	__u32 pad;
	__u32 votes;
	__u32 known; /* some waker was seen: without a majority it is the last candidate */
	__u8 comm[16];
};

struct wait_key {
	__u64 object; /* the futex, or the first argument where it is small: a descriptor */
	__u32 tgid;
	__u32 tid;
	__s32 nr;
	__s32 kstack;
	__s32 ustack;
	__u32 site;
	__u8 how;
	__u8 queued; /* it was woken, and waited for a CPU */
	__u8 pad[6];
};

struct wait_value {
	__u64 n;
	__u64 sum;
	__u64 max;
	__u64 max_at; /* when the longest began */
	struct waker waker;
	__u8 comm[16];
};

/* One thread's waits on one futex. All of them, however short. */
struct lock_key {
	__u64 address;
	__u32 tgid;
	__u32 tid;
	__u32 lock; /* it waited for a lock to be let go */
	__u32 pad;
};

struct lock_value {
	__u64 n;
	__u64 sum; /* since the second began */
	__u64 max; /* since the wait began */
	__s32 kstack;
	__s32 ustack; /* of the longest */
	__u32 site;
	__u32 pad;
	struct waker waker;
	__u8 comm[16];
};

/* A wait that is told by itself. */
struct long_key {
	__u64 begin;
	__u32 tid;
	__u32 queued; /* for a CPU; else for a lock */
};

struct long_value {
	__u64 end;
	__u64 address;
	__u32 tgid;
	__u32 waker_tgid;
	__u32 waker_tid; /* for a CPU: who ran instead */
	__s32 waker_kstack;
	__s32 waker_ustack;
	__u32 waker_site;
	__u8 comm[16];
	__u8 waker_comm[16];
};

/* What could not be counted, or not in full. */
enum lost {
	LOST_THREADS, /* threads that found no room, switches of theirs */
	LOST_WAITS,   /* waits over the threshold */
	LOST_LOCKS,
	LOST_LONG,
	LOST_STACKS,  /* stacks that fell into a slot taken by another */
	NO_TOKEN,     /* counted waits whose stack was not taken */
	TAKEN,	      /* no loss: stacks that were taken */
	LOST_HANDS,   /* locks that were passed on */
	LOST_TOPS,    /* tops of stacks that found no room */
	LOST_RETURNS, /* switches to a thread that ended a wait, of which no program was called */
	LOST_MAX,
};

/* Set before the load. */
const volatile bool has_prev_state = false; /* sched_switch's fourth argument, since 5.18 */
const volatile __u32 nr_futex = 202;

/* Set while it runs. */
__u64 threshold = 1000000; /* shorter waits count only as waits for a lock, ns */
__u64 long_queue = 50000000;
__u64 long_lock = 100000000;
__u32 stack_rate = 1000; /* stacks per second that a thread may have; 0: all */
__u64 epoch_at;		 /* when the second began */
__u32 epoch;
__u64 lost[LOST_MAX];
__u64 filter[64]; /* one bit for each process looked at, by its id modulo 4096 */

#define HASH(name, k, v, n)                                                                                  \
	struct {                                                                                             \
		__uint(type, BPF_MAP_TYPE_HASH);                                                             \
		__uint(max_entries, n);                                                                      \
		__type(key, k);                                                                              \
		__type(value, v);                                                                            \
	} name SEC(".maps")

HASH(closer, __u32, __u8, 256);
HASH(threads, __u32, struct thread, THREADS);
HASH(waits_a, struct wait_key, struct wait_value, ROWS);
HASH(waits_b, struct wait_key, struct wait_value, ROWS);
HASH(locks_a, struct lock_key, struct lock_value, ROWS);
HASH(locks_b, struct lock_key, struct lock_value, ROWS);
HASH(longs_a, struct long_key, struct long_value, 1024);
HASH(longs_b, struct long_key, struct long_value, 1024);
/* HANDS is mostHands of hands.go. */
HASH(hands_a, struct hand_key, struct hand_value, HANDS);
HASH(hands_b, struct hand_key, struct hand_value, HANDS);

/* A stack of which the top was handed over. Programs without frame pointers have one walk
 * for many places: the site tells them apart. */
struct top_key {
	__s32 ustack; /* the id of the stack that was walked */
	__u32 site;
	__u32 waker; /* of the wakers' stacks */
};

/* Who ran on a CPU for long without a pause. */
struct run {
	__u64 since; /* the thread that runs now began, jiffies */
	__u64 length;
	__u64 end; /* ns */
	__u32 tid;
	__u32 pad;
	__u8 comm[16];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct run);
} runs SEC(".maps");

HASH(handed, struct top_key, __u8, 16384);

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} tops SEC(".maps");

#define STACK_TRACES(name, n)                                                                                \
	struct {                                                                                             \
		__uint(type, BPF_MAP_TYPE_STACK_TRACE);                                                      \
		__uint(max_entries, n);                                                                      \
		__uint(key_size, sizeof(__u32));                                                             \
		__uint(value_size, DEPTH * sizeof(__u64));                                                   \
	} name SEC(".maps")

STACK_TRACES(stacks, STACKS);
/* Apart: those of interrupts are of many kinds, and would take the others' slots. */
STACK_TRACES(waker_stacks, WAKER_STACKS);

static __always_inline void lose(enum lost what)
{
	__sync_fetch_and_add(&lost[what], 1);
}
