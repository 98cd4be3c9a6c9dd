/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * What snag's BPF programs know of the kernel: of each struct only the fields
 * that they read. The loader relocates them to the running kernel's own layout
 * by its BTF (preserve_access_index), so neither order nor offsets matter here,
 * names and nesting do. A field that only some kernels have is guarded where it
 * is read, by bpf_core_field_exists(). Kernels from 5.10.
 *
 * It stands for vmlinux.h and for the headers below linux/ and asm/, which must
 * not be included beside it; <bpf/bpf_helpers.h> and its kin come after it.
 */
#ifndef SNAG_KERNEL_H
#define SNAG_KERNEL_H

typedef unsigned char __u8;
typedef signed char __s8;
typedef unsigned short __u16;
typedef short __s16;
typedef unsigned int __u32;
typedef int __s32;
typedef unsigned long long __u64;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef __u16 __sum16;
typedef _Bool bool;
#define true 1
#define false 0
#define NULL ((void *)0)

/* include/uapi/linux/bpf.h: fixed for ever. */
enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_HASH = 5,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_STACK_TRACE = 7,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_LRU_PERCPU_HASH = 10,
	BPF_MAP_TYPE_ARRAY_OF_MAPS = 12,
	BPF_MAP_TYPE_SK_STORAGE = 24,
	BPF_MAP_TYPE_RINGBUF = 27,
};
enum { BPF_ANY = 0, BPF_NOEXIST = 1, BPF_EXIST = 2 };
enum { BPF_F_NO_PREALLOC = 1, BPF_F_MMAPABLE = 1024 };
enum { BPF_SK_STORAGE_GET_F_CREATE = 1 };
enum { BPF_F_REUSE_STACKID = 1 << 10, BPF_F_FAST_STACK_CMP = 1 << 9, BPF_F_USER_STACK = 1 << 8 };
enum { BPF_RB_NO_WAKEUP = 1, BPF_RB_FORCE_WAKEUP = 2, BPF_RB_AVAIL_DATA = 0 };

/* Socket and protocol numbers (UAPI). */
enum { AF_UNIX = 1, AF_INET = 2, AF_INET6 = 10 };
enum { IPPROTO_ICMP = 1, IPPROTO_TCP = 6, IPPROTO_UDP = 17, IPPROTO_ICMPV6 = 58, IPPROTO_MPTCP = 262 };
enum { ETH_P_IP = 0x0800, ETH_P_IPV6 = 0x86DD };
enum {
	TCP_ESTABLISHED = 1,
	TCP_SYN_SENT,
	TCP_SYN_RECV,
	TCP_FIN_WAIT1,
	TCP_FIN_WAIT2,
	TCP_TIME_WAIT,
	TCP_CLOSE,
	TCP_CLOSE_WAIT,
	TCP_LAST_ACK,
	TCP_LISTEN,
	TCP_CLOSING,
	TCP_NEW_SYN_RECV,
};

/* Packet headers: what is on the wire, never relocated. */
struct in6_addr {
	__u8 s6_addr[16];
};

struct iphdr {
	__u8 ihl_version; /* ihl in the low 4 bits */
	__u8 tos;
	__be16 tot_len;
	__be16 id;
	__be16 frag_off;
	__u8 ttl;
	__u8 protocol;
	__sum16 check;
	__be32 saddr;
	__be32 daddr;
};

struct ipv6hdr {
	__u8 version_priority; /* version in the high 4 bits */
	__u8 flow_lbl[3];
	__be16 payload_len;
	__u8 nexthdr;
	__u8 hop_limit;
	struct in6_addr saddr;
	struct in6_addr daddr;
};

struct udphdr {
	__be16 source;
	__be16 dest;
	__be16 len;
	__sum16 check;
};

struct tcphdr {
	__be16 source;
	__be16 dest;
	__be32 seq;
	__be32 ack_seq;
	__u8 doff_res; /* doff in the high 4 bits */
	__u8 flags;    /* FIN 1, SYN 2, RST 4, PSH 8, ACK 16 */
	__be16 window;
	__sum16 check;
	__be16 urg_ptr;
};

/* Kernel structs: relocated. */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct list_head {
	struct list_head *next, *prev;
};

struct ns_common {
	unsigned int inum;
};

struct net {
	struct ns_common ns;
};

typedef struct {
	struct net *net;
} possible_net_t;

struct net_device {
	int ifindex;
	char name[16];
	possible_net_t nd_net;
};

struct inode {
	unsigned long i_ino;
};

struct file {
	struct inode *f_inode;
};

struct sock;

struct socket {
	short type;
	struct file *file;
	struct sock *sk;
};

/* A socket and its inode lie side by side (include/net/sock.h, SOCK_INODE). */
struct socket_alloc {
	struct socket socket;
	struct inode vfs_inode;
};

typedef struct {
	int counter;
} atomic_t;

typedef struct {
	__s64 counter;
} atomic64_t;

