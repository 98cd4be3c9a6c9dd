package measure

import (
	"sort"
	"time"

	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
)

// RowAt is the last row of a socket at or before t, or nil. A socket on which
// nothing waits and nothing changes gets no new row (probes/sockets), so its
// last one holds.
func RowAt(k *scene.Socket, t recording.Time) *recording.Socket {
	i := sort.Search(len(k.Rows), func(i int) bool { return k.Rows[i].T > t })
	if i == 0 {
		return nil
	}
	return &k.Rows[i-1]
}

// SentBytes is a running total of a row.
func SentBytes(row recording.Socket) float64 { return float64(row.TCP.BytesSent) }

// Jitter is by how much the rows of one tick may lie apart, and one tick late: the
// row that belongs to a start is the one just after it as well.
const Jitter = 300 * time.Millisecond

// MovedIn is by how much a running total of a TCP socket grew within the
// intervals, a second left off at each end, and for how many seconds that was;
// 0 seconds: it was not read before and in any of them.
func MovedIn(k *scene.Socket, all []recording.Interval, end recording.Time, of func(recording.Socket) float64) (n, seconds float64) {
	for _, i := range all {
		i = inside(i, end)
		if i.End <= i.Start {
			continue
		}
		a, b := RowAt(k, i.Start.Add(Jitter)), RowAt(k, i.End)
		if a == nil || b == nil || a.TCP == nil || b.TCP == nil {
			continue
		}
		n += max(0, of(*b)-of(*a))
		seconds += i.End.Sub(i.Start).Seconds()
	}
	return n, seconds
}

// WaitingIn is in how many of a socket's rows within the intervals bytes (or
// connections, of a listener) waited to be read, of how many rows, and the most
// that waited.
func WaitingIn(k *scene.Socket, all []recording.Interval) (waiting, rows, most int) {
	for _, row := range k.Rows {
		if !intervals.Cover(all, row.T) {
			continue
		}
		rows++
		if row.RecvQ > 0 {
			waiting++
			most = max(most, row.RecvQ)
		}
	}
	return waiting, rows, most
}

// MovedBytes is what a row has sent and received so far.
func MovedBytes(row recording.Socket) float64 {
	return SentBytes(row) + float64(row.TCP.BytesReceived)
}

// OwnSocket reports whether a socket is snag's. Of a recording of files nothing is.
func OwnSocket(r *recording.Recording, k *scene.Socket) bool {
	return k.Subject.PID != 0 && k.Subject.PID == r.Manifest.SelfPID
}

// TCPRowsOf are a socket's rows that have tcp_info.
func TCPRowsOf(k *scene.Socket) []recording.Socket {
	var out []recording.Socket
	for _, row := range k.Rows {
		if row.TCP != nil {
			out = append(out, row)
		}
	}
	return out
}

// Median is the median of a value over rows; 0 for none.
func Median(rows []recording.Socket, of func(recording.Socket) float64) float64 {
	if len(rows) == 0 {
		return 0
	}
	all := make([]float64, len(rows))
	for i, row := range rows {
		all[i] = of(row)
	}
	sort.Float64s(all)
	return all[len(all)/2]
}

// hasDescriptor reports whether a socket was that descriptor of a process.
func hasDescriptor(k *scene.Socket, p *scene.Process, fd int) bool {
	for i := range k.Rows {
		for _, o := range k.Rows[i].Owners {
			if o.FD == fd && o.PID == p.Subject.PID {
				return true
			}
		}
	}
	return false
}

// AnswersElsewhere is on how many other connections something came from the same
// host meanwhile.
func AnswersElsewhere(s *scene.Scene, k *scene.Socket, span recording.Interval) int {
	n := 0
	for _, o := range s.Sockets {
		if o == k || o.First().Netns != k.First().Netns || o.First().Remote == "" || recording.Host(o.First().Remote) != recording.Host(k.First().Remote) {
			continue
		}
		a, b := RowAt(o, span.Start.Add(time.Second)), RowAt(o, span.End)
		if a != nil && b != nil && a.TCP != nil && b.TCP != nil && b.TCP.SegsIn > a.TCP.SegsIn {
			n++
		}
	}
	return n
}

// SocketOn is the socket that a descriptor of the process stands for, or nil.
func SocketOn(p *scene.Process, fd int) *scene.Socket {
	if fd < 0 || p == nil {
		return nil
	}
	for _, k := range p.Sockets {
		for _, row := range k.Rows {
			for _, o := range row.Owners {
				if o.PID == p.Subject.PID && o.FD == fd {
					return k
				}
			}
		}
	}
	return nil
}

// SocketAt is the socket that a thread's descriptor stood for when it was looked at: a
// number is used again for the next connection.
func SocketAt(p *scene.Process, row recording.Thread) *scene.Socket {
	if row.FD < 0 || p == nil {
		return nil
	}
	var best *scene.Socket
	var least time.Duration
	for _, k := range p.Sockets {
		if !hasDescriptor(k, p, row.FD) {
			continue
		}
		away := max(k.First().T.Sub(row.T), row.T.Sub(k.Last().T), 0)
		if best == nil || away < least {
			best, least = k, away
		}
	}
	return best
}
