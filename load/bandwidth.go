package load

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"snag/internal/units"
	"snag/load/protocol"
)

var bitsOf = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?)([kMGmg]?)bit(?:/s)?$`)

const mostBits = 1e12

// ParseBits reads a bit rate such as 50Mbit, 1.5Gbit or 800kbit: bits per second, in powers of 1000 as tc(8) has
// them.
func ParseBits(text string) (float64, error) {
	m := bitsOf.FindStringSubmatch(text)
	if m == nil {
		return 0, fmt.Errorf("%q is not a bit rate: give one such as 50Mbit, 1.5Gbit or 800kbit", text)
	}
	v, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not a bit rate: %w", text, err)
	}
	v *= map[string]float64{"": 1, "k": 1e3, "m": 1e6, "g": 1e9}[strings.ToLower(m[2])]
	if v <= 0 || v > mostBits {
		return 0, fmt.Errorf("a bit rate of %s: from 1bit to %gGbit", text, mostBits/1e9)
	}
	return v, nil
}

// ForBandwidth is the plan whose messages carry so many bits per second. No answer is awaited; what comes back is
// counted.
func (p Plan) ForBandwidth(bits float64) (Plan, error) {
	s, ok := p.Target.Protocol.(protocol.Sized)
	if !ok {
		return p, errors.New("a bandwidth is of messages over tcp:// or udp://")
	}
	s.OneWay = true
	p.Target.Protocol, p.Bandwidth = s, bits
	p.Rate = bits / 8 / float64(s.Bytes())
	if p.Rate > mostRate {
		return p, fmt.Errorf("%s in messages of %d bytes are more than %.0f million messages per second: larger messages", units.Bits(bits), s.Bytes(), mostRate/1e6)
	}
	return p, nil
}

// Flow is what became of the messages of a bandwidth, in the time that counts. All rates are bits per second.
type Flow struct {
	Message int // bytes
	Seconds float64
	Needed  float64
	Sent    float64 // that this host's kernel took
	// Acked is what the other side's kernel acknowledged, of TCP alone.
	Acked *float64
	// Returned is how much came back: counted in messages, where an answer's size is known.
	Returned *float64
	// Of TCP: shares of the time in which there was something to send. The receiver's window was full, the send
	// buffer was.
	ByWindow, ByBuffer float64
	// Resent is the share of the bytes that were sent again.
	Resent float64
}

// Carried is what is known to have got across, and whether anything is.
func (f *Flow) Carried() (bits float64, known bool) {
	switch {
	case f.Acked != nil:
		return *f.Acked, true
	case f.Returned != nil:
		return *f.Returned, true
	}
	return 0, false
}

// LeastCarried is the share of a bandwidth from which on it is there: messages are on their way at both ends of
// the time.
const LeastCarried = 0.98

// lateACK is by how much an acknowledgement may be late at one end of the time and not at the other, seconds: the
// delayed acknowledgement of Linux (TCP_DELACK_MIN, include/net/tcp.h).
const lateACK = 0.04

// Enough reports whether the path carries what is needed. It is not sure where the time was so short that late
// acknowledgements make the difference.
func (f *Flow) Enough() (enough, sure bool) {
	bits, known := f.Carried()
	if !known {
		return false, false
	}
	share := bits / f.Needed
	return share >= LeastCarried, f.Acked == nil || share >= LeastCarried || share+lateACK/f.Seconds < LeastCarried
}