struct sk_buff {
	union {
		struct {
			struct sk_buff *next;
			struct sk_buff *prev;
			union {
				struct net_device *dev;
			};
		};
	};
	struct sock *sk;
	char cb[48];
	unsigned long _skb_refdst; /* struct dst_entry *, the lowest bit a flag */
	unsigned int len;
	unsigned int data_len;
	int skb_iif;
	__be16 protocol;
	__u16 transport_header;
	__u16 network_header;
	__u16 mac_header;
	unsigned char *head;
	unsigned char *data;
};

struct sk_buff_head {
	struct sk_buff *next;
	struct sk_buff *prev;
	__u32 qlen;
};

struct sock_common {
	union {
		struct {
			__be32 skc_daddr;
			__be32 skc_rcv_saddr;
		};
	};
	union {
		struct {
			__be16 skc_dport;
			__u16 skc_num;
		};
	};
	unsigned short skc_family;
	volatile unsigned char skc_state;
	possible_net_t skc_net;
	struct in6_addr skc_v6_daddr;
	struct in6_addr skc_v6_rcv_saddr;
	atomic64_t skc_cookie;
};

struct sock {
	struct sock_common __sk_common;
	struct {
		int owned;
	} sk_lock; /* socket_lock_t */
	atomic_t sk_drops;
	int sk_rcvbuf;
	int sk_sndbuf;
	int sk_wmem_queued;
	int sk_err;
	__u8 sk_shutdown;
	__u32 sk_max_ack_backlog; /* a listener's, and of the sockets that it accepted */
	__u16 sk_type;
	__u16 sk_protocol;
	struct sk_buff_head sk_receive_queue;
	struct sk_buff_head sk_write_queue;
	struct socket *sk_socket;
};

struct request_sock {
	struct sock_common __req_common;
};

struct inet_sock {
	struct sock sk;
	__be16 inet_sport;
};

typedef struct {
	atomic_t refs;
} refcount_t;

struct sockaddr_un {
	unsigned short sun_family;
	char sun_path[108];
};

/* An accepted socket shares its listener's (unix_stream_connect). */
struct unix_address {
	refcount_t refcnt;
	int len; /* of name, with its family */
	struct sockaddr_un name[];
};

struct unix_sock {
	struct sock sk;
	struct unix_address *addr; /* NULL: not bound */
	struct sock *peer;
};

struct inet_connection_sock {
	struct inet_sock icsk_inet;
	struct {
		__u8 pending;
	} icsk_ack;
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	__u64 bytes_received;
	__u64 bytes_acked;
	__u64 bytes_sent;
	__u32 segs_in;
	__u32 segs_out;
	__u32 snd_una;
	__u32 snd_nxt;
	__u32 snd_wnd;
	__u32 snd_cwnd;
	__u32 rcv_nxt;
	__u32 rcv_wnd;
	__u32 copied_seq;
	__u32 write_seq;
	__u32 mss_cache;
	__u32 packets_out;
	__u32 retrans_out;
	__u32 srtt_us; /* 8 × the smoothed round trip, µs */
	__u32 snd_sml; /* last byte of the most recent small segment: Minshall's form of Nagle */
	__u64 bytes_retrans;
	__u16 tcp_header_len;
	__u64 tcp_mstamp; /* of the last packet sent or received, µs */
	__u8 nonagle : 4;
};

/* What TCP keeps in sk_buff.cb (TCP_SKB_CB in include/net/tcp.h). */
struct tcp_skb_cb {
	__u32 seq;
	__u32 end_seq;
	__u32 ack_seq;
};

struct bpf_map;

struct bpf_iter_meta {
	__u64 session_id;
	__u64 seq_num;
};

/* What an iterator over all maps is given (kernel/bpf/map_iter.c). */
struct bpf_iter__bpf_map {
	union {
		struct bpf_iter_meta *meta;
	};
	union {
		struct bpf_map *map;
	};
};

/* What an iterator over the open files of all tasks is given (kernel/bpf/task_iter.c). */
struct bpf_iter__task_file {
	union {
		struct bpf_iter_meta *meta;
	};
	union {
		struct task_struct *task;
	};
	__u32 fd;
	union {
		struct file *file;
	};
};

/* What an iterator over a socket-storage map is given (net/core/bpf_sk_storage.c). */
struct bpf_iter__bpf_sk_storage_map {
	union {
		struct bpf_iter_meta *meta;
	};
	union {
		struct bpf_map *map;
	};
	union {
		struct sock *sk;
	};
	union {
		void *value;
	};
};

struct dst_entry {
	struct net_device *dev;
};

struct nsproxy {
	struct net *net_ns;
};

struct task_struct {
	int pid;  /* the thread */
	int tgid; /* the process */
	char comm[16];
	__u64 start_time;
	struct task_struct *real_parent;
	struct task_struct *group_leader;
	struct nsproxy *nsproxy;
};

struct kernel_siginfo {
	int si_signo;
	int si_errno;
	int si_code;
};

#pragma clang attribute pop

#endif /* SNAG_KERNEL_H */
