package scene

import (
	"fmt"
	"time"

	"snag/recording"
)

// What a log tells of its service, read as a file (readers/logs).

// busyByLog says what a service had to do while its log was silent: requests that were
// under way for most of that time, by how long they took when they ended.
func busyByLog(r *recording.Recording, p *Process, in recording.Interval) string {
	open, oldest := 0, 0.0
	var most uint64
	for _, t := range r.Turns {
		if t.PID != p.Subject.PID || t.Role != "serve" || t.T < in.Start || t.T.Add(time.Second) > in.End {
			continue
		}
		if t.Open > 0 {
			open++
			most, oldest = max(most, t.Open), max(oldest, t.Oldest)
		}
	}
	seconds := in.End.Sub(in.Start).Seconds()
	if float64(open) < 0.5*(seconds-1) && oldest < 0.5*seconds || open == 0 {
		return ""
	}
	return fmt.Sprintf("up to %d requests were under way, by how long they took", most)
}

// LogsRequests reports whether a log says how long requests took: then its silence says
// whether its service had something to do.
func LogsRequests(r *recording.Recording, pid int) bool {
	for _, t := range r.Turns {
		if t.PID == pid && t.Role == "serve" {
			return true
		}
	}
	return false
}

// often reports whether calls that failed are more than clients that come and go: a log of
// days has some of those in each hour. One peer five times within a minute is.
func (f *failing) often() bool {
	by := map[string][]recording.CallError{}
	for _, row := range f.rows {
		by[recording.Host(row.Remote)] = append(by[recording.Host(row.Remote)], row)
	}
	for _, rows := range by {
		if MostInAMinute(rows, func(e recording.CallError) (recording.Time, float64) { return e.T, float64(e.N) }) >= failedFloor {
			return true
		}
	}
	return false
}

// MostInAMinute is the largest count of rows, in order of time, within any minute.
func MostInAMinute[T any](rows []T, of func(T) (recording.Time, float64)) float64 {
	most, sum, from := 0.0, 0.0, 0
	for _, row := range rows {
		t, n := of(row)
		sum += n
		for ; from < len(rows); from++ {
			first, gone := of(rows[from])
			if t.Sub(first) <= time.Minute {
				break
			}
			sum -= gone
		}
		most = max(most, sum)
	}
	return most
}

// loggedStreams are those that logs alone know, by their freezes: nobody watched them,
// and no row reports what they are made of.
func loggedStreams(r *recording.Recording) (out []recording.Stream) {
	known := map[string]bool{}
	for _, row := range r.Streams {
		known[row.Name] = true
	}
	for _, e := range r.Events {
		name := e.Subject.Name
		if e.Kind != recording.EventStreamFreeze || e.Attrs["file"] == "" || known[name] || len(known) >= mostLogged {
			continue
		}
		known[name] = true
		out = append(out, recording.Stream{T: e.T, Name: name, Protocol: "log", Side: recording.StreamSidePlayer, Last: e.T})
	}
	return out
}

// mostLogged streams of logs are told apart.
const mostLogged = 1000

// allAlong reports that requests were late in all parts of a log's time alike: reports,
// uploads, long polls, which a log of hours has among quick requests.
func (v *Service) allAlong(bound float64, window recording.Interval) bool {
	const parts = 10
	length := window.End.Sub(window.Start)
	if length < time.Minute {
		return false
	}
	var late [parts]float64
	sum := 0.0
	for _, row := range v.Rows {
		for i, n := range row.Hist {
			if recording.TurnBound(i) >= bound {
				late[min(max(int(row.T.Sub(window.Start)*parts/length), 0), parts-1)] += float64(n)
				sum += float64(n)
			}
		}
	}
	hit := 0
	for _, n := range late {
		if n > 0 {
			hit++
		}
		if n > 3*sum/parts {
			return false
		}
	}
	return hit >= parts-2
}
