package nics

import (
	"fmt"
	"reflect"

	"golang.org/x/sys/unix"

	"snag/internal/sorting"
	"snag/probes/probe"
	"snag/recording"
)

// mostRows of the table nics are kept: hardware first. mostFeatured devices are
// asked for their features, one by one: the answer of a device is 8 kB.
const (
	mostRows     = 512
	mostFeatured = 64
)

// settings writes how each interface is set, again where it changed.
type settings struct {
	env    *probe.Env
	ledger *ledger
	last   map[device]recording.NIC
	rows   int
	left   int
	own    []string // of the own namespace, hardware first
}

// ofOwn are the interfaces of the own namespace, hardware first.
func (s *settings) ofOwn() []string { return s.own }

// again has the rows of interfaces that are still there written again, for a piece of a ring that begins. The
// ring forgets those that are not, and their places are free for others.
func (s *settings) again() {
	clear(s.last)
	s.rows = 0
}

func (s *settings) measure(spaces []*space) error {
	var own error
	s.left = 0
	for _, sp := range spaces {
		err := sp.within(s.ledger, func() error { return s.space(sp) })
		if sp.Own {
			own = err
		} else if err != nil { // one that is closed to us hides no other
			_, why, cure := explain(err)
			s.ledger.note("nics.settings", why, cure)
		}
	}
	if s.left > 0 {
		s.ledger.note("nics.settings", fmt.Sprintf("%d interfaces have no row: at most %d are kept", s.left, mostRows), "")
	}
	return own
}

// space runs inside the namespace.
func (s *settings) space(sp *space) error {
	if err := sp.list(s.ledger); err != nil {
		return err
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open a socket to ask for drivers: %w", err)
	}
	defer unix.Close(fd)
	rows := map[string]*recording.NIC{}
	for _, d := range sp.devices {
		row := &recording.NIC{Netns: sp.ID, Device: d}
		if info, err := unix.IoctlGetEthtoolDrvinfo(fd, d); err == nil { // EOPNOTSUPP: it has none
			row.Driver, row.Version = text(info.Driver[:]), text(info.Version[:])
			row.Firmware, row.Bus = text(info.Fw_version[:]), bus(text(info.Bus_info[:]))
		}
		rows[d] = row
	}
	sorting.StableBy(sp.devices, func(a, b string) int { return hardware(rows[b]) - hardware(rows[a]) })
	for _, d := range sp.devices {
		if rows[d].Bus != "" {
			sp.nics = append(sp.nics, device{sp.ID, d})
		}
	}
	if sp.Own {
		s.own = sp.devices
	}
	err = s.ask(sp, rows)
	s.write(sp, rows)
	return err
}

// text is a C string in a fixed field.
func text(b []byte) string { return unix.ByteSliceToString(b) }

// bus is where the hardware sits. Drivers without any say "N/A", "tap", or their
// own name (kernel drivers/net/tun.c and others); all real ones have a digit.
func bus(info string) string {
	for _, c := range info {
		if c >= '0' && c <= '9' {
			return info
		}
	}
	return ""
}

func hardware(n *recording.NIC) int {
	if n.Bus != "" {
		return 1
	}
	return 0
}

// ask fills the rows from ethtool netlink.
func (s *settings) ask(sp *space, rows map[string]*recording.NIC) error {
	t, err := openTool()
	if err != nil {
		return err
	}
	defer t.close()
	for _, q := range []struct {
		command uint8
		header  uint16
		fill    func(answer, *recording.NIC)
	}{
		{unix.ETHTOOL_MSG_LINKMODES_GET, unix.ETHTOOL_A_LINKMODES_HEADER, answer.link},
		{unix.ETHTOOL_MSG_RINGS_GET, unix.ETHTOOL_A_RINGS_HEADER, answer.rings},
		{unix.ETHTOOL_MSG_CHANNELS_GET, unix.ETHTOOL_A_CHANNELS_HEADER, answer.channels},
		{unix.ETHTOOL_MSG_COALESCE_GET, unix.ETHTOOL_A_COALESCE_HEADER, answer.coalesce},
	} {
		replies, err := t.ask(q.command, q.header, "", unix.ETHTOOL_FLAG_COMPACT_BITSETS)
		if err != nil {
			return err
		}
		for _, m := range replies {
			a, err := decodeAnswer(m.Data)
			if err != nil {
				return err
			}
			if row := rows[a.device]; row != nil { // nil: it came while we asked
				q.fill(a, row)
			}
		}
	}
	for _, d := range sp.nics[:min(len(sp.nics), mostFeatured)] {
		replies, err := t.ask(unix.ETHTOOL_MSG_FEATURES_GET, unix.ETHTOOL_A_FEATURES_HEADER, d.name, 0)
		if err != nil {
			return err
		}
		for _, m := range replies {
			a, err := decodeAnswer(m.Data)
			if err == nil && rows[a.device] != nil {
				err = a.features(rows[a.device])
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// write appends the rows that are new or say something else.
func (s *settings) write(sp *space, rows map[string]*recording.NIC) {
	t := s.env.Now()
	for _, d := range sp.devices {
		row, key := *rows[d], device{sp.ID, d}
		if row.Driver == "" && row.Rings == nil && row.Channels == nil && row.Coalesce == nil {
			continue // loopback and the like: nothing is known of it
		}
		old, seen := s.last[key]
		if seen && reflect.DeepEqual(old, row) {
			continue
		}
		if !seen && s.rows >= mostRows {
			s.left++
			continue
		}
		if !seen {
			s.rows++
		}
		s.last[key] = row
		row.T = t
		s.env.Sink.Append(row)
	}
}
