package pcap

import (
	"fmt"

	"snag/internal/conversation"
)

// Nagle's algorithm (RFC 9293, section 3.7.4) sends a write as soon as what was sent before is acknowledged. At the
// client that is within some µs; a program's own next write has no reason to come just then.
const (
	heldFor   = int64(5e6) // ns: shorter ones make no other message
	sentAfter = int64(1e6)
	leastHeld = 3
)

// isHeld reports whether the client's segment left as the acknowledgement of its last one came.
func (k *follower) isHeld(at int64) bool {
	n := len(k.c.Events)
	if n == 0 || !k.c.Events[n-1].Out {
		return false
	}
	before := k.begun + int64(k.c.Events[n-1].End)
	return at-before > heldFor && k.acked > before && at >= k.acked && at-k.acked < sentAfter
}

// nagle says what the delayed writes tell, or that they are too few to tell.
func (k *follower) nagle(c *conversation.Conversation) {
	if k.held >= leastHeld {
		off := false
		c.NoDelay = &off
		c.Set = append(c.Set, fmt.Sprintf("TCP_NODELAY off: %d writes left as the acknowledgement of the one before came, as by Nagle's algorithm", k.held))
		c.Lacks = append(c.Lacks, "other socket options and timeouts")
		return
	}
	for i := range c.Events {
		c.Events[i].Held = false
	}
	c.Lacks = append(c.Lacks, "socket options and timeouts")
}
