package exporter

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"snag/internal/sorting"
	"snag/internal/units"
)

// check finds signs in what one collector has. It needs some of the numbers; without one of them nothing is known.
type check struct {
	collector string
	needs     []string
	find      func(v *values) []Sign
}

// checks are in the order in which a person looks: what loses packets and connections first, then what is slow.
var checks = slices.Concat(netChecks, hostChecks)

// judge finds the signs of a host: those that are new since the hour before come first. It notes the collectors that
// these come from.
func (h *Host) judge(v *values, at time.Time, wrong map[string]bool) {
	h.Signs = nil
	unread := map[string]bool{}
	for _, c := range checks {
		if slices.ContainsFunc(c.needs, func(name string) bool { return len(v.now[name]) == 0 }) {
			unread[c.collector] = true
			continue
		}
		if found := c.find(v); len(found) > 0 {
			wrong[c.collector] = true
			h.Signs = append(h.Signs, found...)
		}
	}
	if boot, ok := v.one("boot"); ok {
		if d := ago(at, boot); d >= 0 && d < justBooted {
			s := Sign{Name: "rebooted", Value: d.Seconds(), Unit: "seconds", Text: "booted " + units.Seconds(d.Round(time.Second)) + " before"}
			h.Signs = append([]Sign{s}, h.Signs...)
		}
	}
	h.Unread = slices.Sorted(maps.Keys(unread))
	sorting.StableBy(h.Signs, func(a, b Sign) int { return cmp.Compare(a.rank(), b.rank()) })
}

// asUsual times the usual value a sign is no news. It orders signs; it hides none, as a trouble may last for an hour.
const asUsual = 2

// New reports whether it is more than usual, or may be. A clock that is off makes nobody wait.
func (s Sign) New() bool {
	return s.Name != "clock" && (s.Usual == nil || s.Value > asUsual**s.Usual)
}

func (s Sign) rank() int {
	if s.New() {
		return 0
	}
	return 1
}

// String is the sign in a line, with what is usual.
func (s Sign) String() string {
	text := s.Name + ": " + s.Text
	switch {
	case s.Usual != nil:
		text += " (usual " + s.inUnit(*s.Usual) + ")"
	case s.Unit != "seconds":
		text += " (usual not known)"
	}
	return text
}

// inUnit is a value as the text has it.
func (s Sign) inUnit(x float64) string {
	switch s.Unit {
	case "share":
		return units.Percent(x)
	case "bytes":
		return units.Bytes(x)
	}
	if x > 0 && x < 0.5 {
		return "under 1"
	}
	return units.Count(x)
}

// one is a number of the host over the last minutes.
func (v *values) one(name string) (float64, bool) {
	x, ok := v.now[name][""]
	return x, ok
}

// of is the same, of a device; 0 where it was not read: what must be known is in a check's needs.
func (v *values) of(name, device string) float64 { return v.now[name][device] }

// usually is what combine makes of the numbers of the hour before; nil where one of them, or that hour, is not known.
func (v *values) usually(device string, combine func(x []float64) float64, names ...string) *float64 {
	if !v.known() {
		return nil
	}
	var all []float64
	for _, name := range names {
		x, ok := v.usual[name][device]
		if !ok {
			return nil
		}
		all = append(all, x)
	}
	x := combine(all)
	return &x
}

// Of what is combined.
func counted(x []float64) float64 { return grown(x[0]) }
func itself(x []float64) float64  { return x[0] }
func ratio(x []float64) float64 {
	if x[1] <= 0 {
		return 0
	}
	return x[0] / x[1]
}

// devices are those that a number was read of.
func (v *values) devices(name string) []string { return slices.Sorted(maps.Keys(v.now[name])) }
