package strace

// fdTable is what a process' descriptors are. Nearly all numbers are small: those
// are looked up without hashing.
type fdTable struct {
	low  []*descriptor
	high map[int32]*descriptor
	n    int
}

// lowFDs is the usual limit of a service (LimitNOFILE=65536).
const lowFDs = 65536

func (t *fdTable) get(fd int32) *descriptor {
	if uint32(fd) < uint32(len(t.low)) {
		return t.low[fd]
	}
	return t.high[fd]
}

func (t *fdTable) set(fd int32, d *descriptor) {
	if t.get(fd) == nil {
		t.n++
	}
	switch {
	case fd < 0:
		t.n--
	case fd < lowFDs:
		if int(fd) >= len(t.low) {
			t.low = append(t.low, make([]*descriptor, int(fd)+16-len(t.low))...)
		}
		t.low[fd] = d
	default:
		if t.high == nil {
			t.high = map[int32]*descriptor{}
		}
		t.high[fd] = d
	}
}

func (t *fdTable) drop(fd int32) {
	if t.get(fd) == nil {
		return
	}
	t.n--
	if int(fd) < len(t.low) {
		t.low[fd] = nil
		return
	}
	delete(t.high, fd)
}

func (t *fdTable) each(use func(int32, *descriptor)) {
	for fd, d := range t.low {
		if d != nil {
			use(int32(fd), d)
		}
	}
	for fd, d := range t.high {
		use(fd, d)
	}
}
