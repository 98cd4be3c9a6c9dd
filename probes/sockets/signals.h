/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Signals that stop or end a process or tell it of a broken pipe, at
 * signal:signal_generate (include/trace/events/signal.h). */

/* Of a 64-bit set: SIGHUP 1, SIGINT 2, SIGQUIT 3, SIGILL 4, SIGABRT 6, SIGBUS 7, SIGFPE 8,
 * SIGKILL 9, SIGSEGV 11, SIGPIPE 13, SIGTERM 15, SIGCONT 18, SIGSTOP 19, SIGTSTP 20,
 * SIGTTIN 21, SIGTTOU 22 (x86 and arm64). */
#define SIGNALS_WANTED                                                                                       \
	((15ULL << 1) | (15ULL << 6) | (1ULL << 11) | (1ULL << 13) | (1ULL << 15) | (31ULL << 18))

/* What stands for a siginfo that the kernel sends itself (include/linux/sched/signal.h). */
#define SEND_SIG_PRIV 1

SEC("raw_tp/signal_generate")
int signal(__u64 *ctx)
{
	static const struct signal_value zero;
	int sig = ctx[0], code = 0;
	const struct kernel_siginfo *info = (void *)ctx[1];
	const struct task_struct *task = (void *)ctx[2];
	struct signal_key key = {};
	struct signal_value *v;
	__u64 now;

	if (sig < 0 || sig > 63 || !((SIGNALS_WANTED >> sig) & 1))
		return 0;
	if ((__u64)info > SEND_SIG_PRIV)
		code = BPF_CORE_READ(info, si_code);
	key.sig = sig;
	key.kernel = (__u64)info == SEND_SIG_PRIV || code > 0;
	key.pid = BPF_CORE_READ(task, tgid);
	key.from = bpf_get_current_pid_tgid() >> 32;
	key.result = (int)ctx[4];
	v = row(&signals_a, &signals_b, epoch & 1, &key, &zero, &lost[SIGNALS]);
	if (!v)
		return 0;
	now = bpf_ktime_get_ns();
	if (!v->n) {
		v->first = now;
		BPF_CORE_READ_INTO(&v->comm, task, group_leader, comm);
		process_name(&v->from_comm);
	}
	v->last = now;
	add(&v->n, 1);
	return 0;
}
