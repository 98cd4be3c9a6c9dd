/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Operations of io_uring: no system calls, but what programs that use it do instead.
 * They are counted where they complete, in the same tables, under numbers with
 * NR_URING. A thread, a worker of the kernel or an interrupt completes them: so who
 * asked, and on what, is kept from the submission on.
 *
 * The tracepoints' arguments changed often (include/trace/events/io_uring.h): user
 * space tells which there are. Before 5.18 a completion names its operation by the
 * program's own user_data alone, which need not be its own.
 */
#define NR_URING (1U << 29)
#define OP_UNKNOWN 0xff
#define OPS 128

/* What kind of operation: set by user space from the names of the opcodes. */
#define OP_FILE 1  /* it is on a descriptor */
#define OP_MOVES 2 /* its result is bytes */
#define OP_SHOTS 4 /* it may complete many times */

#define SQE_FIXED_FILE 1 /* the descriptor is an index of registered files */
#define SQE_CQE_SKIP 64	 /* no completion if all goes well; the same bit in io_kiocb.flags */
#define CQE_MORE 2
#define CQE_NOTIF 8 /* of a zero-copy send: its buffer is free */
#define ECANCELED 125

enum submit_shape { SUBMIT_REQ = 1, SUBMIT_CTX_REQ, SUBMIT_CTX_OP };
enum complete_shape { COMPLETE_CQE = 1, COMPLETE_REQ, COMPLETE_DATA };

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct io_uring_task {
	struct task_struct *task;
};

/* The descriptor lies here until there is a result (since 5.19). */
struct io_cqe {
	__u64 user_data;
	int fd;
};

struct io_kiocb {
	__u8 opcode;
	unsigned int flags;
	struct io_cqe cqe;
	void *ctx;
	struct io_uring_task *tctx; /* since 6.13 */
};

struct io_kiocb___old {
	__u64 user_data; /* before 5.19 */
	struct task_struct *task;
};

struct io_uring_cqe {
	__u64 user_data;
	__s32 res;
	__u32 flags;
};

struct io_uring_sqe {
	__u8 opcode;
	__u8 flags;
	__s32 fd;
};

struct io_ring_ctx___sq {
	__u32 *sq_array;
	unsigned int cached_sq_head;
	unsigned int sq_entries;
	struct io_uring_sqe *sq_sqes;
};

struct io_ring_ctx___old {
	struct task_struct *sqo_task; /* before 5.12, whose poller is a thread of the kernel */
};

#pragma clang attribute pop

/* An operation: its io_kiocb, or where completions do not tell it and for those that
 * complete many times, its ring and user_data. */
struct op_key {
	__u64 a;
	__u64 b;
};

struct op {
	struct in_call in;
	__u64 ring;
	__u64 user_data;
	__u32 more; /* others in flight under the same key */
	__u32 kind; /* OP_… */
	__u8 comm[16];
};

const volatile __u8 op_kinds[OPS];
const volatile __u8 submit_shape;
const volatile __u8 complete_shape;
const volatile bool has_cqe_flags; /* COMPLETE_DATA: since 5.12 */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, OPERATIONS);
	__type(key, struct op_key);
	__type(value, struct op);
} operations SEC(".maps");

/* Of those that may complete many times: by ring and user_data the io_kiocb. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, OPERATIONS);
	__type(key, struct op_key);
	__type(value, __u64);
} shots SEC(".maps");

static __always_inline __u64 data_of(struct io_kiocb *req)
{
	if (bpf_core_field_exists(req->cqe.user_data))
		return BPF_CORE_READ(req, cqe.user_data);
	if (bpf_core_field_exists(((struct io_kiocb___old *)req)->user_data))
		return BPF_CORE_READ((struct io_kiocb___old *)req, user_data);
	return 0;
}

/* The entry of the submission queue that was taken last. */
static __always_inline struct io_uring_sqe *last_entry(__u64 ring)
{
	struct io_ring_ctx___sq *r = (void *)ring;
	struct io_uring_sqe *sqes;
	__u32 *array, at, n = 0;

	if (!bpf_core_field_exists(r->sq_array) || !bpf_core_field_exists(r->sq_sqes))
		return NULL;
	at = (BPF_CORE_READ(r, cached_sq_head) - 1) & (BPF_CORE_READ(r, sq_entries) - 1);
	array = BPF_CORE_READ(r, sq_array);
	sqes = BPF_CORE_READ(r, sq_sqes);
	if (!array || !sqes || bpf_probe_read_kernel(&n, sizeof(n), array + at))
		return NULL;
	return (void *)sqes + n * 64ULL; /* larger ones came with 5.19 */
}

