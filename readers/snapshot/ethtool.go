package snapshot

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"

	"snag/internal/nicstats"
	"snag/recording"
)

// deviceOf is the interface that a command or a file's name is of: the last word of
// "ethtool -S eth0", of sosreport's "ethtool_-S_eth0", of "eth0.txt".
func deviceOf(command string) string {
	base := command[strings.LastIndexByte(strings.TrimRight(command, "/"), '/')+1:]
	if strings.ContainsRune(command, ' ') {
		base = command
	}
	for _, end := range []string{".txt", ".log", ".out", ".gz", ".zst"} {
		base = strings.TrimSuffix(base, end)
	}
	words := strings.FieldsFunc(base, func(r rune) bool { return r == ' ' || r == '_' || r == '\t' || r == ',' })
	for i := len(words) - 1; i >= 0; i-- {
		if w := words[i]; interfaceName.MatchString(w) && !options[w] {
			return w
		}
	}
	return ""
}

// interfaceName is what interfaces are called by the kernel's drivers and by
// systemd.net-naming-scheme(7).
var interfaceName = regexp.MustCompile(`^(eth|en|ib|wl|ww|bond|team|br|vlan|veth|tun|tap|wg|em|p\d+p|net|ens|eno|enp|vmnic|virbr|docker|cni|cali|flannel|vxlan|geneve|dummy|ifb|lo|mlx|tenge|ge|xe)[\w.:@-]*$`)

// options are words of such names that look like interfaces and are none.
var options = map[string]bool{"ethtool": true, "net": true, "network": true, "networking": true, "netstat": true, "lo": false, "log": true}

// nic is the row of an interface, made when it is first told of.
func (l *look) nic(device string, t recording.Time) *recording.NIC {
	n := l.nics[device]
	if n == nil {
		n = &recording.NIC{T: t, Device: device}
		l.nics[device] = n
		l.devices = append(l.devices, device)
	}
	l.settled("nics.settings", t)
	return n
}

// deviceFor is the interface of an output that does not name it itself.
func (l *look) deviceFor(it item, what string) string {
	d := deviceOf(it.command)
	if d == "" && it.command != it.path {
		d = deviceOf(it.path)
	}
	if d == "" {
		l.doubt("%s: nothing shows which interface %s is of: name the file after it (ethtool_-S_eth0)", it.path, what)
	}
	return d
}

// ethtoolStatistics reads ethtool -S: "     rx_packets: 123".
func (l *look) ethtoolStatistics(it item) (bad int) {
	device := l.deviceFor(it, "ethtool -S")
	if device == "" {
		return 0
	}
	var names []string
	var values []uint64
	for line := range lines(it.data) {
		i := strings.LastIndexByte(line, ':')
		if i < 0 || !strings.HasPrefix(line, " ") {
			continue
		}
		v, err := strconv.ParseUint(strings.TrimSpace(line[i+1:]), 10, 64)
		if err != nil {
			bad++
			continue
		}
		names, values = append(names, strings.TrimSpace(line[:i])), append(values, v)
	}
	picks, left := nicstats.Choose(names)
	if left > 0 {
		l.doubt("%s: %d of its statistics are not kept", it.path, left)
	}
	for _, p := range picks {
		sum := uint64(0)
		for _, at := range p.Places {
			sum += values[at]
		}
		l.out.Sample(it.t, p.Metric, recording.Labels{"device": device}, float64(sum))
	}
	l.counted("nics.statistics", it.t)
	return bad
}

// namedDevice is that of "Ring parameters for eth0:".
func namedDevice(data []byte) string {
	line, _, _ := bytes.Cut(bytes.TrimLeft(data, "\n"), []byte("\n"))
	_, rest, _ := bytes.Cut(line, []byte(" for "))
	return strings.TrimSuffix(strings.TrimSpace(string(rest)), ":")
}

// ethtoolLines reads "NAME:\tVALUE" lines, those behind "Pre-set maximums:" and "Current
// hardware settings:" apart.
func ethtoolLines(data []byte, each func(current bool, name, value string)) {
	current := true
	for line := range lines(data) {
		name, value, ok := strings.Cut(line, ":")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		switch {
		case !ok:
		case strings.HasPrefix(name, "Pre-set"):
			current = false
		case strings.HasPrefix(name, "Current"):
			current = true
		case value != "":
			each(current, name, value)
		}
	}
}

// count is a number that ethtool prints; nil for "n/a".
func count(value string) *int {
	v, err := strconv.Atoi(value)
	if err != nil {
		return nil
	}
	return &v
}

