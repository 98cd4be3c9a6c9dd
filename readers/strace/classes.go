package strace

import "snag/internal/calls"

// class is what of a call matters here.
type class = calls.Kind

const (
	hasFD, reads, writes, asks              = calls.OnFD, calls.Reads, calls.Writes, calls.Asks
	opens, closes, names, pairs             = calls.Opens, calls.Closes, calls.Names, calls.Pairs
	forks, executes, ends                   = calls.Forks, calls.Executes, calls.Ends
	waits, locking, polls, sleeps, children = calls.Idles, calls.Locks, calls.Polls, calls.Sleeps, calls.Children
	arms, limits, listens, shuts, renames   = calls.Arms, calls.Limits, calls.Listens, calls.Shuts, calls.Renames
)

// callNames gives each call's name a small number.
type callNames struct {
	ids   map[string]uint16
	names []string
	class []class
	cache [256]uint16 // by a hash of the name; 0: none, as id 0 is nobody's
}

func newCallNames() *callNames {
	return &callNames{ids: map[string]uint16{}, names: []string{""}, class: []class{0}}
}

// mostNames bounds the names: a kernel has some 470 calls; what a damaged file
// adds is counted together.
const mostNames = 4096

const otherCalls = "other"

func (c *callNames) id(name []byte) uint16 {
	n := len(name)
	slot := (int(name[0])*7 + int(name[n-1])*31 + int(name[n/2])*3 + n) & 255
	if id := c.cache[slot]; c.names[id] == string(name) {
		return id
	}
	id, ok := c.ids[string(name)]
	if !ok {
		s := string(name)
		if len(c.names) >= mostNames {
			s = otherCalls
			if id, ok = c.ids[s]; ok {
				return id
			}
		}
		id = uint16(len(c.names))
		c.ids[s] = id
		c.names = append(c.names, s)
		c.class = append(c.class, calls.Of(s))
	}
	c.cache[slot] = id
	return id
}
