package nics

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"snag/internal/nicstats"
)

// names reads the statistics of an `ethtool -S`.
func names(t *testing.T, file string) (out []string) {
	t.Helper()
	lines := bufio.NewScanner(strings.NewReader(string(fixture(t, file))))
	for lines.Scan() {
		if i := strings.LastIndex(lines.Text(), ": "); i > 0 && strings.HasPrefix(lines.Text(), "     ") {
			out = append(out, strings.TrimSpace(lines.Text()[:i]))
		}
	}
	if len(out) < 8 {
		t.Fatalf("%s: %d statistics", file, len(out))
	}
	return out
}

func TestPicksWhatTells(t *testing.T) {
	for file, want := range map[string][]string{
		"ixgbe.txt":  {"node_ethtool_received_missed_errors", "node_ethtool_received_no_dma_resources", "node_ethtool_fdir_miss", "node_ethtool_fdir_match", "node_ethtool_fdir_overflow", "node_ethtool_received_queue_20_packets", "node_ethtool_lsc_int"},
		"virtio.txt": {"node_ethtool_received_drops"},
		"ena.txt":    {"node_ethtool_queue_3_received_empty_received_ring"},
	} {
		picks, left := nicstats.Choose(names(t, file))
		var got []string
		for _, p := range picks {
			got = append(got, p.Metric)
		}
		for _, w := range want {
			if !slices.Contains(got, w) {
				t.Errorf("%s: %s is not picked of %q", file, w, got)
			}
		}
		if left != 0 {
			t.Errorf("%s: %d left", file, left)
		}
		for _, g := range got {
			if strings.Contains(g, "bytes") || strings.Contains(g, "fcoe") || strings.Contains(g, "xdp") {
				t.Errorf("%s: %s tells nothing", file, g)
			}
		}
	}
}

// As node_exporter's own tests name them (collector/ethtool_linux_test.go).
func TestNamesAreNodeExporters(t *testing.T) {
	for stat, want := range map[string]string{
		"rx_missed_errors": "node_ethtool_received_missed_errors", "tx_aborted": "node_ethtool_transmitted_aborted",
		"rx_dropped": "node_ethtool_received_dropped_total", "port.rx_dropped": "node_ethtool_port_received_dropped",
		"[0]: rx_discards": "node_ethtool_0_received_discards", "rx-0.packets": "node_ethtool_received_0_packets",
		"  pkts rx OOB": "node_ethtool_pkts_received_oob", "rxq0: rx_drops_no_frags": "node_ethtool_rxq0_received_drops_no_frags",
		"align_errors": "node_ethtool_align_errors", "rx7_out_of_buffer": "node_ethtool_rx7_out_of_buffer",
	} {
		if got := nicstats.MetricOf(stat); got != want {
			t.Errorf("%s is %s, want %s", stat, got, want)
		}
	}
}

// The names that suspects/net/nic_statistics.go reads: each is picked, and recorded from
// the first reading where it is a whole card's.
func TestPicksEachDriversCountOfAFullRing(t *testing.T) {
	for _, n := range []string{
		"rx_no_dma_resources", "rx_missed_errors", "port.rx_discards", "port.rx_dropped", "rx_dropped.nic", "rx_out_of_buffer", "rx_drops",
		"rx_total_ring_discards", "rx_total_discard_pkts", "rx_discards", "port_rx_nodesc_drops", "rx_missed", "rx_drops_no_pbuf",
		"rxq0: rx_drops_no_frags", "  pkts rx OOB", "rx_fifo_errors", "rx_over_errors",
	} {
		if picks, _ := nicstats.Choose([]string{"tx_bytes", n}); len(picks) != 1 || picks[0].Places[0] != 1 || picks[0].Always == nicstats.HasDigit(n) {
			t.Errorf("%s: %+v", n, picks)
		}
	}
}

// vmxnet3 lists the same names for each of its queues (vmxnet3_get_strings).
func TestCountersOfTheSameNameAreAddedUp(t *testing.T) {
	picks, left := nicstats.Choose([]string{"Rx Queue#", "  pkts rx OOB", "  pkts rx err", "Rx Queue#", "  pkts rx OOB", "pkts.rx.OOB"})
	if len(picks) != 1 || left != 0 {
		t.Fatalf("%+v, %d left", picks, left)
	}
	values := make([]byte, 6*8)
	for i := range 6 {
		binary.NativeEndian.PutUint64(values[8*i:], uint64(1)<<(4*i))
	}
	if n, ok := picks[0].Of(values); !ok || n != 1<<4+1<<16 {
		t.Errorf("%x, %v", n, ok)
	}
	if n, ok := picks[0].Of(values[:5*8-1]); ok {
		t.Errorf("of an answer that is cut off: %x", n)
	}
}

func TestAThousandQueuesHaveABound(t *testing.T) {
	var all []string
	for q := range 1000 {
		all = append(all, fmt.Sprintf("rx_queue_%d_packets", q), fmt.Sprintf("rx_queue_%d_drops", q))
	}
	all = append(all, "rx_missed_errors")
	picks, left := nicstats.Choose(all)
	if len(picks) != nicstats.MostTelling+nicstats.MostQueues || left != len(all)-len(picks) {
		t.Errorf("%d picked, %d left of %d", len(picks), left, len(all))
	}
}
