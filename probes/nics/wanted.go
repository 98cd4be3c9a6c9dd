package nics

import (
	"regexp"
	"strings"
)

// Statistics that tell of packets lost or not fetched in time, of the flow
// director, and of interrupts; by the drivers' own names, which differ:
// drivers/net/ethernet/intel/ixgbe/ixgbe_ethtool.c rx_missed_errors
// rx_no_dma_resources fdir_match fdir_miss fdir_overflow alloc_rx_buff_failed,
// intel/i40e/i40e_ethtool.c port.rx_dropped port.fdir_atr_match rx_alloc_fail,
// mellanox/mlx5/core/en_stats.c rx_out_of_buffer rx_discards_phy rx_buff_alloc_err
// chN_events, amazon/ena/ena_ethtool.c rx_drops queue_N_rx_empty_rx_ring
// queue_N_tx_napi_comp, broadcom/bnx2x/bnx2x_ethtool.c [N]: rx_discards,
// sfc/nic.c port_rx_nodesc_drops, drivers/net/virtio_net.c rx_queue_N_drops.
var (
	telling = regexp.MustCompile(`(?i)drop|discard|miss|no_?buf|no_?dma|no_?desc|fifo|over_?run|overflow|out_of_buffer|buff?er?s?_full|empty_rx_ring|refill?_|fdir|exhaust|alloc.*fail|fail.*alloc|alloc_err|no_?skb|no_frags|post_fail|_err(or)?s?$`)
	// A queue's own packets: how a card spreads them. And its interrupts or polls.
	perQueue = regexp.MustCompile(`(?i)^(\[\d+\]: )?([rt]x[-_]?(queue[-_])?\d+[-_.:]?\s?([rt]x[-_])?(packets|pkts)|queue_\d+_[rt]x_(cnt|packets)|[rt]x_?\d+_packets|\[\d+\]: [rt]x_ucast_packets)$`)
	wakes    = regexp.MustCompile(`(?i)(^|_)(irqs?|intr|interrupts?|events|poll|napi_comp|lsc_int)(_|$|\d)`)
	// Errors that no ring or CPU can help: of the cable, of features nobody uses.
	beside = regexp.MustCompile(`(?i)fcoe|ipsec|macsec|tls|ptp|hwtstamp|os2bmc|rdma|vport|xdp|_prio\d|priority_\d|lpi|wakeup`)
)

// Bounds for each device: a card with 128 queues has 2,000 statistics.
const (
	mostTelling = 128
	mostQueues  = 256
)

// pick is one statistic that is recorded: its place in the driver's list and its
// series. always: from the first reading; the others once they grow.
type pick struct {
	index  int
	metric string
	always bool
}

// choose picks the statistics that are recorded, and counts those that would be
// if there were not too many.
func choose(names []string) (picks []pick, left int) {
	taken := map[string]bool{}
	few, many := 0, 0
	for i, n := range names {
		queue := perQueue.MatchString(n)
		switch {
		case beside.MatchString(n) || !queue && !telling.MatchString(n) && !wakes.MatchString(n):
			continue
		case queue && many >= mostQueues, !queue && few >= mostTelling:
			left++
			continue
		case queue:
			many++
		default:
			few++
		}
		m := metricOf(n)
		if taken[m] { // two names that are one once sanitised: the first stays
			continue
		}
		taken[m] = true
		// A whole card's drops are worth a series that stands still: then they did.
		picks = append(picks, pick{i, m, !queue && telling.MatchString(n) && !hasDigit(n)})
	}
	return picks, left
}

func hasDigit(s string) bool { return strings.ContainsAny(s, "0123456789") }

var (
	odd         = regexp.MustCompile(`_*[^0-9A-Za-z_]+_*`)
	received    = regexp.MustCompile(`(^|_)rx(_|$)`)
	transmitted = regexp.MustCompile(`(^|_)tx(_|$)`)
)

// totals are those that node_exporter gives another name than the rule.
var totals = map[string]bool{
	"rx_bytes": true, "rx_dropped": true, "rx_errors": true, "rx_packets": true,
	"tx_bytes": true, "tx_errors": true, "tx_packets": true,
}

// metricOf is the series of a driver's statistic, as node_exporter's ethtool
// collector names it (collector/ethtool_linux.go): rx_missed_errors is
// node_ethtool_received_missed_errors.
func metricOf(stat string) string {
	m := strings.TrimLeft(strings.ToLower(odd.ReplaceAllString(stat, "_")), "_")
	m = received.ReplaceAllString(m, "${1}received${2}")
	m = transmitted.ReplaceAllString(m, "${1}transmitted${2}")
	if totals[stat] {
		m += "_total"
	}
	return "node_ethtool_" + m
}
