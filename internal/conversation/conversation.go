// Package conversation is what went over one connection, as a file of some tool shows it: when how many
// bytes went which way. Those who read files hand it to those who send the same again.
package conversation

import "time"

// Event is one call or one segment that moved bytes.
type Event struct {
	Begin, End time.Duration // since some moment before the first one
	Out        bool          // the client sent it
	Bytes      int
	Joins      bool // the next event is of the same write
	Held       bool // of the same message as the one before, though later: Nagle's algorithm held it back
}

// Conversation is one connection, and what its program set.
type Conversation struct {
	Events []Event
	From   string // "trace.txt, fd 5 of process 4711, lines 3 to 120"
	Timed  bool   // Begin and End are known
	// What the file does not hold is nil or 0.
	NoDelay, QuickAck         *bool
	SendBuffer, ReceiveBuffer int    // bytes
	Congestion                string // the algorithm of TCP_CONGESTION
	Timeout                   time.Duration
	Set                       []string // these settings in words, with where they are in the file
	Lacks                     []string // what the file does not hold, in words
}

// Message is what the client sends before it waits for the answer, or for a while.
type Message struct {
	At     time.Duration // after the first message
	Writes []int         // bytes
	Answer int           // bytes that came before the next message; 0: none
}

// pause is how long after the last write a write belongs to another message. Writes of one message come
// one after the other; what a program computes between two takes longer.
const pause = 5 * time.Millisecond

// Messages divides the events into messages. What the server says before the first one is left out.
func (c Conversation) Messages() (out []Message) {
	var first, last time.Duration // of the first message, and when the last write ended
	joins := false
	for _, e := range c.Events {
		if e.Bytes <= 0 {
			continue
		}
		n := len(out)
		if !e.Out {
			if n > 0 {
				out[n-1].Answer += e.Bytes
			}
			joins = false
			continue
		}
		switch {
		case n == 0:
			first = e.Begin
			fallthrough
		case out[max(n-1, 0)].Answer > 0, c.Timed && e.Begin-last > pause && !joins && !e.Held:
			out = append(out, Message{At: e.Begin - first, Writes: []int{e.Bytes}})
		case joins:
			w := out[n-1].Writes
			w[len(w)-1] += e.Bytes
		default:
			out[n-1].Writes = append(out[n-1].Writes, e.Bytes)
		}
		last, joins = e.End, e.Joins
	}
	return out
}

// Length is from the first message to the last event.
func (c Conversation) Length() time.Duration {
	for _, e := range c.Events {
		if e.Out && e.Bytes > 0 {
			return c.Events[len(c.Events)-1].End - e.Begin
		}
	}
	return 0
}
