package knob

import (
	"fmt"
	"strings"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"

	"snag/remedies/plan"
)

// feature switches one feature of an interface, as ethtool -K does, by the kernel's
// own name for it (net/ethtool/common.c, netdev_features_strings).
type feature struct{}

// featureAliases are the names that ethtool -k prints for a single feature of the
// kernel (ethtool.c, off_flag_def).
var featureAliases = map[string]string{
	"rx-checksumming":              "rx-checksum",
	"generic-segmentation-offload": "tx-generic-segmentation",
	"generic-receive-offload":      "rx-gro",
	"large-receive-offload":        "rx-lro",
	"rx-vlan-offload":              "rx-vlan-hw-parse",
	"tx-vlan-offload":              "tx-vlan-hw-insert",
	"ntuple-filters":               "rx-ntuple-filter",
	"receive-hashing":              "rx-hashing",
	"scatter-gather":               "tx-scatter-gather",
}

// featureGroups are those that it prints for several.
var featureGroups = map[string]string{
	"tcp-segmentation-offload": "tx-tcp-segmentation, tx-tcp6-segmentation, tx-tcp-ecn-segmentation, tx-tcp-mangleid-segmentation",
	"tx-checksumming":          "tx-checksum-ip-generic, tx-checksum-ipv4, tx-checksum-ipv6, tx-checksum-sctp, tx-checksum-fcoe-crc",
}

// FeatureName is the kernel's own name of a feature.
func FeatureName(name string) string {
	if own, ok := featureAliases[name]; ok {
		return own
	}
	return name
}

// FeatureLabel is the name by which ethtool -k shows a feature. scatter-gather it shows
// for several, and the feature beside it by the kernel's name.
func FeatureLabel(name string) string {
	name = FeatureName(name)
	for label, own := range featureAliases {
		if own == name && label != "scatter-gather" {
			return label
		}
	}
	return name
}

func (feature) Valid(t plan.Target, value string) error {
	if err := onDevice(t); err != nil {
		return err
	}
	if all, ok := featureGroups[t.Name]; ok {
		return fmt.Errorf("%s stands for several features: name one of %s", t.Name, all)
	}
	// ETH_GSTRING_LEN; a name that the kernel has not is its answer, not ours.
	if t.Name == "" || len(t.Name) > 32 || strings.Trim(t.Name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return fmt.Errorf("%q is not a feature: ethtool -k shows their names, as rx-ntuple-filter", t.Name)
	}
	return onOff("the feature "+t.Name, value)
}

// features are what FEATURES_GET tells of an interface, by the kernel's names.
type features struct{ hw, active, nochange map[string]bool }

func (e ethtool) features(t plan.Target) (f features, err error) {
	replies, err := e.ask(unix.ETHTOOL_MSG_FEATURES_GET, unix.ETHTOOL_A_FEATURES_HEADER, t.Device, nil)
	if err != nil {
		return f, refused("read", t, err)
	}
	if len(replies) != 1 {
		return f, fmt.Errorf("read %s: ethtool sent %d answers", t, len(replies))
	}
	f, err = decodeFeatures(replies[0].Data)
	if err != nil {
		return f, fmt.Errorf("read %s: %w", t, err)
	}
	if _, ok := f.active[FeatureName(t.Name)]; !ok {
		return f, fmt.Errorf("read %s: this kernel has no such feature (%w)", t, ErrAbsent)
	}
	return f, nil
}

// decodeFeatures reads the bitsets of the reply: every feature that the kernel knows
// is in hw's mask, and what is set in each.
func decodeFeatures(data []byte) (features, error) {
	f := features{map[string]bool{}, map[string]bool{}, map[string]bool{}}
	d, err := netlink.NewAttributeDecoder(data)
	if err != nil {
		return f, err
	}
	for d.Next() {
		switch d.Type() {
		case unix.ETHTOOL_A_FEATURES_HW:
			d.Nested(decodeBits(f.hw))
		case unix.ETHTOOL_A_FEATURES_ACTIVE:
			d.Nested(decodeBits(f.active))
		case unix.ETHTOOL_A_FEATURES_NOCHANGE:
			d.Nested(decodeBits(f.nochange))
		}
	}
	// Lists without a mask name what is set only.
	for _, others := range []map[string]bool{f.hw, f.nochange} {
		for name := range others {
			if !f.active[name] {
				f.active[name] = false
			}
		}
	}
	return f, d.Err()
}

// decodeBits reads a bitset that names its bits (ethtool-netlink.rst, "Bit sets"): in
// one with a mask VALUE reports whether the bit is set, in one without each bit is.
func decodeBits(out map[string]bool) func(*netlink.AttributeDecoder) error {
	return func(d *netlink.AttributeDecoder) error {
		list := false
		for d.Next() {
			switch d.Type() {
			case unix.ETHTOOL_A_BITSET_NOMASK:
				list = true
			case unix.ETHTOOL_A_BITSET_BITS:
				d.Nested(func(bits *netlink.AttributeDecoder) error {
					for bits.Next() {
						if bits.Type() == unix.ETHTOOL_A_BITSET_BITS_BIT {
							bits.Nested(func(bit *netlink.AttributeDecoder) error {
								name, set := "", false
								for bit.Next() {
									switch bit.Type() {
									case unix.ETHTOOL_A_BITSET_BIT_NAME:
										name = bit.String()
									case unix.ETHTOOL_A_BITSET_BIT_VALUE:
										set = true
									}
								}
								out[name] = set || list
								return bit.Err()
							})
						}
					}
					return bits.Err()
				})
			}
		}
		return d.Err()
	}
}

func (feature) Read(h Host, t plan.Target) (value string, err error) {
	err = h.withEthtool(t, func(e ethtool) error {
		f, err := e.features(t)
		if err != nil {
			return err
		}
		value = "off"
		if f.active[FeatureName(t.Name)] {
			value = "on"
		}
		return nil
	})
	return value, err
}

func (k feature) Write(h Host, t plan.Target, value string) error {
	if err := k.Valid(t, value); err != nil {
		return err
	}
	return h.withEthtool(t, func(e ethtool) error {
		f, err := e.features(t)
		if err != nil {
			return err
		}
		name := FeatureName(t.Name)
		if f.nochange[name] || !f.hw[name] {
			return fmt.Errorf("set %s to %s: it is fixed: the driver of %s can't change it", t, value, t.Device)
		}
		_, err = e.ask(unix.ETHTOOL_MSG_FEATURES_SET, unix.ETHTOOL_A_FEATURES_HEADER, t.Device, func(enc *netlink.AttributeEncoder) {
			enc.Nested(unix.ETHTOOL_A_FEATURES_WANTED, func(set *netlink.AttributeEncoder) error {
				set.Nested(unix.ETHTOOL_A_BITSET_BITS, func(bits *netlink.AttributeEncoder) error {
					bits.Nested(unix.ETHTOOL_A_BITSET_BITS_BIT, func(bit *netlink.AttributeEncoder) error {
						bit.String(unix.ETHTOOL_A_BITSET_BIT_NAME, name)
						bit.Flag(unix.ETHTOOL_A_BITSET_BIT_VALUE, value == "on")
						return nil
					})
					return nil
				})
				return nil
			})
		})
		return refused("set", t, err)
	})
}

func (feature) Same(_ plan.Target, a, b string) bool { return a == b }
