package gclog

import "time"

// union is how long at least one of many intervals lasted. Waits of several threads
// overlap: their sum is no time that passed. Intervals come by when they ended, as a
// log has them.
type union struct {
	open []span // apart from each other, by time
	done int64
}

type span struct{ from, to int64 }

// mostOpen spans may still be joined by a long wait that ends later.
const mostOpen = 4096

func (u *union) add(from, to int64) {
	for n := len(u.open); n > 0 && u.open[n-1].to >= from; n = len(u.open) {
		from, to = min(from, u.open[n-1].from), max(to, u.open[n-1].to)
		u.open = u.open[:n-1]
	}
	if len(u.open) == mostOpen {
		u.done += u.open[0].to - u.open[0].from
		u.open = append(u.open[:0], u.open[1:]...)
	}
	u.open = append(u.open, span{from, to})
}

func (u *union) length() time.Duration {
	sum := u.done
	for _, s := range u.open {
		sum += s.to - s.from
	}
	return time.Duration(sum)
}
