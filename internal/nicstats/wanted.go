package nicstats

import (
	"encoding/binary"
	"regexp"
	"strings"
)

// Statistics that tell of packets lost or not fetched in time, of the flow
// director, and of interrupts; by the drivers' own names, which differ. In
// drivers/net/ethernet: intel/ixgbe/ixgbe_ethtool.c rx_missed_errors
// rx_no_dma_resources fdir_match fdir_miss fdir_overflow alloc_rx_buff_failed lsc_int,
// intel/i40e/i40e_ethtool.c port.rx_discards port.fdir_atr_match rx_alloc_fail,
// intel/ice/ice_ethtool.c rx_dropped.nic, mellanox/mlx5/core/en_stats.c
// rx_out_of_buffer rx_discards_phy rxN_buff_alloc_err chN_events chN_poll,
// amazon/ena/ena_ethtool.c rx_drops queue_N_rx_empty_rx_ring queue_N_tx_napi_comp,
// broadcom/bnx2x/bnx2x_ethtool.c [N]: rx_discards, broadcom/bnxt/bnxt_ethtool.c
// rx_total_ring_discards, broadcom/tg3.c rx_discards nic_irqs, realtek/r8169_main.c
// rx_missed, emulex/benet/be_ethtool.c rx_drops_no_pbuf rxqN: rx_drops_no_frags,
// sfc/ef10.c port_rx_nodesc_drops. In drivers/net: virtio_net.c rxN_drops
// (rx_queue_N_drops in older kernels), vmxnet3/vmxnet3_ethtool.c pkts rx OOB,
// hyperv/netvsc_drv.c rx_no_memory.
var (
	telling = regexp.MustCompile(`(?i)drop|discard|miss|no_?buf|no_?dma|no_?desc|fifo|over_?run|overflow|out_of_buffer|buff?er?s?_full|empty_rx_ring|refill?_|fdir|exhaust|alloc.*fail|fail.*alloc|alloc_err|no_?skb|no_frags|post_fail|no_memory|_err(or)?s?$|\boob$`)
	// A queue's own packets: how a card spreads them. And its interrupts or polls.
	perQueue = regexp.MustCompile(`(?i)^(\[\d+\]: )?([rt]x[-_]?(queue[-_])?\d+[-_.:]?\s?([rt]x[-_])?(packets|pkts)|queue_\d+_[rt]x_(cnt|packets)|[rt]x_?\d+_packets|\[\d+\]: [rt]x_ucast_packets)$`)
	wakes    = regexp.MustCompile(`(?i)(^|_)(irqs?|intr|interrupts?|events|poll|napi_comp|lsc_int)(_|$|\d)`)
	// Errors that no ring or CPU can help: of the cable, of features nobody uses.
	beside = regexp.MustCompile(`(?i)fcoe|ipsec|macsec|tls|ptp|hwtstamp|os2bmc|rdma|vport|xdp|_prio\d|priority_\d|lpi|wakeup`)
)

// Bounds for each device: a card with 128 queues has 2,000 statistics.
const (
	MostTelling = 128
	MostQueues  = 256
)

// Pick is one statistic that is recorded: its places in the driver's list, whose
// values are added, and its series. Always: from the first reading; the others once
// they grow.
type Pick struct {
	Places []int
	Metric string
	Always bool
}

// Choose picks the statistics that are recorded, and counts those that would be
// if there were not too many.
func Choose(names []string) (picks []Pick, left int) {
	taken := map[string]int{} // series → its place among the picks
	few, many := 0, 0
	for i, n := range names {
		queue := perQueue.MatchString(n)
		if beside.MatchString(n) || !queue && !telling.MatchString(n) && !wakes.MatchString(n) {
			continue
		}
		m := MetricOf(n)
		if at, ok := taken[m]; ok {
			// vmxnet3 lists each queue's counters under the same names: they are one
			// card's. Two names that are one only once sanitised are not: the first stays.
			if p := &picks[at]; names[p.Places[0]] == n {
				p.Places = append(p.Places, i)
			}
			continue
		}
		switch {
		case queue && many >= MostQueues, !queue && few >= MostTelling:
			left++
			continue
		case queue:
			many++
		default:
			few++
		}
		taken[m] = len(picks)
		// A whole card's drops are worth a series that stands still: then they did.
		picks = append(picks, Pick{Places: []int{i}, Metric: m, Always: !queue && telling.MatchString(n) && !HasDigit(n)})
	}
	return picks, left
}

// Of adds up what the driver answered for the statistic; false when it answered
// less than it has names.
func (p Pick) Of(values []byte) (sum uint64, ok bool) {
	for _, i := range p.Places {
		if 8*i+8 > len(values) {
			return 0, false
		}
		sum += binary.NativeEndian.Uint64(values[8*i:])
	}
	return sum, true
}

// HasDigit reports whether a name has a number in it, as those of queues have.
func HasDigit(s string) bool { return strings.ContainsAny(s, "0123456789") }

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

// MetricOf is the series of a driver's statistic, as node_exporter's ethtool
// collector names it (collector/ethtool_linux.go): rx_missed_errors is
// node_ethtool_received_missed_errors.
func MetricOf(stat string) string {
	m := strings.TrimLeft(strings.ToLower(odd.ReplaceAllString(stat, "_")), "_")
	m = received.ReplaceAllString(m, "${1}received${2}")
	m = transmitted.ReplaceAllString(m, "${1}transmitted${2}")
	if totals[stat] {
		m += "_total"
	}
	return "node_ethtool_" + m
}
