package figures

// least is the smallest of what was added in about the last minute, by slots of a
// second.
type least struct {
	slot  [leastSlots]int64
	at    int64 // number of the newest slot: time / slotLength
	any   bool
	value int64 // the smallest of all slots
}

const (
	leastSlots = 60
	slotLength = second
	noLeast    = int64(1) << 62
)

func (l *least) reset() { *l = least{} }

// add puts v at time now in; now never goes back.
func (l *least) add(now, v int64) {
	n := now / slotLength
	switch {
	case !l.any || n-l.at >= leastSlots:
		for i := range l.slot {
			l.slot[i] = noLeast
		}
		l.any, l.at, l.value = true, n, noLeast
	case n > l.at:
		for l.at < n {
			l.at++
			l.slot[slotOf(l.at)] = noLeast
		}
		l.value = noLeast
		for _, s := range l.slot {
			l.value = min(l.value, s)
		}
	}
	s := &l.slot[slotOf(n)]
	*s = min(*s, v)
	l.value = min(l.value, v)
}

func slotOf(n int64) int {
	if n %= leastSlots; n < 0 {
		n += leastSlots
	}
	return int(n)
}
