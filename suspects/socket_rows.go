package suspects

import (
	"sort"
	"time"

	"snag/recording"
	"snag/scene"
)

// rowAt is the last row of a socket at or before t, or nil. A socket on which
// nothing waits and nothing changes gets no new row (probes/sockets), so its
// last one holds.
func rowAt(k *scene.Socket, t recording.Time) *recording.Socket {
	i := sort.Search(len(k.Rows), func(i int) bool { return k.Rows[i].T > t })
	if i == 0 {
		return nil
	}
	return &k.Rows[i-1]
}

// sentBytes is a running total of a row.
func sentBytes(row recording.Socket) float64 { return float64(row.TCP.BytesSent) }

// jitter is by how much the rows of one tick may lie apart, and one tick late: the
// row that belongs to a start is the one just after it as well.
const jitter = 300 * time.Millisecond

// inside leaves a sample's distance from the ends of an interval: what moved
// there may have moved before or after.
func inside(i recording.Interval, end recording.Time) recording.Interval {
	if i.End == 0 {
		i.End = end
	}
	return recording.Interval{Start: i.Start.Add(time.Second), End: i.End.Add(-time.Second)}
}

// movedIn is by how much a running total of a TCP socket grew within the
// intervals, a second left off at each end, and for how many seconds that was;
// 0 seconds: it was not read before and in any of them.
func movedIn(k *scene.Socket, all []recording.Interval, end recording.Time, of func(recording.Socket) float64) (n, seconds float64) {
	for _, i := range all {
		i = inside(i, end)
		if i.End <= i.Start {
			continue
		}
		a, b := rowAt(k, i.Start.Add(jitter)), rowAt(k, i.End)
		if a == nil || b == nil || a.TCP == nil || b.TCP == nil {
			continue
		}
		n += max(0, of(*b)-of(*a))
		seconds += i.End.Sub(i.Start).Seconds()
	}
	return n, seconds
}

// rest is the window without the intervals.
func rest(all []recording.Interval, window recording.Interval) []recording.Interval {
	var out []recording.Interval
	at := window.Start
	for _, i := range mergeIntervals(all, 0) {
		if i.Start > at {
			out = append(out, recording.Interval{Start: at, End: i.Start})
		}
		if i.End == 0 {
			return out
		}
		at = max(at, i.End)
	}
	if at < window.End {
		out = append(out, recording.Interval{Start: at, End: window.End})
	}
	return out
}

// waitingIn is in how many of a socket's rows within the intervals bytes (or
// connections, of a listener) waited to be read, of how many rows, and the most
// that waited.
func waitingIn(k *scene.Socket, all []recording.Interval) (waiting, rows, most int) {
	for _, row := range k.Rows {
		if !covers(all, row.T) {
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

// movedBytes is what a row has sent and received so far.
func movedBytes(row recording.Socket) float64 {
	return sentBytes(row) + float64(row.TCP.BytesReceived)
}

// ownSocket tells whether a socket is snag's. Of a recording of files nothing is.
func ownSocket(r *recording.Recording, k *scene.Socket) bool {
	return k.Subject.PID != 0 && k.Subject.PID == r.Manifest.SelfPID
}

// tcpRowsOf are a socket's rows that have tcp_info.
func tcpRowsOf(k *scene.Socket) []recording.Socket {
	var out []recording.Socket
	for _, row := range k.Rows {
		if row.TCP != nil {
			out = append(out, row)
		}
	}
	return out
}

// middle is the median of a value over rows; 0 for none.
func middle(rows []recording.Socket, of func(recording.Socket) float64) float64 {
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