func (l *look) ethtoolRings(it item) int {
	r := &recording.Rings{}
	ethtoolLines(it.data, func(current bool, name, value string) {
		switch {
		case name == "RX" && current:
			r.Rx = count(value)
		case name == "RX":
			r.RxMax = count(value)
		case name == "TX" && current:
			r.Tx = count(value)
		case name == "TX":
			r.TxMax = count(value)
		}
	})
	l.nic(namedDevice(it.data), it.t).Rings = r
	return 0
}

func (l *look) ethtoolChannels(it item) int {
	c := &recording.Channels{}
	ethtoolLines(it.data, func(current bool, name, value string) {
		for _, f := range []struct {
			name    string
			now, of **int
		}{{"RX", &c.Rx, &c.RxMax}, {"TX", &c.Tx, &c.TxMax}, {"Combined", &c.Combined, &c.CombinedMax}} {
			switch {
			case f.name != name:
			case current:
				*f.now = count(value)
			default:
				*f.of = count(value)
			}
		}
	})
	l.nic(namedDevice(it.data), it.t).Channels = c
	return 0
}

func (l *look) ethtoolCoalesce(it item) int {
	c := &recording.Coalesce{}
	ethtoolLines(it.data, func(_ bool, name, value string) {
		switch name {
		case "rx-usecs":
			c.RxUsecs = count(value)
		case "rx-frames":
			c.RxFrames = count(value)
		case "tx-usecs":
			c.TxUsecs = count(value)
		case "tx-frames":
			c.TxFrames = count(value)
		case "Adaptive RX": // "Adaptive RX: off  TX: off"
			rx, tx, _ := strings.Cut(value, "TX:")
			c.AdaptiveRx, c.AdaptiveTx = onOff(rx), onOff(tx)
		}
	})
	l.nic(namedDevice(it.data), it.t).Coalesce = c
	return 0
}

func onOff(value string) *bool {
	switch f := strings.Fields(value); {
	case len(f) == 0 || f[0] == "n/a":
		return nil
	default:
		on := f[0] == "on"
		return &on
	}
}

// kernelNames are those of features that ethtool -k prints by another name
// (ethtool.c, off_flag_def; kernel net/ethtool/common.c, netdev_features_strings).
var kernelNames = map[string]string{
	"generic-receive-offload": "rx-gro", "large-receive-offload": "rx-lro", "ntuple-filters": "rx-ntuple-filter",
	"receive-hashing": "rx-hashing", "rx-checksumming": "rx-checksum", "generic-segmentation-offload": "tx-generic-segmentation",
	"tx-tcp-segmentation": "tx-tcp-segmentation", "tx-udp-segmentation": "tx-udp-segmentation",
	"rx-gro-hw": "rx-gro-hw", "rx-gro-list": "rx-gro-list", "rx-udp-gro-forwarding": "rx-udp-gro-forwarding", "hw-tc-offload": "hw-tc-offload",
}

func (l *look) ethtoolFeatures(it item) int {
	n := l.nic(namedDevice(it.data), it.t)
	ethtoolLines(it.data, func(_ bool, name, value string) {
		kernel := kernelNames[name]
		if on := onOff(value); kernel != "" && on != nil {
			if n.Features == nil {
				n.Features = map[string]bool{}
			}
			n.Features[kernel] = *on
		}
	})
	return 0
}

func (l *look) ethtoolDriver(it item) int {
	device := l.deviceFor(it, "ethtool -i")
	if device == "" {
		return 0
	}
	n := l.nic(device, it.t)
	ethtoolLines(it.data, func(_ bool, name, value string) {
		switch name {
		case "driver":
			n.Driver = value
		case "version":
			n.Version = value
		case "firmware-version":
			n.Firmware = value
		case "bus-info":
			if strings.ContainsAny(value, "0123456789") { // "N/A", "tap": no hardware
				n.Bus = value
			}
		}
	})
	return 0
}

// ethtoolLink reads plain ethtool DEVICE.
func (l *look) ethtoolLink(it item) int {
	n := l.nic(namedDevice(it.data), it.t)
	ethtoolLines(it.data, func(_ bool, name, value string) {
		switch name {
		case "Speed":
			n.Speed = count(strings.TrimSuffix(value, "Mb/s"))
		case "Duplex":
			if d := strings.ToLower(value); d == "full" || d == "half" {
				n.Duplex = d
			}
		}
	})
	return 0
}
