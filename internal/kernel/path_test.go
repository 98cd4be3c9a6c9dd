package kernel

import "testing"

// The paths are those of real stacks (Linux 6.18, perf script).
func TestWhatRanAndWhoseDoingItWas(t *testing.T) {
	for _, c := range []struct {
		frames           []string
		function, caller string
	}{
		{nil, "", ""},
		{[]string{"nft_do_chain", "nft_do_chain_inet", "nf_hook_slow", "ip_local_deliver", "ip_rcv", "__netif_receive_skb"}, "nft_do_chain", "ip_local_deliver"},
		{[]string{"debug_dma_map_page", "ixgbe_tx_map", "ixgbe_xmit_frame_ring", "ixgbe_xmit_frame", "dev_hard_start_xmit", "sch_direct_xmit"}, "debug_dma_map_page", "ixgbe_xmit_frame"},
		{[]string{"copy_page_to_iter", "filemap_read", "vfs_read", "__x64_sys_pread64", "do_syscall_64"}, "copy_page_to_iter", "vfs_read"},
		{[]string{"_raw_spin_lock", "futex_wake", "__x64_sys_futex", "do_syscall_64"}, "_raw_spin_lock", "__x64_sys_futex"},
		{[]string{"do_something", "ksys_something", "do_syscall_64"}, "do_something", "ksys_something"},
		{[]string{"do_syscall_64", "entry_SYSCALL_64_after_hwframe"}, "do_syscall_64", ""},
		{[]string{"memset", "wb_workfn", "process_one_work", "worker_thread", "kthread"}, "memset", "wb_workfn"},
		{[]string{"ip_rcv", "net_rx_action"}, "ip_rcv", "net_rx_action"},
	} {
		if f, by := Path(c.frames); f != c.function || by != c.caller {
			t.Errorf("%v: %q by %q", c.frames, f, by)
		}
	}
}
