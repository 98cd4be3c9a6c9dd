/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Counting what has ended into the tables of this second. */

/* The verifier wants one map for each call: so the choice is made around it. */
static __always_inline void *row(void *a, void *b, const void *key, const void *zero, enum lost full)
{
	int odd = epoch & 1;
	void *v;

	v = odd ? bpf_map_lookup_elem(b, key) : bpf_map_lookup_elem(a, key);
	if (v)
		return v;
	if (odd) {
		bpf_map_update_elem(b, key, zero, BPF_NOEXIST);
		v = bpf_map_lookup_elem(b, key);
	} else {
		bpf_map_update_elem(a, key, zero, BPF_NOEXIST);
		v = bpf_map_lookup_elem(a, key);
	}
	if (!v)
		lose(full);
	return v;
}

static __always_inline void vote(struct waker *w, const struct thread *t)
{
	if (!t->waker_tid && !t->woken)
		return;
	if (w->votes && w->tid == t->waker_tid) {
		w->votes++;
		if (t->waker_kstack != NO_STACK) {
			w->kstack = t->waker_kstack;
			w->ustack = t->waker_ustack;
			w->site = t->waker_site;
		}
		return;
	}
	if (w->votes) {
		w->votes--;
		return;
	}
	w->votes = w->known = 1;
	w->tgid = t->waker_tgid;
	w->tid = t->waker_tid;
	w->kstack = t->waker_kstack;
	w->ustack = t->waker_ustack;
	w->site = t->waker_site;
	__builtin_memcpy(w->comm, t->waker_comm, sizeof(w->comm));
}

/* One thread is on one CPU: nobody else adds to its rows, as each names its thread. */
static __always_inline void count(const struct wait_key *k, const struct thread *t, __u64 begin, __u64 took,
				  bool woken)
{
	static const struct wait_value zero;
	struct wait_value *v = row(&waits_a, &waits_b, k, &zero, LOST_WAITS);

	if (!v)
		return;
	v->n++;
	v->sum += took;
	if (took >= v->max) {
		v->max = took;
		v->max_at = begin;
	}
	if (woken)
		vote(&v->waker, t);
	__builtin_memcpy(v->comm, t->comm, sizeof(v->comm));
}

static __always_inline void tell(const struct thread *t, __u32 tid, __u64 begin, __u64 end, bool queued)
{
	struct long_key k = {.begin = begin, .tid = tid, .queued = queued};
	struct long_value v = {.end = end, .tgid = t->tgid};
	long failed;

	__builtin_memcpy(v.comm, t->comm, sizeof(v.comm));
	if (queued) {
		v.waker_tid = t->ran;
		v.waker_kstack = v.waker_ustack = NO_STACK;
		__builtin_memcpy(v.waker_comm, t->ran_comm, sizeof(v.waker_comm));
	} else {
		v.address = t->args[0];
		v.waker_tgid = t->waker_tgid;
		v.waker_tid = t->waker_tid;
		v.waker_kstack = t->waker_kstack;
		v.waker_ustack = t->waker_ustack;
		v.waker_site = t->waker_site;
		__builtin_memcpy(v.waker_comm, t->waker_comm, sizeof(v.waker_comm));
	}
	if (epoch & 1)
		failed = bpf_map_update_elem(&longs_b, &k, &v, BPF_ANY);
	else
		failed = bpf_map_update_elem(&longs_a, &k, &v, BPF_ANY);
	if (failed)
		lose(LOST_LONG);
}

/* Operations of futex(2), include/uapi/linux/futex.h, and the value that a lock's
 * word has once somebody waits for it (probes/threads/futex.go). */
#define FUTEX_OPERATION 0x7f
#define FUTEX_WAIT 0
#define FUTEX_LOCK_PI 6
#define FUTEX_WAIT_BITSET 9
#define FUTEX_LOCK_PI2 13
#define TAKEN 2

static __always_inline bool for_lock(const struct thread *t)
{
	__u32 op = (__u32)t->args[1] & FUTEX_OPERATION;

	if (op == FUTEX_LOCK_PI || op == FUTEX_LOCK_PI2)
		return true;
	return (op == FUTEX_WAIT || op == FUTEX_WAIT_BITSET) && (__u32)t->args[2] == TAKEN;
}

static __always_inline void count_lock(const struct thread *t, __u32 tid, __u64 begin, __u64 end)
{
	static const struct lock_value zero;
	struct lock_key k = {.address = t->args[0], .tgid = t->tgid, .tid = tid, .lock = for_lock(t)};
	struct lock_value *v = row(&locks_a, &locks_b, &k, &zero, LOST_LOCKS);
	__u64 from = epoch_at;

	if (k.lock && end - begin >= long_lock)
		tell(t, tid, begin, end, false);
	if (!v)
		return;
	if (from < begin)
		from = begin;
	v->n++;
	if (end > from)
		v->sum += end - from;
	if (end - begin >= v->max) {
		v->max = end - begin;
		v->kstack = t->kstack;
		v->ustack = t->ustack;
		v->site = t->site;
	}
	vote(&v->waker, t);
	__builtin_memcpy(v->comm, t->comm, sizeof(v->comm));
}

static __always_inline void count_wait(const struct thread *t, __u32 tid, __u64 begin, __u64 end)
{
	struct wait_key k = {
	    .tgid = t->tgid,
	    .tid = tid,
	    .nr = t->nr,
	    .kstack = t->kstack,
	    .ustack = t->ustack,
	    .site = t->site,
	    .how = t->how,
	};
	bool futex = t->nr == (__s32)nr_futex;

	if (futex)
		count_lock(t, tid, begin, end);
	if (end - begin < threshold)
		return;
	if (t->kstack == NO_STACK && !t->seeded)
		lose(NO_TOKEN);
	/* An address in the first argument of another call is no descriptor, and would
	 * make a row of each call. */
	if (futex || t->args[0] < (1 << 20))
		k.object = t->args[0];
	else
		k.object = ~0ULL;
	count(&k, t, begin, end - begin, true);
}

static __always_inline void count_queued(const struct thread *t, __u32 tid, __u64 begin, __u64 end)
{
	struct wait_key k = {
	    .object = ~0ULL,
	    .tgid = t->tgid,
	    .tid = tid,
	    .nr = -1,
	    .kstack = NO_STACK,
	    .ustack = NO_STACK,
	    .how = HOW_READY,
	    .queued = t->how != HOW_READY,
	};

	if (end - begin >= long_queue)
		tell(t, tid, begin, end, true);
	if (end - begin >= threshold)
		count(&k, t, begin, end - begin, false);
}
