package recorded

import (
	"fmt"
	"slices"

	"snag/internal/conversation"
	"snag/recording"
)

// servesOn reports whether a descriptor is a connection to one of the recording's listeners.
func servesOn(r *recording.Recording, pid, fd int) bool {
	i := slices.IndexFunc(r.FDs, func(f recording.FD) bool { return f.PID == pid && f.FD == fd && f.Local != "" })
	if i < 0 {
		return false
	}
	port := recording.Port(r.FDs[i].Local)
	return slices.ContainsFunc(r.Sockets, func(s recording.Socket) bool {
		return s.State == "LISTEN" && recording.Port(s.Local) == port
	})
}

// options takes what the socket had set when it was read.
func options(c *conversation.Conversation, r *recording.Recording, pid, fd int) {
	for _, s := range r.Sockets {
		owned := slices.ContainsFunc(s.Owners, func(o recording.FDRef) bool { return o.PID == pid && o.FD == fd })
		if !owned || s.Options == nil || s.Options.NoDelay == nil {
			continue
		}
		on := *s.Options.NoDelay
		c.NoDelay = &on
		state := "off"
		if on {
			state = "on"
		}
		c.Set = append(c.Set, fmt.Sprintf("TCP_NODELAY %s (socket %s – %s)", state, s.Local, s.Remote))
		if s.Options.SndBuf > 0 {
			// The kernel may have chosen it, and doubles what a program sets.
			c.Lacks = append(c.Lacks, fmt.Sprintf("whether the program set its buffers: they were %d bytes to send, %d to receive", s.Options.SndBuf, s.Options.RcvBuf))
		}
		return
	}
	c.Lacks = append(c.Lacks, "the socket's options")
}
