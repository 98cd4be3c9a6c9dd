/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Errors that calls on sockets return (sock:sock_send_length and
 * sock:sock_recv_length, since 6.3), that the kernel puts on a socket
 * (sock:inet_sk_error_report, since 5.15), and that the calls of a few processes
 * return for want of descriptors or ports, or connect for a full backlog (sys_exit);
 * while that is looked at, calls on files that fail, of any process.
 */

#define NR_CONNECT_X86 42
#define NR_CONNECT_ARM64 203
#define E_INTR 4
#define E_AGAIN 11
#define E_PERM 1
#define E_IO 5
#define E_NOMEM 12
#define E_ACCES 13
#define E_NFILE 23
#define E_MFILE 24
#define E_FBIG 27
#define E_NOSPC 28
#define E_ROFS 30
#define E_ADDRNOTAVAIL 99
#define E_INPROGRESS 115
#define E_DQUOT 122
#define E_RESTART 512 /* from here on codes that no process sees (linux/errno.h) */

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct task_struct___files {
	struct files_struct *files;
};

struct super_block {
	__u32 s_dev;
};

struct qstr {
	const unsigned char *name;
};

struct dentry {
	struct qstr d_name;
	struct super_block *d_sb;
};

struct path {
	struct dentry *dentry;
};

struct file___path {
	struct path f_path;
};

#pragma clang attribute pop

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
			process_name(&v->comm);
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

/* Errors that say that a file could not be written, made or opened, or a process not be
 * begun. Not ENOENT: programs look for what may be there. */
static __always_inline bool fails_on_file(int err)
{
	return err == E_NOSPC || err == E_DQUOT || err == E_ROFS || err == E_FBIG || err == E_IO ||
	       err == E_ACCES || err == E_PERM || err == E_NOMEM || err == E_AGAIN;
}

/* What the calling process' descriptor is open on: the name of the file and the device that
 * its file system is on. */
static __always_inline void note_file(struct error_path *p, __s32 fd)
{
	struct task_struct___files *task = (void *)bpf_get_current_task();
	struct fdtable *table = BPF_CORE_READ(task, files, fdt);
	struct file___path **files, *file = NULL;
	struct dentry *dentry;

	if (fd < 0 || fd >= (__s32)BPF_CORE_READ(table, max_fds))
		return;
	files = (void *)BPF_CORE_READ(table, fd);
	bpf_probe_read_kernel(&file, sizeof(file), files + fd);
	dentry = file ? BPF_CORE_READ(file, f_path.dentry) : NULL;
	if (!dentry)
		return;
	p->dev = BPF_CORE_READ(dentry, d_sb, s_dev);
	bpf_probe_read_kernel_str(p->path, sizeof(p->path), BPF_CORE_READ(dentry, d_name.name));
}

/* What a call on a file was on, told once a second for each process, call and error. */
static __noinline int note_path(struct error_key *key, __u8 on, __u64 first, __u64 second)
{
	struct error_path p = {.fd = -1};

	if (!key)
		return 0;
	if (on == FILE_IN_FD) {
		p.fd = first;
		note_file(&p, p.fd);
	} else if (on != FILE_NONE) {
		bpf_probe_read_user_str(p.path, sizeof(p.path),
					(void *)(on == FILE_IN_FIRST ? first : second));
	}
	bpf_map_update_elem(&error_paths, key, &p, BPF_ANY);
	return 0;
}

/* Every system call of the machine comes by here: attached for a few seconds,
 * and only when some process is known to be short of something, or fails. */
SEC("raw_tp/sys_exit")
int exit_call(__u64 *ctx)
{
	const struct pt_regs___x86 *x86 = (void *)ctx[0];
	const struct pt_regs___arm64 *arm = (void *)ctx[0];
	struct error_key key = {.call = CALL_OTHER};
	long ret = ctx[1];
	struct error_value *v;
	__u32 connect = NR_CONNECT_X86;
	__u64 first = -1, second = 0;
	bool wants, file;
	__u8 *on = NULL;

	if (ret >= 0 || ret <= -E_RESTART)
		return 0;
	key.err = -ret;
	wants = key.err == E_MFILE || key.err == E_NFILE || key.err == E_ADDRNOTAVAIL;
	file = fails_on_file(key.err);
	if (!wants && !file)
		return 0;
	key.pid = bpf_get_current_pid_tgid() >> 32;
	if (wants && !bpf_map_lookup_elem(&failing, &key.pid))
		return 0;
	if (bpf_core_field_exists(x86->orig_ax)) {
		key.nr = BPF_CORE_READ(x86, orig_ax);
		first = BPF_CORE_READ(x86, di);
		second = BPF_CORE_READ(x86, si);
	} else if (bpf_core_field_exists(arm->syscallno)) {
		key.nr = BPF_CORE_READ(arm, syscallno);
		connect = NR_CONNECT_ARM64;
		first = BPF_CORE_READ(arm, orig_x0);
		second = BPF_CORE_READ(arm, user_regs.regs[1]);
	}
	if (file && !(key.err == E_AGAIN && key.nr == connect)) {
		on = bpf_map_lookup_elem(&file_calls, &key.nr);
		/* EAGAIN: the backlog of a UNIX socket is full, or no process may be begun. */
		if (!on || !*on || (key.err == E_AGAIN && *on != FILE_NONE))
			return 0;
	}
	v = error_row(&key);
	if (!v)
		return 0;
	if (!v->n) {
		struct task_struct *task = (void *)bpf_get_current_task();

		v->fd = first;
		v->flow.netns = BPF_CORE_READ(task, nsproxy, net_ns, ns.inum);
		process_name(&v->comm);
		if (on)
			note_path(&key, *on, first, second);
	}
	add(&v->n, 1);
	return 0;
}
