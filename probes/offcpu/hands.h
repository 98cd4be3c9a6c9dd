/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* How locks pass from thread to thread whose words name nobody: Java's monitors park
 * each thread on a word of its own. */

/* A wait ended at woken. It was for a lock, perhaps, which the thread has from then on;
 * or it had one already, and this is what it did with it. */
static __always_inline void note_wait(struct hold *h, const struct thread *t, __u64 begin, __u64 took)
{
	if (took <= h->busy && h->busy_at >= h->handed)
		return;
	h->busy = took;
	h->busy_at = begin;
	h->object = t->args[0];
	h->nr = t->nr;
	h->kstack = t->kstack;
	h->ustack = t->ustack;
	h->site = t->site;
}

static __always_inline void take(struct hold *h, const struct thread *t, __u64 woken)
{
	__builtin_memset(h, 0, sizeof(*h));
	h->got = woken;
	h->address = t->args[0];
	h->from = t->waker_tid;
	h->nr = -1;
	h->kstack = h->ustack = NO_STACK;
}

static __always_inline void note_hold(struct thread *t, __u64 begin, __u64 woken)
{
	bool taken = t->nr == (__s32)nr_futex && t->woken && t->waker_tgid == t->tgid && t->by_futex;

	if (taken && for_lock(t)) {
		take(&t->locked, t, woken);
		return; /* a lock inside of another is waited for */
	}
	note_wait(&t->locked, t, begin, woken - begin);
	if (taken)
		take(&t->parked, t, woken);
	else
		note_wait(&t->parked, t, begin, woken - begin);
}

/* Who is woken for a lock and finds it taken waits again at once: whoever wakes it then
 * has had it since, though nobody woke that one for it. */
#define AT_ONCE 2000000ULL
/* Nobody queues for long for what is held for less. */
#define MOMENT 100000ULL

/* The thread t is woken by who runs now, in a futex call. */
static __always_inline void hand_on(struct thread *t, __u32 tid, __u64 now)
{
	struct hand_key k = {.at = now, .tid = t->waker_tid, .lock = for_lock(t)};
	struct hand_value v = {.began = t->start, .address = t->args[0], .tgid = t->tgid, .to = tid};
	struct thread *by;
	struct hold *h;
	__u64 since;
	long failed;

	t->by_futex = wakes_by_futex();
	if (!t->by_futex)
		return; /* a timer, that interrupted who runs now */
	by = bpf_map_lookup_elem(&threads, &k.tid);
	if (!by)
		return;
	h = k.lock ? &by->locked : &by->parked;
	if (k.lock && (!h->got || h->address != v.address))
		return;
	if (!k.lock && t->parked.got && t->start > t->parked.got && t->start - t->parked.got < AT_ONCE)
		v.vain = t->parked.got;
	since = h->got ? h->got : v.vain;
	if (!since || since + MOMENT > now)
		return;
	v.hold = *h;
	v.kstack = t->kstack;
	v.ustack = t->ustack;
	v.site = t->site;
	v.waker_kstack = t->waker_kstack;
	v.waker_ustack = t->waker_ustack;
	v.waker_site = t->waker_site;
	__builtin_memcpy(v.comm, t->comm, sizeof(v.comm));
	__builtin_memcpy(v.waker_comm, t->waker_comm, sizeof(v.waker_comm));
	if (epoch & 1)
		failed = bpf_map_update_elem(&hands_b, &k, &v, BPF_ANY);
	else
		failed = bpf_map_update_elem(&hands_a, &k, &v, BPF_ANY);
	if (failed)
		lose(LOST_HANDS);
	h->handed = now;
}
