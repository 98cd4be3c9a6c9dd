package offcpu

import (
	"strings"

	"snag/recording"
)

// How a thread left its CPU: enum how of tables.h.
const (
	howSleep = iota + 1
	howDisk
	howStopped
	howReady
)

// byCall is the reason of calls that wait for one kind of thing only.
var byCall = map[string]string{
	"futex": recording.WaitFutex, "futex_wait": recording.WaitFutex, "futex_waitv": recording.WaitFutex,
	"recvfrom": recording.WaitSocket, "recvmsg": recording.WaitSocket, "recvmmsg": recording.WaitSocket,
	"sendto": recording.WaitSocket, "sendmsg": recording.WaitSocket, "sendmmsg": recording.WaitSocket,
	"accept": recording.WaitSocket, "accept4": recording.WaitSocket, "connect": recording.WaitSocket,
	"epoll_wait": recording.WaitPoll, "epoll_pwait": recording.WaitPoll, "epoll_pwait2": recording.WaitPoll,
	"poll": recording.WaitPoll, "ppoll": recording.WaitPoll, "select": recording.WaitPoll, "pselect6": recording.WaitPoll,
	"nanosleep": recording.WaitSleep, "clock_nanosleep": recording.WaitSleep, "pause": recording.WaitSleep,
	"rt_sigsuspend": recording.WaitSleep, "rt_sigtimedwait": recording.WaitSleep,
	"wait4": recording.WaitChild, "waitid": recording.WaitChild, "vfork": recording.WaitChild,
	"fsync": recording.WaitDisk, "fdatasync": recording.WaitDisk, "sync_file_range": recording.WaitDisk, "syncfs": recording.WaitDisk, "sync": recording.WaitDisk,
}

// byFunction is the reason that a function of the kernel on the stack tells; a name
// that ends in * is a beginning. The innermost that is known counts. Functions that
// are inlined on one kernel are not on another: so several of each path are here.
var byFunction = []struct{ name, reason string }{
	// Locks and memory of the kernel, whatever the call was about.
	{"__mutex_lock*", recording.WaitKernel}, {"mutex_lock*", recording.WaitKernel}, {"rwsem_down_*", recording.WaitKernel},
	{"down_read*", recording.WaitKernel}, {"down_write*", recording.WaitKernel}, {"__down*", recording.WaitKernel},
	{"percpu_rwsem_wait", recording.WaitKernel}, {"rt_mutex_*", recording.WaitKernel}, {"synchronize_rcu*", recording.WaitKernel},
	{"try_to_free_pages", recording.WaitKernel}, {"try_to_compact_pages", recording.WaitKernel}, {"shrink_*", recording.WaitKernel},
	{"reclaim_throttle", recording.WaitKernel}, {"try_to_free_mem_cgroup_pages", recording.WaitKernel}, {"mem_cgroup_handle_over_high", recording.WaitKernel},
	{"oom_kill*", recording.WaitKernel},
	// Block devices and filesystems.
	{"io_schedule*", recording.WaitDisk}, {"folio_wait_*", recording.WaitDisk}, {"wait_on_page_*", recording.WaitDisk}, {"__lock_page*", recording.WaitDisk},
	{"blk_*", recording.WaitDisk}, {"submit_bio*", recording.WaitDisk}, {"bit_wait_io", recording.WaitDisk}, {"filemap_*", recording.WaitDisk},
	{"balance_dirty_pages*", recording.WaitDisk}, {"jbd2_*", recording.WaitDisk}, {"ext4_*", recording.WaitDisk}, {"xfs_*", recording.WaitDisk},
	{"btrfs_*", recording.WaitDisk}, {"nfs_*", recording.WaitDisk}, {"rpc_wait_bit_killable", recording.WaitDisk}, {"fuse_*", recording.WaitDisk},
	{"vfs_fsync*", recording.WaitDisk},
	// Polling wakes by many files: before the files themselves.
	{"ep_poll", recording.WaitPoll}, {"do_epoll_wait", recording.WaitPoll}, {"do_sys_poll", recording.WaitPoll}, {"do_select", recording.WaitPoll},
	{"poll_schedule_timeout", recording.WaitPoll},
	{"futex_*", recording.WaitFutex}, {"__futex_*", recording.WaitFutex}, {"do_futex", recording.WaitFutex},
	{"pipe_*", recording.WaitPipe}, {"anon_pipe_*", recording.WaitPipe}, {"eventfd_*", recording.WaitPipe}, {"n_tty_*", recording.WaitPipe}, {"tty_*", recording.WaitPipe}, {"wait_for_partner", recording.WaitPipe},
	{"sk_wait_data", recording.WaitSocket}, {"sk_stream_wait_*", recording.WaitSocket}, {"inet_*", recording.WaitSocket}, {"tcp_*", recording.WaitSocket},
	{"udp_*", recording.WaitSocket}, {"unix_*", recording.WaitSocket}, {"__skb_wait_for_more_packets", recording.WaitSocket}, {"sock_*", recording.WaitSocket}, {"netlink_*", recording.WaitSocket},
	{"__sys_recv*", recording.WaitSocket}, {"__sys_send*", recording.WaitSocket},
	{"hrtimer_nanosleep", recording.WaitSleep}, {"do_nanosleep", recording.WaitSleep}, {"timerfd_read*", recording.WaitSleep}, {"do_sigtimedwait", recording.WaitSleep},
	{"do_wait", recording.WaitChild}, {"kernel_wait4", recording.WaitChild}, {"wait_for_vfork_done", recording.WaitChild},
	{"do_signal_stop", recording.WaitStopped}, {"ptrace_stop", recording.WaitStopped}, {"do_freezer_trap", recording.WaitStopped}, {"do_jobctl_trap", recording.WaitStopped},
	{"exit_mm", recording.WaitKernel}, {"do_exit", recording.WaitKernel}, {"rwb_*", recording.WaitDisk}, {"wbt_wait", recording.WaitDisk},
}

