package uring

import (
	"bytes"
	"strconv"
)

// Link is what the link of a ring's descriptor below /proc/PID/fd says.
const Link = "anon_inode:[io_uring]"

// Ring is what /proc/PID/fdinfo/N shows of a ring.
type Ring struct {
	// Completed counts its completions, modulo 2^32; Counted reports that the kernel shows
	// it (since 5.19; io_uring_show_fdinfo).
	Completed uint64
	Counted   bool
	Waits     map[uint32]int // operations that wait for their descriptor, by opcode
}

// mostWaits operations are read of a ring.
const mostWaits = 1 << 16

// ParseRing reads a ring's fdinfo (io_uring/fdinfo.c).
func ParseRing(b []byte) Ring {
	r := Ring{Waits: map[uint32]int{}}
	polls, n := false, 0
	for line := range bytes.Lines(b) {
		key, value, ok := bytes.Cut(bytes.TrimRight(line, "\n"), []byte(":"))
		switch {
		case ok && string(key) == "CachedCqTail":
			if v, err := strconv.ParseUint(string(bytes.TrimSpace(value)), 10, 64); err == nil {
				r.Completed, r.Counted = v, true
			}
		case ok && len(key) > 0 && key[0] != ' ':
			polls = string(key) == "PollList"
		case polls && n < mostWaits:
			rest, found := bytes.CutPrefix(bytes.TrimSpace(line), []byte("op="))
			code, _, _ := bytes.Cut(rest, []byte(","))
			if v, err := strconv.ParseUint(string(code), 10, 32); found && err == nil {
				r.Waits[uint32(v)]++
				n++
			}
		}
	}
	return r
}
