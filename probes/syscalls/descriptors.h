/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * What a descriptor is, told to user space when a row of it is made and it is not
 * what it was: many are closed before anybody could read /proc/PID/fd.
 */
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

struct inode___mode {
	unsigned short i_mode;
	unsigned long i_ino;
};

#pragma clang attribute pop

#define S_IFMT 0170000
#define S_IFSOCK 0140000

static __always_inline __u64 inode_of_sock(const struct sock *sk)
{
	struct socket_alloc *s = (void *)BPF_CORE_READ(sk, sk_socket);

	return s ? BPF_CORE_READ(s, vfs_inode.i_ino) : 0;
}

static __always_inline void note_socket(struct fd_note *n, const struct inode *inode)
{
	/* A socket and its inode lie side by side: struct socket_alloc. */
	const struct socket_alloc *s = (void *)inode - bpf_core_field_offset(struct socket_alloc, vfs_inode);
	const struct sock *sk = BPF_CORE_READ(s, socket.sk);

	if (!sk)
		return;
	n->netns = BPF_CORE_READ(sk, __sk_common.skc_net.net, ns.inum);
	n->family = BPF_CORE_READ(sk, __sk_common.skc_family);
	n->type = BPF_CORE_READ(s, socket.type);
	n->state = BPF_CORE_READ(sk, __sk_common.skc_state);
	if (n->family == AF_UNIX) {
		const struct sock *peer = BPF_CORE_READ((const struct unix_sock *)sk, peer);

		if (peer)
			n->peer_inode = inode_of_sock(peer);
		return;
	}
	if (n->family != AF_INET && n->family != AF_INET6)
		return;
	n->proto = BPF_CORE_READ(sk, sk_protocol);
	n->lport = BPF_CORE_READ(sk, __sk_common.skc_num);
	n->rport = bpf_ntohs(BPF_CORE_READ(sk, __sk_common.skc_dport));
	if (n->family == AF_INET6) {
		BPF_CORE_READ_INTO(&n->laddr, sk, __sk_common.skc_v6_rcv_saddr);
		BPF_CORE_READ_INTO(&n->raddr, sk, __sk_common.skc_v6_daddr);
	} else {
		BPF_CORE_READ_INTO((__u32 *)&n->laddr, sk, __sk_common.skc_rcv_saddr);
		BPF_CORE_READ_INTO((__u32 *)&n->raddr, sk, __sk_common.skc_daddr);
	}
}

static __noinline int note_fd(__u32 pid, __s32 fd)
{
	struct task_struct___files *task = (void *)bpf_get_current_task();
	struct fd_note n = {.what = NOTE_FD, .pid = pid, .fd = fd};
	struct fd_key key = {.pid = pid, .fd = fd};
	struct file **files, *file = NULL;
	struct fdtable *table;
	struct inode *inode;
	__u64 *last, now;

	table = BPF_CORE_READ(task, files, fdt);
	if (fd < 0 || fd >= (__s32)BPF_CORE_READ(table, max_fds))
		return 0;
	files = BPF_CORE_READ(table, fd);
	bpf_probe_read_kernel(&file, sizeof(file), files + fd);
	inode = file ? BPF_CORE_READ(file, f_inode) : NULL;
	if (!inode)
		return 0;
	n.inode = BPF_CORE_READ(inode, i_ino);
	n.mode = BPF_CORE_READ((struct inode___mode *)inode, i_mode);
	if ((n.mode & S_IFMT) == S_IFSOCK)
		note_socket(&n, inode);
	/* A file's memory is used again by the next one: its inode tells them apart.
	 * A socket that was connected, or whose peer has closed, is told of again. */
	now = (__u64)file ^ n.inode << 20 ^ (__u64)n.rport << 48 ^ n.state;
	last = bpf_map_lookup_elem(&told, &key);
	if (last && *last == now)
		return 0;
	n.at = bpf_ktime_get_ns();
	if (bpf_ringbuf_output(&notes, &n, sizeof(n), BPF_RB_NO_WAKEUP)) {
		add(&lost[LOST_NOTES], 1);
		return 0;
	}
	bpf_map_update_elem(&told, &key, &now, BPF_ANY);
	return 0;
}
