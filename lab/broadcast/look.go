package broadcast

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Moment is what ss and the kernel's counters show of a broadcast at one instant:
// read without snag, for checks of the truth.
type Moment struct {
	SendQ  int    // bytes that wait at the encoders' sockets, of the fullest
	RecvQ  int    // bytes that wait unread at the server's sockets, of the fullest
	Unread int    // bytes that wait unread at the viewers' sockets, of the fullest
	Came   uint64 // bytes that the server's host has received
	Seen   uint64 // bytes that the viewers' host has received
}

// Look takes a moment.
func (b *Broadcast) Look() (Moment, error) {
	var m Moment
	for _, at := range []struct {
		ns   string
		port string // of the far end, "" for any
		recv *int
		send *int
	}{
		{b.Encoder, ":1935", nil, &m.SendQ},
		{b.Server, "", &m.RecvQ, nil},
		{b.Viewer, "", &m.Unread, nil},
	} {
		out, err := b.Stage.Output(at.ns, "ss", "-Htn", "state", "established")
		if err != nil {
			return m, err
		}
		for _, line := range strings.Split(out, "\n") {
			f := strings.Fields(line) // Recv-Q Send-Q local peer
			if len(f) < 4 || !strings.HasSuffix(f[3], at.port) {
				continue
			}
			r, _ := strconv.Atoi(f[0])
			w, _ := strconv.Atoi(f[1])
			if at.recv != nil {
				*at.recv = max(*at.recv, r)
			}
			if at.send != nil {
				*at.send = max(*at.send, w)
			}
		}
	}
	var err error
	if m.Came, err = b.Stage.Counter(b.Server, "IpExt", "InOctets"); err != nil {
		return m, err
	}
	m.Seen, err = b.Stage.Counter(b.Viewer, "IpExt", "InOctets")
	return m, err
}

// Gap is the longest time in which hardly anything came at a place, and what waited
// where in it.
type Gap struct {
	Length       time.Duration
	SendQ, RecvQ int // the most, bytes
	LeastRecvQ   int // in its second half, when buffers on the way are full
}

// trickle is what a stream of 1 Mb/s never falls to: acknowledgements and reports.
const trickle = 3000 // bytes/s

// Watched is a broadcast as seen for some time.
type Watched struct {
	Server, Viewer Gap // where hardly anything came
	Full           int // looks at which more than 30 kB waited at the encoders
	Unread         int // looks at which more than 30 kB waited unread at the viewers
	Looks          int
}

// Observe looks at a broadcast ten times per second.
func (b *Broadcast) Observe(d time.Duration) (Watched, error) {
	const full = 30_000
	var w Watched
	var all []Moment
	var at []time.Time
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		m, err := b.Look()
		if err != nil {
			return w, err
		}
		all, at = append(all, m), append(at, time.Now())
		if m.SendQ > full {
			w.Full++
		}
		if m.Unread > full {
			w.Unread++
		}
	}
	w.Looks = len(all)
	w.Server = longestGap(all, at, func(m Moment) uint64 { return m.Came })
	w.Viewer = longestGap(all, at, func(m Moment) uint64 { return m.Seen })
	return w, nil
}

// Stood reports whether the stream stood still at the viewer for longer than a freeze.
func (w Watched) Stood() bool { return w.Viewer.Length > 2*time.Second }

// NotTheEncoder is why the encoder did not stop, by what came to its server; nil
// where it did: the server then gets nothing, and has nothing left unread, while one
// that is stopped does not read.
func (w Watched) NotTheEncoder() error {
	if w.Server.Length < 2*time.Second || w.Server.RecvQ > 10_000 {
		return fmt.Errorf("the server got nothing for %s, with up to %d bytes unread: it was not the encoder", w.Server.Length, w.Server.RecvQ)
	}
	return nil
}

// NotTheServer is why the server did not stop; nil where it did.
func (w Watched) NotTheServer() error {
	if w.Viewer.LeastRecvQ < 20_000 {
		return fmt.Errorf("only %d bytes waited unread in the server's socket buffer: it was not the server", w.Viewer.LeastRecvQ)
	}
	return nil
}

func longestGap(all []Moment, at []time.Time, of func(Moment) uint64) Gap {
	var best Gap
	first := 0
	for i := 1; i < len(all); i++ {
		if float64(of(all[i])-of(all[i-1])) > trickle*at[i].Sub(at[i-1]).Seconds() {
			first = i
			continue
		}
		length := at[i].Sub(at[first])
		if length <= best.Length {
			continue
		}
		best = Gap{Length: length, LeastRecvQ: all[i].RecvQ}
		for j := first + 1; j <= i; j++ {
			best.SendQ, best.RecvQ = max(best.SendQ, all[j].SendQ), max(best.RecvQ, all[j].RecvQ)
			if j > (first+i)/2 {
				best.LeastRecvQ = min(best.LeastRecvQ, all[j].RecvQ)
			}
		}
	}
	return best
}
