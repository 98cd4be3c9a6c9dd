/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The first bytes of what a client sends on a connection that was made while we
 * looked, out of the buffers of its calls. Only on the user's word, and only a few
 * buffers: what is asked for, of RTMP what comes after the handshake.
 */
#define RTMP_VERSION 3
#define RTMP_HANDSHAKE (1 + 1536 + 1536) /* C0, C1, C2: RTMP 1.0, section 5.2 */
#define PEEK_BUFFERS 16

struct user_iovec {
	__u64 base;
	__u64 len;
};

struct user_message {
	__u64 name;
	__u64 name_len; /* an int and its padding */
	__u64 vector;
	__u64 vector_len;
};

/* Where the data of a call begin in the process' memory, and how many bytes follow. */
static __always_inline __u64 first_buffer(const struct in_call *in, __u64 *len)
{
	__u64 vector = in->buffer;
	struct user_message m = {};
	struct user_iovec v = {};

	if (in->kind & KIND_BUFFER)
		return in->buffer;
	if (in->kind & KIND_MESSAGE) {
		if (bpf_probe_read_user(&m, sizeof(m), (void *)vector))
			return 0;
		vector = m.vector;
	}
	if (bpf_probe_read_user(&v, sizeof(v), (void *)vector))
		return 0;
	if (*len > v.len)
		*len = v.len;
	return v.base;
}

static __always_inline void new_connection(__u32 pid, __s32 fd, __u8 server)
{
	struct conn c = {.server = server, .left = PEEK_BUFFERS};
	struct fd_key key = {.pid = pid, .fd = fd};

	if (bpf_map_update_elem(&conns, &key, &c, BPF_ANY))
		add(&lost[LOST_CONNS], 1);
	note_fd(pid, fd); /* before its bytes: the descriptor may have been another's in this second */
}

static __noinline int look_into(const struct in_call *in, struct conn *c, __u64 bytes)
{
	__u64 skip = 0, len = bytes, buffer, n;
	struct peek_note *p;

	if (c->rtmp && c->offset + bytes <= RTMP_HANDSHAKE)
		return 0;
	buffer = first_buffer(in, &len);
	if (!buffer)
		return 0;
	if (!c->offset) {
		__u8 version = 0;

		bpf_probe_read_user(&version, 1, (void *)buffer);
		c->rtmp = version == RTMP_VERSION;
		if (c->rtmp && bytes <= RTMP_HANDSHAKE)
			return 0;
		if (!c->rtmp)
			c->left = 1; /* this one */
	}
	if (c->rtmp && c->offset < RTMP_HANDSHAKE)
		skip = RTMP_HANDSHAKE - c->offset;
	if (skip >= len)
		return 0;
	c->left--;
	p = bpf_ringbuf_reserve(&notes, sizeof(*p), 0);
	if (!p) {
		add(&lost[LOST_NOTES], 1);
		return 0;
	}
	n = len - skip;
	if (n > peek)
		n = peek;
	if (n > PEEK_MOST)
		n = PEEK_MOST;
	p->what = NOTE_PEEK;
	p->offset = c->offset + skip;
	p->pid = in->pid;
	p->fd = in->fd;
	p->len = n;
	if (bpf_probe_read_user(p->bytes, n, (void *)(buffer + skip))) {
		bpf_ringbuf_discard(p, BPF_RB_NO_WAKEUP);
		return 0;
	}
	bpf_ringbuf_submit(p, BPF_RB_NO_WAKEUP);
	return 0;
}

/* At the end of a call: 32-bit processes lay their buffers out otherwise. */
static __always_inline void peek_at(const struct in_call *in, long ret)
{
	struct fd_key key = {.pid = in->pid, .fd = in->fd};
	struct conn *c;

	if (in->nr & NR_COMPAT)
		return;
	if (in->kind & KIND_ACCEPT) {
		if (ret >= 0)
			new_connection(in->pid, ret, 1);
		return;
	}
	if (in->kind & KIND_CONNECT) {
		if (!ret || ret == -115) /* EINPROGRESS */
			new_connection(in->pid, in->fd, 0);
		return;
	}
	if (in->kind & KIND_CLOSE) {
		bpf_map_delete_elem(&conns, &key);
		return;
	}
	if (ret <= 0 || !(in->kind & (KIND_BUFFER | KIND_VECTOR | KIND_MESSAGE)))
		return;
	c = bpf_map_lookup_elem(&conns, &key);
	if (!c || !c->left || !(in->kind & (c->server ? KIND_READ : KIND_WRITE)))
		return;
	look_into(in, c, ret);
	c->offset += ret;
}
