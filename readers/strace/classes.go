package strace

import (
	"encoding/binary"

	"snag/internal/calls"
)

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
	cache [1024]uint16 // by a hash of the name; 0: none, as id 0 is nobody's
}

func newCallNames() *callNames {
	return &callNames{ids: map[string]uint16{}, names: []string{""}, class: []class{0}}
}

// slotOf is a hash of a name, which is not empty.
func slotOf(name []byte) uint64 {
	n := len(name)
	if n >= 8 {
		return ((binary.LittleEndian.Uint64(name) ^ binary.LittleEndian.Uint64(name[n-8:])<<1) * 0x9e3779b97f4a7c15) >> 54
	}
	if n >= 4 {
		return ((uint64(binary.LittleEndian.Uint32(name))<<32 | uint64(binary.LittleEndian.Uint32(name[n-4:]))) * 0x9e3779b97f4a7c15) >> 54
	}
	return (uint64(name[0])*7 + uint64(name[n-1])*31 + uint64(n)) & 1023
}

// mostNames bounds the names: a kernel has some 470 calls; what a damaged file
// adds is counted together.
const mostNames = 4096

const otherCalls = "other"

func (c *callNames) id(name []byte) uint16 {
	slot := slotOf(name)
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
