package host

import (
	"fmt"
	"os"

	"snag/internal/procfile"
	"snag/recording"
)

// counter is one protocol counter of one namespace.
type counter struct {
	seen    bool
	written bool
	begun   float64
	now     float64
	at      recording.Time
}

// firsts are what the user is told of while it is recorded.
var firsts = []struct{ key, text string }{
	{"Udp_RcvbufErrors", "UDP datagrams dropped at a full receive buffer"},
	{"Udp6_RcvbufErrors", "UDP (IPv6) datagrams dropped at a full receive buffer"},
	{"Udp_InErrors", "UDP receive errors"},
	{"Udp6_InErrors", "UDP (IPv6) receive errors"},
	{"TcpExt_ListenOverflows", "connections dropped at a full listen queue"},
}

func (sp *space) netstat(once *notices) error {
	bad := 0
	for _, f := range []struct {
		name  string
		parse func([]byte, procfile.CounterFunc) int
	}{{"netstat", procfile.Pairs}, {"snmp", procfile.Pairs}, {"snmp6", procfile.Lines6}} {
		t := sp.env.Now()
		data, ok, err := sp.read(f.name)
		if err != nil {
			return err
		}
		if !ok && f.name != "snmp6" { // no IPv6 is no gap
			return &os.PathError{Op: "open", Path: sp.env.Proc + "/net/" + f.name, Err: os.ErrNotExist}
		}
		bad += f.parse(data, func(proto, field []byte, v float64) { sp.count(t, proto, field, v) })
	}
	for _, f := range firsts {
		if i, ok := sp.shared.index[f.key]; ok && i < len(sp.counters) && sp.counters[i].now > sp.counters[i].begun {
			// RcvbufErrors are InErrors as well: tell the sharper one alone.
			once.first(f.key[:4], sp.Name, func() string { return fmt.Sprintf("first %s%s (%s)", f.text, sp.in(), f.key) })
		}
	}
	if bad > 0 {
		return fmt.Errorf("%d fields of /proc/net/snmp and netstat were not understood", bad)
	}
	return nil
}

func (sp *space) count(t recording.Time, proto, field []byte, v float64) {
	i := sp.shared.counter(proto, field)
	m := sp.shared.metrics[i]
	if m.name == "" {
		return
	}
	for i >= len(sp.counters) {
		sp.counters = append(sp.counters, counter{})
	}
	c := &sp.counters[i]
	if !c.seen {
		c.seen, c.begun, c.written = true, v, m.always
	}
	if !c.written && v != 0 {
		c.written = true
		if c.at != 0 {
			sp.env.Sink.Sample(c.at, m.name, sp.labels, c.now)
		}
	}
	c.now, c.at = v, t
	if c.written {
		sp.env.Sink.Sample(t, m.name, sp.labels, v)
	}
}

func (sp *space) sockstat() error {
	bad := 0
	for _, name := range []string{"sockstat", "sockstat6"} {
		t := sp.env.Now()
		data, ok, err := sp.read(name)
		if err != nil {
			return err
		}
		if !ok && name == "sockstat" {
			return &os.PathError{Op: "open", Path: sp.env.Proc + "/net/" + name, Err: os.ErrNotExist}
		}
		bad += procfile.Sockstat(data, func(proto, field []byte, v float64) { sp.gauge(t, proto, field, v) })
	}
	if bad > 0 {
		return fmt.Errorf("%d fields of /proc/net/sockstat were not understood", bad)
	}
	return nil
}

func (sp *space) gauge(t recording.Time, proto, field []byte, v float64) {
	names := sp.shared.gauge(proto, field)
	if names.plain != "" {
		sp.env.Sink.Sample(t, names.plain, sp.labels, v)
	}
	if names.bytes != "" {
		sp.env.Sink.Sample(t, names.bytes, sp.labels, v*pageSize)
	}
}

var pageSize = float64(os.Getpagesize())
