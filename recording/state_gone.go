package recording

import (
	"reflect"
	"strconv"
	"strings"
)

// writtenAgain returns when a row was last written, if its probe writes it again in each piece of a ring
// as long as the thing is there (probe.Rotation). No event says that such a thing has gone.
func writtenAgain(row Row) (Time, bool) {
	switch v := row.(type) {
	case Link:
		return v.T, true
	case NIC:
		return v.T, true
	case Queue:
		return v.T, true
	case IRQ:
		return v.T, true
	case Qdisc:
		return v.T, true
	case Route:
		return v.T, true
	case Neighbour:
		return v.T, true
	case Rule:
		return v.T, true
	case Stream:
		return v.T, true
	case Cgroup:
		return v.T, true
	case Fact:
		return v.T, ofGroup(v)
	}
	return 0, false
}

// sameButTime reports whether two rows of one table differ in nothing but the time at which they were written.
func sameButTime(a, b Row) bool { return reflect.DeepEqual(withoutTime(a), withoutTime(b)) }

func withoutTime(row Row) any {
	v := reflect.New(reflect.TypeOf(row)).Elem()
	v.Set(reflect.ValueOf(row))
	if t := v.FieldByName("T"); t.IsValid() {
		t.SetZero()
	}
	return v.Interface()
}

// ofGroup reports whether a fact is about one control group: "cgroup.memory.max", "cgroup.io.max".
func ofGroup(f Fact) bool { return strings.HasPrefix(f.Name, "cgroup.") }

// ofJVM is the process that a fact "jvm.PID.NAME" is about; 0: none.
func ofJVM(f Fact) int {
	rest, is := strings.CutPrefix(f.Name, "jvm.")
	number, _, _ := strings.Cut(rest, ".")
	pid, err := strconv.Atoi(number)
	if !is || err != nil {
		return 0
	}
	return pid
}

// ofDevice is the network interface that a fact is about: "nic.eth0.numa_node",
// "net.ipv4.conf.eth0.rp_filter"; "": none. Its name may have dots ("eth0.100").
func ofDevice(f Fact) string {
	for _, prefix := range []string{"nic.", "net.ipv4.conf."} {
		rest, is := strings.CutPrefix(f.Name, prefix)
		dot := strings.LastIndexByte(rest, '.')
		if device := rest[:max(dot, 0)]; is && device != "all" && device != "default" {
			return device
		}
	}
	return ""
}

// dropDevices drops the facts about interfaces that have gone, if they are older than a time: another probe
// may be about to write the row of a new interface. A namespace whose interfaces are not known keeps all of
// its facts.
func (s *State) dropDevices(before Time) {
	there, known := map[string]bool{}, map[uint64]bool{}
	for _, row := range s.tables[Link{}.Table()] {
		l, _ := row.(Link)
		known[l.Netns] = true
		there[strconv.FormatUint(l.Netns, 10)+" "+l.Name] = true
	}
	s.drop(func(row Row) bool {
		f, is := row.(Fact)
		device := ofDevice(f)
		if !is || device == "" || f.T > before {
			return false
		}
		netns := f.Netns
		if netns == 0 {
			netns = s.own
		}
		return known[netns] && !there[strconv.FormatUint(netns, 10)+" "+device]
	})
}
