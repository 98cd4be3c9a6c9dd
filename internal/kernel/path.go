package kernel

import "strings"

// pathNames are functions of the kernel that say which path it is on; what a
// driver or a subsystem does is below them.
var pathNames = map[string]bool{
	"ip_rcv": true, "ipv6_rcv": true, "ip_local_deliver": true, "ip6_input": true, "ip_forward": true, "ip6_forward": true,
	"ip_output": true, "ip6_output": true, "__dev_queue_xmit": true, "tcp_v4_rcv": true, "tcp_v6_rcv": true, "udp_rcv": true, "udpv6_rcv": true,
	"tcp_sendmsg": true, "udp_sendmsg": true, "udpv6_sendmsg": true, "net_rx_action": true, "net_tx_action": true,
	"try_to_free_pages": true, "try_to_compact_pages": true, "kswapd": true, "kcompactd": true, "do_exit": true, "exc_page_fault": true, "do_page_fault": true, "do_mem_abort": true,
	"blk_mq_run_hw_queue": true, "blk_mq_run_hw_queues": true, "vfs_read": true, "vfs_write": true, "vfs_fsync_range": true,
	"do_epoll_wait": true, "do_futex": true, "load_balance": true, "run_timer_softirq": true, "rcu_core": true,
	"common_interrupt": true, "sysvec_apic_timer_interrupt": true, "el0_interrupt": true, "el1_interrupt": true,
}

// above are functions that call one of many: the one below them names the path.
var above = map[string]bool{
	"dev_hard_start_xmit": true, // a driver's transmit
	"__napi_poll":         true, // a driver's receive
	"napi_poll":           true,
	"process_one_work":    true, // a work item
	"kthread":             true, // a kernel thread
	"call_timer_fn":       true, // a timer
	"do_syscall_64":       true, // a system call
	"invoke_syscall":      true, // the same on arm64
	"x64_sys_call":        true,
}

// Path names the kernel function that ran and, of those that called it, the nearest
// that names the path: a driver's transmit, a protocol's receive, a system call; ""
// where none does. frames are the kernel's, innermost first.
func Path(frames []string) (function, caller string) {
	if len(frames) == 0 {
		return "", ""
	}
	for i, f := range frames[1:] {
		switch {
		case pathNames[f], strings.HasPrefix(f, "__x64_sys_"), strings.HasPrefix(f, "__ia32_sys_"), strings.HasPrefix(f, "__arm64_sys_"):
			return frames[0], f
		case above[f] && i > 0: // frames[i] is below f
			return frames[0], frames[i]
		}
	}
	return frames[0], ""
}
