package pool

import "testing"

func TestSpinsBy(t *testing.T) {
	for name, want := range map[string]bool{
		"pthread_spin_lock": true, "__pthread_spin_lock": true, "tbb::detail::spin_mutex::lock": true, "ngx_spinlock": true,
		"base::internal::SpinLock::SlowLock": true, "ObjectMonitor::TrySpin": true, "runtime.procyield": true, "s_lock": true, "rte_spinlock_lock": true,
		"pthread_spin_unlock": false, "Lattice::updateSpins": false, "flip_spin": false, "spinner_draw": false, "memcpy": false, "encode_block": false, "lock_table": false, "": false,
	} {
		if want != spinsBy(name) {
			t.Errorf("%q: spins %v, want %v", name, !want, want)
		}
	}
}
