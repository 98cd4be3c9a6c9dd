package host

import (
	"encoding/binary"
	"fmt"
	"maps"
	"strconv"

	"golang.org/x/sys/unix"

	"snag/recording"
)

// qdiscSeen is a queueing discipline's last settings, labels and first count.
type qdiscSeen struct {
	options map[string]string
	labels  recording.Labels
	drops   uint32
	alive   bool
	written bool // in this piece of a ring
}

// qdiscs writes the counters of every queueing discipline, children included,
// and the row of each that is new or set differently. classes asks for the rates
// of htb's classes as well.
func (sp *space) qdiscs(once *notices, classes bool) error {
	t := sp.env.Now()
	var all []tc
	err := sp.route.dump(unix.RTM_GETQDISC, make([]byte, 20), func(data []byte) error {
		q, err := decodeTC(data)
		if err == nil {
			all = append(all, q)
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, seen := range sp.qdiscSeen {
		seen.alive = false
	}
	for _, q := range all {
		device := sp.deviceName(q.Index)
		if l := sp.linkSeen[q.Index]; l != nil && q.Kind == "pfifo_fast" { // its queues are as long as the device's (sch_generic.c)
			q.Options = map[string]string{"limit": strconv.Itoa(l.txQueue) + "p"}
		}
		if q.Kind == "htb" && classes {
			if q.Options == nil {
				q.Options = map[string]string{}
			}
			if err := sp.htbClasses(q); err != nil {
				return err
			}
		}
		sp.qdisc(t, device, q, once, classes)
	}
	maps.DeleteFunc(sp.qdiscSeen, func(_ string, seen *qdiscSeen) bool { return !seen.alive })
	return nil
}

func (sp *space) qdisc(t recording.Time, device string, q tc, once *notices, settings bool) {
	handle, parent := handleText(q.Handle), handleText(q.Parent)
	key := device + " " + q.Kind + " " + handle + " " + parent
	seen := sp.qdiscSeen[key]
	if seen == nil {
		seen = &qdiscSeen{labels: sp.with("device", device, "kind", q.Kind, "handle", handle, "parent", parent)}
		if q.Stats != nil {
			seen.drops = q.Stats.Drops
		}
	}
	if settings && !maps.Equal(seen.options, q.Options) || sp.qdiscSeen[key] == nil {
		seen.options, seen.written = q.Options, false
	}
	if !seen.written {
		seen.written = true
		sp.env.Sink.Append(recording.Qdisc{T: t, Netns: sp.ID, Device: device, Kind: q.Kind, Handle: handle, Parent: parent, Options: seen.options})
	}
	seen.alive, sp.qdiscSeen[key] = true, seen
	// noqueue and noop have no queue and count nothing (sch_generic.c): a zero
	// of theirs would clear what was not measured.
	if q.Stats == nil || q.Kind == "noqueue" || q.Kind == "noop" {
		return
	}
	s := q.Stats
	for _, v := range []struct {
		name string
		v    float64
	}{
		{"node_qdisc_bytes_total", float64(s.Bytes)}, {"node_qdisc_packets_total", float64(s.Packets)},
		{"node_qdisc_drops_total", float64(s.Drops)}, {"node_qdisc_requeues_total", float64(s.Requeues)},
		{"node_qdisc_overlimits_total", float64(s.Overlimits)},
		{"node_qdisc_current_queue_length", float64(s.Qlen)}, {"node_qdisc_backlog", float64(s.Backlog)},
	} {
		sp.env.Sink.Sample(t, v.name, seen.labels, v.v)
	}
	if s.FlowLimit != nil {
		sp.env.Sink.Sample(t, "snag_qdisc_flow_limit_drops_total", seen.labels, float64(*s.FlowLimit))
	}
	if s.Drops > seen.drops {
		once.first("qdisc", sp.Name+" "+device, func() string {
			return fmt.Sprintf("first packets dropped by the queue %s %s of %s%s", q.Kind, handle, device, sp.in())
		})
	}
}

// htbClasses adds the rates of the classes of one htb: "class 1:10".
func (sp *space) htbClasses(q tc) error {
	header := make([]byte, 20)
	binary.NativeEndian.PutUint32(header[4:], uint32(q.Index))
	return sp.route.dump(unix.RTM_GETTCLASS, header, func(data []byte) error {
		c, err := decodeTC(data)
		if err != nil {
			return err
		}
		if c.Kind == "htb" && c.Handle>>16 == q.Handle>>16 {
			q.Options["class "+handleText(c.Handle)] = "rate " + c.Options["rate"] + " ceil " + c.Options["ceil"]
		}
		return nil
	})
}