/* The descriptor that an operation is on, and the flags of its entry. */
static __always_inline __s32 file_of(struct io_kiocb *req, __u64 ring, __u32 *flags)
{
	struct io_uring_sqe *sqe;

	if (req && bpf_core_field_exists(req->cqe.fd)) {
		*flags = BPF_CORE_READ(req, flags);
		return BPF_CORE_READ(req, cqe.fd);
	}
	sqe = last_entry(ring);
	if (!sqe)
		return FD_NONE;
	*flags = BPF_CORE_READ(sqe, flags);
	return BPF_CORE_READ(sqe, fd);
}

static __always_inline void keep(struct op *op, struct op_key *key, bool by_data)
{
	struct op *old = by_data ? bpf_map_lookup_elem(&operations, key) : NULL;

	if (old) {
		op->more = old->more + 1;
		add(&lost[LOST_SAME], 1);
	}
	if (bpf_map_update_elem(&operations, key, op, BPF_ANY)) {
		add(&lost[LOST_OPERATIONS], 1);
		return;
	}
	if (op->kind & OP_SHOTS && !by_data) {
		struct op_key shot = {.a = op->ring, .b = op->user_data};

		bpf_map_update_elem(&shots, &shot, &key->a, BPF_ANY);
	}
}

static __always_inline bool in_table(const struct op *op)
{
	struct call_key key = {.pid = op->in.pid, .tid = op->in.tid, .fd = op->in.fd, .nr = op->in.nr};

	return look_up(&key, epoch & 1) != NULL;
}

/* An argument. A program may only be attached where all that it reads exist
 * (bpf_probe_register), so each is read where it is needed, at a place that is known. */
static __always_inline __u64 arg(__u64 *ctx, int i)
{
	__u64 v = *(volatile __u64 *)&ctx[i];

	asm volatile("" : "+r"(v)); /* or two places become one that is computed */
	return v;
}

SEC("raw_tp/io_uring_submit_req")
int submit_op(__u64 *ctx)
{
	__u64 who = bpf_get_current_pid_tgid();
	struct io_kiocb *req = NULL;
	struct op_key key = {};
	struct op op = {};
	__u32 flags = 0, code;

	if (!traced_since(who >> 32)) {
		struct io_ring_ctx___old *r = (void *)arg(ctx, 0);
		struct task_struct *owner;

		if (submit_shape != SUBMIT_CTX_OP || !bpf_core_field_exists(r->sqo_task) ||
		    who >> 32 != (__u32)who)
			return 0;
		owner = BPF_CORE_READ(r, sqo_task);
		who = (__u64)BPF_CORE_READ(owner, tgid) << 32 | (__u32)BPF_CORE_READ(owner, pid);
		if (!traced_since(who >> 32))
			return 0;
	}
	if (submit_shape == SUBMIT_CTX_OP) {
		op.ring = arg(ctx, 0);
		code = arg(ctx, 1) & 0xff;
		op.user_data = arg(ctx, 2);
		key.a = op.ring;
		key.b = op.user_data;
	} else {
		if (submit_shape == SUBMIT_REQ)
			req = (void *)arg(ctx, 0);
		else
			req = (void *)arg(ctx, 1);
		op.ring = (__u64)BPF_CORE_READ(req, ctx);
		op.user_data = data_of(req);
		code = BPF_CORE_READ(req, opcode);
		key.a = (__u64)req;
		if (complete_shape == COMPLETE_DATA) {
			key.a = op.ring;
			key.b = op.user_data;
		}
	}
	op.kind = op_kinds[code & (OPS - 1)];
	op.in.pid = who >> 32;
	op.in.tid = who;
	op.in.nr = NR_URING | code;
	op.in.kind = op.kind & OP_MOVES ? KIND_READ : 0;
	op.in.fd = file_of(req, op.ring, &flags);
	if (!(op.kind & OP_FILE) || flags & SQE_FIXED_FILE || op.in.fd < 0)
		op.in.fd = FD_NONE;
	bpf_get_current_comm(op.comm, sizeof(op.comm));
	if (op.in.fd >= 0 && !in_table(&op))
		note_fd(op.in.pid, op.in.fd);
	op.in.begin = bpf_ktime_get_ns();
	if (flags & SQE_CQE_SKIP) {
		count(&op.in, 0, op.in.begin, op.comm, false); /* nothing tells when it is done */
		return 0;
	}
	keep(&op, &key, key.b || complete_shape == COMPLETE_DATA);
	return 0;
}

