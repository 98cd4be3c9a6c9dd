package suspects

import (
	"regexp"
	"strings"

	"snag/recording"
)

// ringStatistic is a driver's count of packets that its card had to drop because
// the receive ring held no free descriptor: names differ by driver.
type ringStatistic struct {
	driver string // as in ethtool -i; "" for any
	metric *regexp.Regexp
	name   string // as ethtool -S prints it
	source string // file of the kernel's drivers/net/ethernet
}

// ringStatistics in the order in which they are tried. Counters that only tell of
// a ring that was late to be filled (igb's rx_no_buffer_count: the packet waits in
// the card's own memory) are not among them.
var ringStatistics = []ringStatistic{
	{"ixgbe", ethtoolStat(`received_no_dma_resources`), "rx_no_dma_resources", "intel/ixgbe/ixgbe_ethtool.c"},
	{"ixgbe", ethtoolStat(`received_missed_errors`), "rx_missed_errors", "intel/ixgbe/ixgbe_ethtool.c"},
	{"igb", ethtoolStat(`received_missed_errors`), "rx_missed_errors", "intel/igb/igb_ethtool.c"},
	{"igc", ethtoolStat(`received_missed_errors`), "rx_missed_errors", "intel/igc/igc_ethtool.c"},
	{"e1000e", ethtoolStat(`received_missed_errors`), "rx_missed_errors", "intel/e1000e/ethtool.c"},
	{"e1000", ethtoolStat(`received_missed_errors`), "rx_missed_errors", "intel/e1000/e1000_ethtool.c"},
	{"i40e", ethtoolStat(`port_received_(discards|dropped)`), "port.rx_discards", "intel/i40e/i40e_ethtool.c"},
	{"ice", ethtoolStat(`received_dropped_nic`), "rx_dropped.nic", "intel/ice/ice_ethtool.c"},
	{"mlx5_core", ethtoolStat(`received_out_of_buffer`), "rx_out_of_buffer", "mellanox/mlx5/core/en_stats.c"},
	{"ena", ethtoolStat(`received_(drops|overruns)`), "rx_drops", "amazon/ena/ena_ethtool.c"},
	{"bnxt_en", ethtoolStat(`received_total_discard_pkts`), "rx_total_discard_pkts", "broadcom/bnxt/bnxt_ethtool.c"},
	{"bnx2x", ethtoolStat(`received_discards`), "rx_discards", "broadcom/bnx2x/bnx2x_ethtool.c"},
	{"tg3", ethtoolStat(`received_discards`), "rx_discards", "broadcom/tg3.c"},
	{"sfc", ethtoolStat(`port_received_nodesc_drops`), "port_rx_nodesc_drops", "sfc/ef10.c"},
	{"r8169", ethtoolStat(`received_missed`), "rx_missed", "realtek/r8169_main.c"},
	{"be2net", ethtoolStat(`received_drops_no_pbuf`), "rx_drops_no_pbuf", "emulex/benet/be_ethtool.c"},
	{"", ethtoolStat(`received_(missed_errors|fifo_errors|out_of_buffer|no_dma_resources|over_errors)`), "rx_missed_errors, rx_fifo_errors", "any"},
}

func ethtoolStat(pattern string) *regexp.Regexp {
	return regexp.MustCompile(`^node_ethtool_` + pattern + `$`)
}

// nicSeries are the driver's statistics of one interface: all series of
// node_ethtool_… with its label.
func nicSeries(r *recording.Recording, netns uint64, device string) []recording.Series {
	var out []recording.Series
	for _, s := range r.Series {
		if strings.HasPrefix(s.Name, "node_ethtool_") && s.Labels["device"] == device && netnsOf(r, s) == namespace(r, netns) && len(s.Points) >= 2 {
			out = append(out, s)
		}
	}
	return out
}

// hardwareNICs are the interfaces with hardware behind them, the last row of each.
func hardwareNICs(r *recording.Recording) []recording.NIC {
	type key struct {
		netns  uint64
		device string
	}
	at := map[key]int{}
	var out []recording.NIC
	for _, n := range r.NICs {
		k := key{namespace(r, n.Netns), n.Device}
		if i, ok := at[k]; ok {
			out[i] = n
		} else if n.Bus != "" {
			at[k] = len(out)
			out = append(out, n)
		}
	}
	return out
}

// grownStatistic is the growth of the one of a card's statistics that matches and grew
// most. Where several count the same packets (ixgbe's two) the greater one stands
// for them. False where the card has none of them.
func grownStatistic(all []recording.Series, driver string, table []ringStatistic) (found ringStatistic, grown steps, ok bool) {
	for _, t := range table {
		if t.driver != driver && (t.driver != "" || inTable(driver, table)) {
			continue
		}
		for _, s := range all {
			if t.metric.MatchString(s.Name) {
				if n := stepsOf(s); !ok || n.sum() > grown.sum() {
					found, grown = t, n
				}
				ok = true
			}
		}
	}
	return found, grown, ok
}

func inTable(driver string, table []ringStatistic) bool {
	for _, t := range table {
		if t.driver == driver {
			return true
		}
	}
	return false
}

// nicCount is the growth of one statistic of a card.
func nicCount(all []recording.Series, metric string) (float64, bool) {
	for _, s := range all {
		if s.Name == "node_ethtool_"+metric {
			return s.Increase()
		}
	}
	return 0, false
}
