package recording

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// rowsOf are the state's rows, as text.
func rowsOf(s *State) (out []string) {
	s.Rows(func(row Row) bool {
		out = append(out, fmt.Sprintf("%s %s", row.Table(), StateKey(row)))
		return true
	})
	return out
}

// ofInterface are the rows of one interface of namespace 5 that is there at a time.
func ofInterface(at Time, name string, index int) []Row {
	return []Row{
		Link{T: at, Netns: 5, Index: index, Name: name}, NIC{T: at, Netns: 5, Device: name, Driver: "veth"},
		Queue{T: at, Netns: 5, Device: name, Dir: "rx"}, IRQ{T: at, Netns: 5, Device: name, Number: 100 + index},
		Qdisc{T: at, Netns: 5, Device: name, Kind: "fq"}, Route{T: at, Netns: 5, Dst: fmt.Sprintf("10.%d.0.0/16", index), Device: name},
		Neighbour{T: at, Netns: 5, Device: name, Addr: "10.0.0.1"}, Rule{T: at, Netns: 5, Of: "filter", Chain: "c", Handle: uint64(index)},
	}
}

// 200 interfaces come and go in a namespace that stays. Their rows are in the state for the piece in which
// they went and the one after it.
func TestRowsOfWhatHasGoneGo(t *testing.T) {
	t.Parallel()
	var s State
	stays := func(at Time) {
		for _, row := range ofInterface(at, "eth0", 1) {
			s.Take(row)
		}
	}
	for _, row := range []Row{
		Netns{T: sec(0), ID: 5, Own: true}, Fact{T: sec(0), Name: "net.ipv4.conf.all.rp_filter", Netns: 5, Value: "1"},
		Fact{T: sec(0), Name: "nic.eth0.numa_node", Value: "0"}, Fact{T: sec(0), Name: "net.core.somaxconn", Netns: 5, Value: "9"},
	} {
		s.Take(row)
	}
	stays(sec(0))
	before := rowsOf(&s)
	for i := range 200 {
		name := fmt.Sprintf("veth%d.7", i)
		for _, row := range ofInterface(sec(1), name, 2+i) {
			s.Take(row)
		}
		s.Take(Fact{T: sec(1), Name: "net.ipv4.conf." + name + ".rp_filter", Netns: 5, Value: "1"})
		s.Take(Fact{T: sec(1), Name: "nic." + name + ".numa_node", Value: "0"})
	}
	full := len(rowsOf(&s))
	if want := len(before) + 200*10; full != want {
		t.Fatalf("%d rows with all interfaces, want %d", full, want)
	}
	for i, want := range []int{full, len(before), len(before)} {
		turn := sec(60 * float64(i+1))
		s.Prune(turn, time.Minute)
		if got := rowsOf(&s); len(got) != want {
			t.Errorf("turn %d: %d rows, want %d", i+1, len(got), want)
		}
		stays(turn.Add(16 * time.Second)) // as late as the probes look
	}
	if after := rowsOf(&s); !slices.Equal(after, before) {
		t.Errorf("after:\n%v\nbefore:\n%v", after, before)
	}
}

// What a probe writes again at each piece, and what it says with another value.
func TestOnlyNewsIsWritten(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	for _, tt := range []struct {
		name          string
		first, second Row
		want          bool
	}{
		{"the same interface", Link{T: 1, Name: "a", Carrier: &yes}, Link{T: 2, Name: "a", Carrier: &yes}, false},
		{"its carrier", Link{T: 1, Name: "a", Carrier: &yes}, Link{T: 2, Name: "a", Carrier: &no}, true},
		{"the same options", Qdisc{T: 1, Options: map[string]string{"limit": "1p"}}, Qdisc{T: 2, Options: map[string]string{"limit": "1p"}}, false},
		{"other options", Qdisc{T: 1, Options: map[string]string{"limit": "1p"}}, Qdisc{T: 2, Options: map[string]string{"limit": "2p"}}, true},
		{"the same setting", Fact{T: 1, Name: "a", Value: "1"}, Fact{T: 2, Name: "a", Value: "1"}, false},
		{"another value", Fact{T: 1, Name: "a", Value: "1"}, Fact{T: 2, Name: "a", Value: "2"}, true},
		{"coverage", Coverage{Probe: "host"}, Coverage{Probe: "host"}, true},
		{"what is not a state", Retransmit{T: 1}, Retransmit{T: 1}, true},
	} {
		var s State
		if !s.Take(tt.first) {
			t.Errorf("%s: the first is not written", tt.name)
		}
		if got := s.Take(tt.second); got != tt.want {
			t.Errorf("%s: written: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// Each control group has its own limits, and they go with it. A JVM's facts go with its process.
func TestFactsOfGroupsAndProcesses(t *testing.T) {
	t.Parallel()
	var s State
	limit := func(at Time, group string) Fact {
		return Fact{T: at, Name: "cgroup.memory.max", Value: "/" + group + " 1000", Source: "/sys/fs/cgroup/" + group + "/memory.max"}
	}
	for _, row := range []Row{
		limit(sec(0), "a"), limit(sec(0), "b"), Process{T: sec(0), PID: 7}, Process{T: sec(0), PID: 8},
		Fact{T: sec(0), Name: "jvm.7.gc", Value: "G1"}, Fact{T: sec(0), Name: "jvm.8.gc", Value: "G1"}, Fact{T: sec(0), Name: "jvm.other", Value: "x"},
	} {
		s.Take(row)
	}
	if got := rowsOf(&s); len(got) != 5 {
		t.Fatalf("%q", got)
	}
	for _, turn := range []float64{60, 120, 180} {
		s.Prune(sec(turn), time.Minute)
		s.Take(limit(sec(turn+20), "a"))
		s.Take(Process{T: sec(turn + 1), PID: 7})
	}
	if got := fmt.Sprint(rowsOf(&s)); got != "[facts cgroup.memory.max /sys/fs/cgroup/a/memory.max /a facts jvm.7.gc 0 facts jvm.other 0]" {
		t.Error(got)
	}
}

// Where no interface of a namespace is known, its settings stay.
func TestSettingsStayWhereInterfacesAreNotKnown(t *testing.T) {
	t.Parallel()
	var s State
	s.Take(Fact{T: sec(0), Name: "net.ipv4.conf.eth0.rp_filter", Netns: 5, Value: "1"})
	s.Prune(sec(600), time.Minute)
	if got := rowsOf(&s); len(got) != 1 {
		t.Error(got)
	}
}
