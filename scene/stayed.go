package scene

import (
	"slices"
	"time"

	"snag/recording"
)

// Stayed is how many of some sockets there were at the middles of the window's whole seconds, at
// the least and at the most. A socket that does not change has rows at its first and its last
// look only; those that came and went between two looks are left out. Only looks in some time
// count, if there is one.
func (s *Scene) Stayed(all []*Socket, within ...recording.Interval) (least, most, looks int) {
	from := s.Window.End
	for _, k := range s.Sockets { // before the first look at any socket none was seen
		from = min(from, k.First().T)
	}
	// Of a window of years, and of thousands of sockets, some seconds are enough.
	const mostLooks = 50_000_000
	apart := max(1, s.Window.End.Sub(s.Window.Start)/time.Second*time.Duration(len(all)+1)/mostLooks) * time.Second
	for at := s.Window.Start.Add(time.Second / 2); at.Add(time.Second/2) <= s.Window.End; at = at.Add(apart) {
		if at < from || len(within) > 0 && !slices.ContainsFunc(within, func(i recording.Interval) bool { return i.Start <= at && at < i.End }) {
			continue
		}
		n := 0
		for _, k := range all {
			if k.lives(at) {
				n++
			}
		}
		if looks == 0 || n < least {
			least = n
		}
		most = max(most, n)
		looks++
	}
	return least, most, looks
}

func (s *Socket) lives(at recording.Time) bool {
	return s.First().T <= at && at <= s.Last().T && s.First().State == "ESTABLISHED"
}
