package net

import "testing"

// The series are those of the statistics' names, as the probe writes them
// (probes/nics, TestPicksEachDriversCountOfAFullRing).
func TestEachDriversCountOfAFullRingIsRead(t *testing.T) {
	for _, c := range []struct{ driver, series string }{
		{"ixgbe", "received_no_dma_resources"}, {"ixgbe", "received_missed_errors"}, {"igb", "received_missed_errors"},
		{"igc", "received_missed_errors"}, {"e1000e", "received_missed_errors"}, {"e1000", "received_missed_errors"},
		{"i40e", "port_received_discards"}, {"i40e", "port_received_dropped"}, {"ice", "received_dropped_nic"},
		{"mlx5_core", "received_out_of_buffer"}, {"ena", "received_drops"}, {"bnxt_en", "received_total_ring_discards"},
		{"bnxt_en", "received_total_discard_pkts"}, {"bnx2x", "received_discards"}, {"tg3", "received_discards"},
		{"sfc", "port_received_nodesc_drops"}, {"r8169", "received_missed"}, {"be2net", "received_drops_no_pbuf"},
		{"be2net", "rxq3_received_drops_no_frags"}, {"vmxnet3", "pkts_received_oob"}, {"atlantic", "received_fifo_errors"},
	} {
		found := false
		for _, s := range ringStatistics {
			found = found || s.driver == c.driver && s.metric.MatchString("node_ethtool_"+c.series)
		}
		if !found && inTable(c.driver, ringStatistics) {
			t.Errorf("%s: %s is not read", c.driver, c.series)
		}
		if generic := ringStatistics[len(ringStatistics)-1]; !found && !generic.metric.MatchString("node_ethtool_"+c.series) {
			t.Errorf("%s, a driver not listed: %s is not read", c.driver, c.series)
		}
	}
	// Counts of packets that were not lost for want of a buffer.
	for driver, series := range map[string]string{"igb": "received_no_buffer_count", "virtio_net": "received_drops", "hv_netvsc": "received_no_memory", "i40e": "received_alloc_fail"} {
		for _, s := range ringStatistics {
			if (s.driver == driver || s.driver == "") && s.metric.MatchString("node_ethtool_"+series) {
				t.Errorf("%s: %s is taken for a full ring", driver, series)
			}
		}
	}
}
