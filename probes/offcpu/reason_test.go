package offcpu

import (
	"strings"
	"testing"

	"snag/recording"
)

// The stacks are those of Linux 6.18 and 5.10, as /proc/PID/task/TID/stack shows them.
func TestReasonOf(t *testing.T) {
	for _, c := range []struct {
		name, call, stack, file string
		how                     uint8
		want                    string
	}{
		{name: "a lock", call: "futex", how: howSleep, stack: "futex_wait_queue __futex_wait futex_wait do_futex __x64_sys_futex", want: recording.WaitFutex},
		{name: "a lock, 5.10", call: "futex", how: howSleep, stack: "futex_wait_queue_me futex_wait do_futex", want: recording.WaitFutex},
		{name: "a read from TCP", call: "read", how: howSleep, stack: "wait_woken sk_wait_data tcp_recvmsg_locked tcp_recvmsg inet_recvmsg sock_read_iter vfs_read", want: recording.WaitSocket},
		{name: "a full send buffer", call: "write", how: howSleep, stack: "wait_woken sk_stream_wait_memory tcp_sendmsg_locked", want: recording.WaitSocket},
		{name: "accept", call: "accept4", how: howSleep, stack: "inet_csk_accept inet_accept do_accept", want: recording.WaitSocket},
		{name: "a pipe", call: "read", how: howSleep, stack: "anon_pipe_read vfs_read ksys_read", want: recording.WaitPipe},
		{name: "a pipe, 5.10", call: "read", how: howSleep, stack: "pipe_read new_sync_read vfs_read", want: recording.WaitPipe},
		{name: "epoll", call: "epoll_wait", how: howSleep, stack: "ep_poll do_epoll_wait", want: recording.WaitPoll},
		{name: "poll", call: "poll", how: howSleep, stack: "poll_schedule_timeout do_sys_poll", want: recording.WaitPoll},
		{name: "sleep", call: "clock_nanosleep", how: howSleep, stack: "hrtimer_nanosleep common_nsleep", want: recording.WaitSleep},
		{name: "a disk", call: "read", how: howDisk, stack: "io_schedule folio_wait_bit_common filemap_get_pages filemap_read ext4_file_read_iter", want: recording.WaitDisk},
		{name: "fsync", call: "fsync", how: howDisk, stack: "jbd2_log_wait_commit ext4_sync_file", want: recording.WaitDisk},
		{name: "a mutex of the kernel on the way to a socket", call: "sendto", how: howDisk, stack: "__mutex_lock.constprop.0 unix_stream_sendmsg", want: recording.WaitKernel},
		{name: "reclaim", call: "", how: howDisk, stack: "reclaim_throttle shrink_node try_to_free_pages __alloc_pages_slowpath", want: recording.WaitKernel},
		{name: "a child", call: "wait4", how: howSleep, stack: "do_wait kernel_wait4", want: recording.WaitChild},
		{name: "stopped", call: "read", how: howStopped, want: recording.WaitStopped},
		{name: "preempted", call: "read", how: howReady, stack: "tcp_recvmsg", want: recording.WaitRunQueue},
		{name: "no stack: by the call", call: "recvfrom", how: howSleep, want: recording.WaitSocket},
		{name: "no stack: by the descriptor", call: "read", how: howSleep, file: "pipe:[123]", want: recording.WaitPipe},
		{name: "no stack: a file", call: "read", how: howDisk, file: "/var/lib/x", want: recording.WaitDisk},
		{name: "nothing known", call: "read", how: howSleep, want: recording.WaitOther},
		{name: "uninterruptible, nothing known", how: howDisk, want: recording.WaitKernel},
	} {
		if got := reasonOf(c.how, c.call, strings.Fields(c.stack), c.file); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestByInterrupt(t *testing.T) {
	for stack, want := range map[string]bool{
		"try_to_wake_up wake_up_q futex_wake do_futex __x64_sys_futex do_syscall_64":                                                                     false,
		"try_to_wake_up autoremove_wake_function sock_def_readable tcp_data_queue __local_bh_enable_ip __dev_queue_xmit tcp_sendmsg":                     false,
		"try_to_wake_up hrtimer_wakeup __hrtimer_run_queues hrtimer_interrupt __sysvec_apic_timer_interrupt sysvec_apic_timer_interrupt asm_sysvec_apic": true,
		"try_to_wake_up sock_def_readable tcp_rcv_established net_rx_action handle_softirqs __irq_exit_rcu common_interrupt":                             true,
		"try_to_wake_up swake_up_one rcu_gp_kthread": false,
	} {
		if got := byInterrupt(strings.Fields(stack)); got != want {
			t.Errorf("%s: %v", stack, got)
		}
	}
}