/* One whose submission was not seen. */
static __always_inline void unseen_op(struct io_kiocb *req, __s32 res, __u64 now)
{
	struct io_kiocb___old *old = (void *)req;
	struct task_struct *task = NULL;
	struct op op = {};
	__u64 since;
	__u32 code = OP_UNKNOWN;

	if (!req) /* many times, or of another ring: in a thread of its process */
		task = (void *)bpf_get_current_task();
	else if (bpf_core_field_exists(req->tctx))
		task = BPF_CORE_READ(req, tctx, task);
	if (req && !task && bpf_core_field_exists(old->task))
		task = BPF_CORE_READ(old, task);
	if (!task)
		return;
	op.in.pid = BPF_CORE_READ(task, tgid);
	since = traced_since(op.in.pid);
	if (!since)
		return;
	if (req) {
		code = BPF_CORE_READ(req, opcode);
		op.kind = op_kinds[code & (OPS - 1)];
	}
	op.in.tid = BPF_CORE_READ(task, pid);
	op.in.nr = NR_URING | code;
	op.in.kind = op.kind & OP_MOVES ? KIND_READ : 0;
	op.in.fd = FD_NONE;
	BPF_CORE_READ_STR_INTO(op.comm, task, comm);
	/* What is refused at once, is so before it is submitted; of what found no room
	 * nothing is known. */
	op.in.begin = !req || lost[LOST_OPERATIONS] || (res < 0 && res != -ECANCELED) ? now : since;
	if (op.in.begin == since)
		add(&before, 1);
	count(&op.in, res, now, op.comm, op.in.begin == since);
}

SEC("raw_tp/io_uring_complete")
int complete_op(__u64 *ctx)
{
	__u64 ring = arg(ctx, 0), second = arg(ctx, 1), third = arg(ctx, 2), now;
	struct io_kiocb *req = NULL;
	struct op_key key = {}, shot = {.a = ring};
	struct op *op;
	__u32 flags;
	__s32 res;

	if (complete_shape == COMPLETE_CQE) {
		struct io_uring_cqe *cqe = (void *)third;

		req = (void *)second;
		shot.b = BPF_CORE_READ(cqe, user_data);
		res = BPF_CORE_READ(cqe, res);
		flags = BPF_CORE_READ(cqe, flags);
	} else if (complete_shape == COMPLETE_REQ) {
		req = (void *)second;
		shot.b = third;
		res = arg(ctx, 3);
		flags = arg(ctx, 4);
	} else {
		shot.b = second;
		res = third;
		flags = 0;
		if (has_cqe_flags)
			flags = arg(ctx, 3);
	}
	if (flags & CQE_NOTIF)
		return 0;
	key.a = (__u64)req;
	if (complete_shape == COMPLETE_DATA) {
		key = shot;
	} else if (!req) {
		__u64 *of = bpf_map_lookup_elem(&shots, &shot);

		key.a = of ? *of : 0;
	}
	now = bpf_ktime_get_ns();
	op = bpf_map_lookup_elem(&operations, &key);
	if (!op) {
		if (complete_shape != COMPLETE_DATA)
			unseen_op(req, res, now);
		return 0;
	}
	count(&op->in, res, now, op->comm, true);
	if (op->more) {
		__sync_fetch_and_add(&op->more, -1);
		return 0;
	}
	if (complete_shape == COMPLETE_DATA ? flags & CQE_MORE : !req) {
		op->in.begin = now; /* its next one */
		return 0;
	}
	if (op->kind & OP_SHOTS && complete_shape != COMPLETE_DATA)
		bpf_map_delete_elem(&shots, &shot);
	bpf_map_delete_elem(&operations, &key);
	return 0;
}

/* The program has let its completion queue run full: the kernel keeps the completion
 * for later, and io_uring_complete does not see it (since 5.18). */
SEC("raw_tp/io_uring_cqe_overflow")
int overflown(__u64 *ctx)
{
	if (traced_since(bpf_get_current_pid_tgid() >> 32))
		add(&lost[LOST_OVERFLOWN], 1);
	return 0;
}
