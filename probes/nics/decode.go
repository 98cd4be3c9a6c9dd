package nics

import (
	"fmt"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"

	"snag/recording"
)

// answer is one device's reply: its name, and the attributes that are plain
// numbers. What a driver does not have, the kernel leaves out.
type answer struct {
	device  string
	numbers map[uint16]uint32
	nested  map[uint16][]byte
}

// decodeAnswer reads a reply of ethtool netlink, whose first attribute is the
// header in every message (Documentation/networking/ethtool-netlink.rst).
func decodeAnswer(data []byte) (answer, error) {
	a := answer{numbers: map[uint16]uint32{}, nested: map[uint16][]byte{}}
	d, err := netlink.NewAttributeDecoder(data)
	if err != nil {
		return a, fmt.Errorf("read ethtool's reply: %w", err)
	}
	for d.Next() {
		b := d.Bytes()
		switch {
		case d.Type() == 1: // ETHTOOL_A_…_HEADER
			if a.device, err = deviceOf(b); err != nil {
				return a, err
			}
		case len(b) == 1:
			a.numbers[d.Type()] = uint32(b[0])
		case len(b) == 4:
			a.numbers[d.Type()] = d.Uint32()
		default:
			a.nested[d.Type()] = b
		}
	}
	if err := d.Err(); err != nil {
		return a, fmt.Errorf("read ethtool's reply: %w", err)
	}
	if a.device == "" {
		return a, fmt.Errorf("read ethtool's reply: it names no device")
	}
	return a, nil
}

func deviceOf(header []byte) (string, error) {
	d, err := netlink.NewAttributeDecoder(header)
	if err != nil {
		return "", fmt.Errorf("read the header of ethtool's reply: %w", err)
	}
	name := ""
	for d.Next() {
		if d.Type() == unix.ETHTOOL_A_HEADER_DEV_NAME {
			name = d.String()
		}
	}
	return name, d.Err()
}

func (a answer) number(kind uint16) *int {
	v, ok := a.numbers[kind]
	if !ok {
		return nil
	}
	n := int(v)
	return &n
}

func (a answer) flag(kind uint16) *bool {
	v, ok := a.numbers[kind]
	if !ok {
		return nil
	}
	on := v != 0
	return &on
}

func (a answer) rings(n *recording.NIC) {
	n.Rings = &recording.Rings{
		Rx: a.number(unix.ETHTOOL_A_RINGS_RX), RxMax: a.number(unix.ETHTOOL_A_RINGS_RX_MAX),
		Tx: a.number(unix.ETHTOOL_A_RINGS_TX), TxMax: a.number(unix.ETHTOOL_A_RINGS_TX_MAX),
	}
}

func (a answer) channels(n *recording.NIC) {
	n.Channels = &recording.Channels{
		Rx: a.number(unix.ETHTOOL_A_CHANNELS_RX_COUNT), RxMax: a.number(unix.ETHTOOL_A_CHANNELS_RX_MAX),
		Tx: a.number(unix.ETHTOOL_A_CHANNELS_TX_COUNT), TxMax: a.number(unix.ETHTOOL_A_CHANNELS_TX_MAX),
		Combined: a.number(unix.ETHTOOL_A_CHANNELS_COMBINED_COUNT), CombinedMax: a.number(unix.ETHTOOL_A_CHANNELS_COMBINED_MAX),
	}
}

func (a answer) coalesce(n *recording.NIC) {
	n.Coalesce = &recording.Coalesce{
		RxUsecs: a.number(unix.ETHTOOL_A_COALESCE_RX_USECS), RxFrames: a.number(unix.ETHTOOL_A_COALESCE_RX_MAX_FRAMES),
		TxUsecs: a.number(unix.ETHTOOL_A_COALESCE_TX_USECS), TxFrames: a.number(unix.ETHTOOL_A_COALESCE_TX_MAX_FRAMES),
		AdaptiveRx: a.flag(unix.ETHTOOL_A_COALESCE_USE_ADAPTIVE_RX), AdaptiveTx: a.flag(unix.ETHTOOL_A_COALESCE_USE_ADAPTIVE_TX),
	}
}

// link: an unknown speed is ~0, an unknown duplex 255 (uapi/linux/ethtool.h).
func (a answer) link(n *recording.NIC) {
	if v, ok := a.numbers[unix.ETHTOOL_A_LINKMODES_SPEED]; ok && v != 1<<32-1 {
		n.Speed = a.number(unix.ETHTOOL_A_LINKMODES_SPEED)
	}
	switch v, ok := a.numbers[unix.ETHTOOL_A_LINKMODES_DUPLEX]; {
	case ok && v == 0:
		n.Duplex = "half"
	case ok && v == 1:
		n.Duplex = "full"
	}
}

// interesting features, by the kernel's names (net/ethtool/common.c,
// netdev_features_strings): what merges packets, spreads them over queues, or
// takes work off the CPU.
var interesting = map[string]bool{
	"rx-gro": true, "rx-gro-hw": true, "rx-gro-list": true, "rx-lro": true, "rx-udp-gro-forwarding": true,
	"rx-ntuple-filter": true, "rx-hashing": true, "rx-checksum": true,
	"tx-tcp-segmentation": true, "tx-generic-segmentation": true, "tx-udp-segmentation": true, "hw-tc-offload": true,
}

// features: of those that this kernel has (all are listed as the mask of HW),
// those that are active are on.
func (a answer) features(n *recording.NIC) error {
	known, err := bitNames(a.nested[unix.ETHTOOL_A_FEATURES_HW])
	if err != nil {
		return err
	}
	active, err := bitNames(a.nested[unix.ETHTOOL_A_FEATURES_ACTIVE])
	if err != nil {
		return err
	}
	for f := range known {
		if interesting[f] {
			if n.Features == nil {
				n.Features = map[string]bool{}
			}
			n.Features[f] = active[f]
		}
	}
	return nil
}

// bitNames are the names of the bits that a bitset in its long form lists.
func bitNames(data []byte) (map[string]bool, error) {
	out := map[string]bool{}
	if len(data) == 0 {
		return out, nil
	}
	set, err := netlink.NewAttributeDecoder(data)
	if err != nil {
		return nil, fmt.Errorf("read ethtool's features: %w", err)
	}
	for set.Next() {
		if set.Type() != unix.ETHTOOL_A_BITSET_BITS {
			continue
		}
		set.Nested(func(bits *netlink.AttributeDecoder) error {
			for bits.Next() {
				bits.Nested(func(bit *netlink.AttributeDecoder) error {
					for bit.Next() {
						if bit.Type() == unix.ETHTOOL_A_BITSET_BIT_NAME {
							out[bit.String()] = true
						}
					}
					return nil
				})
			}
			return nil
		})
	}
	if err := set.Err(); err != nil {
		return nil, fmt.Errorf("read ethtool's features: %w", err)
	}
	return out, nil
}
