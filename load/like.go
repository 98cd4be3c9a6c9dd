package load

import (
	"fmt"
	"time"

	"snag/internal/conversation"
	"snag/load/protocol"
)

// mostMessages of a conversation are sent again: each takes some 100 bytes.
const mostMessages = 200_000

// Like is a target that is sent the messages of a conversation, with when they are due. rate is of all
// connections together; 0: as it was. The bytes themselves are not those of the conversation.
func Like(t Target, c conversation.Conversation, conns int, rate float64) (Target, *Times, error) {
	messages := c.Messages()
	if len(messages) == 0 {
		return t, nil, fmt.Errorf("%s: it has no message to send again", c.From)
	}
	messages = messages[:min(len(messages), mostMessages)]
	longest := 0
	for _, m := range messages {
		size := 0
		for _, n := range m.Writes {
			size += n
		}
		if size > mostBytes || m.Answer > mostBytes {
			return t, nil, fmt.Errorf("%s: a message of %d bytes with an answer of %d: up to %d are sent again", c.From, size, m.Answer, mostBytes)
		}
		longest = max(longest, size)
	}
	filler := fill(longest)
	script := protocol.Script{Conns: conns}
	for _, m := range messages {
		script.Steps = append(script.Steps, protocol.Step{Writes: writesOf(filler, m.Writes), Answer: m.Answer})
	}
	t.Protocol = script
	return t, timesOf(messages, c, conns, rate), nil
}

func writesOf(filler []byte, sizes []int) (out [][]byte) {
	for _, n := range sizes {
		out, filler = append(out, filler[:n:n]), filler[n:]
	}
	return out
}

// fill makes a message of so many bytes.
func fill(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte('a' + i%26)
	}
	return b
}

// timesOf are the messages' times, or even ones where the file has none; as fast as rate says.
func timesOf(messages []conversation.Message, c conversation.Conversation, conns int, rate float64) *Times {
	t := &Times{}
	last := time.Duration(0)
	for _, m := range messages {
		last = max(last, m.At) // captures of several interfaces may not be in order
		t.At = append(t.At, last)
	}
	n := len(t.At)
	if last == 0 || !c.Timed {
		// One message, or no times.
		if rate == 0 {
			rate = float64(conns)
		}
		each := time.Duration(float64(conns) / rate * float64(time.Second))
		for i := range t.At {
			t.At[i] = time.Duration(i) * each
		}
		t.Every = time.Duration(n) * each
		return t
	}
	t.Every = max(c.Length(), last+last/time.Duration(n-1))
	if rate > 0 {
		t.scale(t.Rate(conns) / rate)
	}
	return t
}

// Rate is requests per second over all connections, on average.
func (t *Times) Rate(conns int) float64 {
	return float64(len(t.At)*conns) / t.Every.Seconds()
}

func (t *Times) scale(by float64) {
	for i := range t.At {
		t.At[i] = time.Duration(float64(t.At[i]) * by)
	}
	t.Every = max(time.Duration(float64(t.Every)*by), 1)
}
