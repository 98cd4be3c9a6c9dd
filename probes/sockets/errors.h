/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Errors that calls on sockets return (sock:sock_send_length and
 * sock:sock_recv_length, since 6.3), that the kernel puts on a socket
 * (sock:inet_sk_error_report, since 5.15), and that the calls of a few processes
 * return for want of descriptors or ports, or connect for a full backlog (sys_exit).
 */

#define NR_CONNECT_X86 42
#define NR_CONNECT_ARM64 203
#define E_INTR 4
#define E_AGAIN 11
#define E_NFILE 23
#define E_MFILE 24
#define E_ADDRNOTAVAIL 99
#define E_INPROGRESS 115
#define E_RESTART 512 /* from here on codes that no process sees (linux/errno.h) */

static __always_inline struct error_value *error_row(const struct error_key *key)
{
	static const struct error_value zero;

	return row(&errors_a, &errors_b, epoch & 1, key, &zero, &lost[ERRORS]);
}

static __always_inline bool is_error(int ret)
{
	int err = -ret;

	return err > 0 && err < E_RESTART && err != E_AGAIN && err != E_INTR && err != E_INPROGRESS;
}

static __noinline int socket_error(struct sock *sk, int err, __u8 call)
{
	struct error_key key = {.err = err, .call = call};
	struct error_value *v;
	__u16 family;

	if (!sk)
		return 0;
	family = BPF_CORE_READ(sk, __sk_common.skc_family);
	if (family == AF_INET || family == AF_INET6)
		key.proto = BPF_CORE_READ(sk, sk_protocol);
	else if (family != AF_UNIX)
		return 0; /* netlink's are answers */
	if (call == CALL_SOCKET)
		key.inode = inode_of(sk);
	else
		key.pid = bpf_get_current_pid_tgid() >> 32;
	v = error_row(&key);
	if (!v)
		return 0;
	if (!v->n) {
		v->fd = -1;
		if (key.proto)
			flow_of_full_sock(&v->flow, sk);
		else
			v->flow.netns = BPF_CORE_READ(sk, __sk_common.skc_net.net, ns.inum);
		if (call != CALL_SOCKET)
			bpf_get_current_comm(v->comm, sizeof(v->comm));
	}
	add(&v->n, 1);
	return 0;
}

SEC("raw_tp/inet_sk_error_report")
int error_report(__u64 *ctx)
{
	struct sock *sk = (void *)ctx[0];
	int err = BPF_CORE_READ(sk, sk_err);

	if (err > 0) /* 0: something else is in the error queue, a time stamp */
		socket_error(sk, err, CALL_SOCKET);
	return 0;
}

/* Every system call of the machine comes by here: attached for a few seconds,
 * and only when some process is known to be short of something. */
SEC("raw_tp/sys_exit")
int exit_call(__u64 *ctx)
{
	const struct pt_regs___x86 *x86 = (void *)ctx[0];
	const struct pt_regs___arm64 *arm = (void *)ctx[0];
	struct error_key key = {.call = CALL_OTHER};
	long ret = ctx[1];
	struct error_value *v;
	__u32 fd = -1, connect = NR_CONNECT_X86;

	if (ret != -E_MFILE && ret != -E_NFILE && ret != -E_ADDRNOTAVAIL && ret != -E_AGAIN)
		return 0;
	key.pid = bpf_get_current_pid_tgid() >> 32;
	if (ret != -E_AGAIN && !bpf_map_lookup_elem(&failing, &key.pid))
		return 0;
	key.err = -ret;
	if (bpf_core_field_exists(x86->orig_ax)) {
		key.nr = BPF_CORE_READ(x86, orig_ax);
		fd = BPF_CORE_READ(x86, di);
	} else if (bpf_core_field_exists(arm->syscallno)) {
		key.nr = BPF_CORE_READ(arm, syscallno);
		connect = NR_CONNECT_ARM64;
		fd = BPF_CORE_READ(arm, orig_x0);
	}
	if (ret == -E_AGAIN && key.nr != connect)
		return 0; /* only that of a UNIX socket means that it failed: the backlog is full */
	v = error_row(&key);
	if (!v)
		return 0;
	if (!v->n) {
		struct task_struct *task = (void *)bpf_get_current_task();

		v->fd = fd;
		v->flow.netns = BPF_CORE_READ(task, nsproxy, net_ns, ns.inum);
		bpf_get_current_comm(v->comm, sizeof(v->comm));
	}
	add(&v->n, 1);
	return 0;
}
