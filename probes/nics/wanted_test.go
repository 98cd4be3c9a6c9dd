package nics

import (
	"bufio"
	"fmt"
	"slices"
	"strings"
	"testing"
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
		picks, left := choose(names(t, file))
		var got []string
		for _, p := range picks {
			got = append(got, p.metric)
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
		"align_errors": "node_ethtool_align_errors", "rx7_out_of_buffer": "node_ethtool_rx7_out_of_buffer",
	} {
		if got := metricOf(stat); got != want {
			t.Errorf("%s is %s, want %s", stat, got, want)
		}
	}
}

func TestAThousandQueuesHaveABound(t *testing.T) {
	var all []string
	for q := range 1000 {
		all = append(all, fmt.Sprintf("rx_queue_%d_packets", q), fmt.Sprintf("rx_queue_%d_drops", q))
	}
	all = append(all, "rx_missed_errors")
	picks, left := choose(all)
	if len(picks) != mostTelling+mostQueues || left != len(all)-len(picks) {
		t.Errorf("%d picked, %d left of %d", len(picks), left, len(all))
	}
}
