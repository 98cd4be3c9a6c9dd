package net

import (
	"regexp"
	"strings"

	"snag/recording"
	"snag/suspects/measure"
)

// ringStatistic is a driver's count of packets that its card had to drop because
// the receive ring held no free descriptor: names differ by driver.
type ringStatistic struct {
	driver string // as in ethtool -i; "" for any
	metric *regexp.Regexp
	name   string // as ethtool -S prints it
	source string // file of the kernel's drivers/net that has the name
}

// ringStatistics in the order in which they are tried, each as the driver's source
// has it; what the count is of, in brackets, is the source's own word for it.
// Counters that only tell of a ring that was late to be filled (rx_no_buffer_count
// of igb and its kin, RNBC: the packet waits in the card's own memory) are not among
// them, nor those of a failed allocation (rx_alloc_fail of i40e, rx_no_memory of
// hv_netvsc) or of bad packets (rx_drops of virtio_net); these two drivers count no
// full ring.
var ringStatistics = []ringStatistic{
	{"ixgbe", ethtoolStat(`received_no_dma_resources`), "rx_no_dma_resources", "ethernet/intel/ixgbe/ixgbe_ethtool.c (hw_rx_no_dma_resources)"},
	{"ixgbe", ethtoolStat(`received_missed_errors`), "rx_missed_errors", "ethernet/intel/ixgbe/ixgbe_ethtool.c (rx_missed_errors)"},
	{"igb", ethtoolStat(`received_missed_errors`), "rx_missed_errors", "ethernet/intel/igb/igb_ethtool.c (stats.mpc)"},
	{"igc", ethtoolStat(`received_missed_errors`), "rx_missed_errors", "ethernet/intel/igc/igc_ethtool.c (stats.mpc)"},
	{"e1000e", ethtoolStat(`received_missed_errors`), "rx_missed_errors", "ethernet/intel/e1000e/ethtool.c (stats.mpc)"},
	{"e1000", ethtoolStat(`received_missed_errors`), "rx_missed_errors", "ethernet/intel/e1000/e1000_ethtool.c (stats.mpc)"},
	// port.rx_dropped was renamed when rx_missed_errors was given its value.
	{"i40e", ethtoolStat(`port_received_(discards|dropped)`), "port.rx_discards", "ethernet/intel/i40e/i40e_ethtool.c (stats.eth.rx_discards)"},
	{"ice", ethtoolStat(`received_dropped_nic`), "rx_dropped.nic", "ethernet/intel/ice/ice_ethtool.c (stats.eth.rx_discards)"},
	{"mlx5_core", ethtoolStat(`received_out_of_buffer`), "rx_out_of_buffer", "ethernet/mellanox/mlx5/core/en_stats.c (q_stats_desc)"},
	{"ena", ethtoolStat(`received_drops`), "rx_drops", "ethernet/amazon/ena/ena_ethtool.c (ena_stats_global_strings)"},
	{"bnxt_en", ethtoolStat(`received_total_(ring_discards|discard_pkts)`), "rx_total_ring_discards (rx_total_discard_pkts of older drivers)", "ethernet/broadcom/bnxt/bnxt_ethtool.c (bnxt_ring_err_stats_arr)"},
	{"bnx2x", ethtoolStat(`received_discards`), "rx_discards", "ethernet/broadcom/bnx2x/bnx2x_ethtool.c (no_buff_discard)"},
	// Its rx_missed_errors is this one (tg3_get_nstats).
	{"tg3", ethtoolStat(`received_discards`), "rx_discards", "ethernet/broadcom/tg3.c (ethtool_stats_keys)"},
	{"sfc", ethtoolStat(`port_received_nodesc_drops`), "port_rx_nodesc_drops", "ethernet/sfc/ef10.c (RX_NODESC_DROPS)"},
	{"r8169", ethtoolStat(`received_missed`), "rx_missed", "ethernet/realtek/r8169_main.c (rtl8169_gstrings)"},
	{"be2net", ethtoolStat(`received_drops_no_pbuf`), "rx_drops_no_pbuf", "ethernet/emulex/benet/be_ethtool.c (lack of available HW packet buffers)"},
	{"be2net", ethtoolStat(`rxq\d+_received_drops_no_frags`), "rxqN: rx_drops_no_frags", "ethernet/emulex/benet/be_ethtool.c (lack of buffers posted by the driver)"},
	{"vmxnet3", ethtoolStat(`pkts_received_oob`), "pkts rx OOB", "vmxnet3/vmxnet3_ethtool.c (pktsRxOutOfBuf)"},
	// Of a driver that is not listed, what struct rtnl_link_stats64 means by these names:
	// dropped for lack of buffers, of the receive queue or the card.
	{"", ethtoolStat(`received_(missed_errors|fifo_errors|over_errors)`), "rx_missed_errors, rx_fifo_errors, rx_over_errors", "include/uapi/linux/if_link.h"},
}

func ethtoolStat(pattern string) *regexp.Regexp {
	return regexp.MustCompile(`^node_ethtool_` + pattern + `$`)
}

// nicSeries are the driver's statistics of one interface: all series of
// node_ethtool_… with its label.
func nicSeries(r *recording.Recording, netns uint64, device string) []recording.Series {
	var out []recording.Series
	for _, s := range r.Series {
		if strings.HasPrefix(s.Name, "node_ethtool_") && s.Labels["device"] == device && measure.NetnsOf(r, s) == measure.Namespace(r, netns) && len(s.Points) >= 2 {
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
		k := key{measure.Namespace(r, n.Netns), n.Device}
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
func grownStatistic(all []recording.Series, driver string, table []ringStatistic) (found ringStatistic, grown measure.Steps, ok bool) {
	for _, t := range table {
		if t.driver != driver && (t.driver != "" || inTable(driver, table)) {
			continue
		}
		for _, s := range all {
			if t.metric.MatchString(s.Name) {
				if n := measure.StepsOf(s); !ok || n.Sum() > grown.Sum() {
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