// byFile is the reason of a read or write by what its descriptor is: the beginning
// of the link /proc/PID/fd/N.
var byFile = []struct{ prefix, reason string }{
	{"socket:", recording.WaitSocket}, {"pipe:", recording.WaitPipe}, {"anon_inode:[eventfd]", recording.WaitPipe},
	{"anon_inode:[timerfd]", recording.WaitSleep}, {"anon_inode:[eventpoll]", recording.WaitPoll}, {"anon_inode:inotify", recording.WaitPoll},
	{"/dev/pts/", recording.WaitPipe}, {"/dev/tty", recording.WaitPipe},
}

// reasonOf reports what a thread waited for: by how it left the CPU, the functions of
// the kernel it stood in (innermost first; none where no stack was taken), its call,
// and what the call's descriptor is ("" not known).
func reasonOf(how uint8, call string, functions []string, file string) string {
	switch how {
	case howReady:
		return recording.WaitRunQueue
	case howStopped:
		return recording.WaitStopped
	}
	for _, f := range functions {
		for _, known := range byFunction {
			beginning, open := strings.CutSuffix(known.name, "*")
			if f == known.name || open && strings.HasPrefix(f, beginning) {
				return known.reason
			}
		}
	}
	if reason, ok := byCall[call]; ok {
		return reason
	}
	for _, known := range byFile {
		if strings.HasPrefix(file, known.prefix) {
			return known.reason
		}
	}
	if how == howDisk {
		if strings.HasPrefix(file, "/") {
			return recording.WaitDisk
		}
		return recording.WaitKernel
	}
	return recording.WaitOther
}

// interrupts are the functions by which a CPU leaves what it does for an interrupt.
// A thread that stands below one of them woke nobody: the interrupt did.
var interrupts = []string{
	"irq_exit_rcu", "__irq_exit_rcu", "irq_exit", "common_interrupt", "asm_common_interrupt", "sysvec_*", "asm_sysvec_*",
	"el1_interrupt", "el0_interrupt", "el1h_64_irq*", "el0t_64_irq*", "handle_irq*", "__handle_irq*", "gic_handle_irq", "do_idle", "cpu_idle*", "default_idle*",
}

// byInterrupt tells by the kernel's functions of who woke a thread that it was an
// interrupt, or the idle CPU.
func byInterrupt(functions []string) bool {
	for _, f := range functions {
		for _, known := range interrupts {
			beginning, open := strings.CutSuffix(known, "*")
			if f == known || open && strings.HasPrefix(f, beginning) {
				return true
			}
		}
	}
	return false
}
