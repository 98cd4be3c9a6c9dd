package scene

import (
	"fmt"
	"sort"
	"strings"
	"time"

	"snag/internal/units"
	"snag/recording"
	"snag/recording/intervals"
)

// findSymptoms looks for what users feel without suspecting anything: each
// finder reads one kind of harm off the sockets. Harm that only the suspect can
// measure (a held write, a packet dropped on its way) comes with its finding.
// Floors stand beside the finder with their reason.
func findSymptoms(s *Scene, r *recording.Recording) []Symptom {
	var out []Symptom
	for _, find := range []func(*Scene, *recording.Recording) []Symptom{
		sickStreams, datagramsLost, stalledFlows, unaccepted, twoSidedRequests, waitingRequests, lateRequests, slowHandshakes, unansweredConnects, cutRequests, connectionsTurnedAway, failedCalls, failedConnects, answersThatFail, plateaus, silentLogs, inCaptures, stoppedJVMs,
	} {
		out = append(out, find(s, r)...)
	}
	worstFirst := func() {
		sort.SliceStable(out, func(i, j int) bool { return out[i].MayBe() > out[j].MayBe() })
	}
	if len(out) > maxCompared {
		worstFirst()
		out = out[:maxCompared]
	}
	out = once(s, out)
	worstFirst()
	out = fold(out)
	if len(out) > maxSymptoms {
		out = out[:maxSymptoms]
	}
	return out
}

// maxSymptoms bounds what is carried on: the worst. More of them than this are
// one incident with many victims.
const maxSymptoms = 50

// maxCompared bounds those that are compared with each other.
const maxCompared = 1000

// Ten datagrams are a visible glitch in a stream; 1 in 1,000 is what voice and
// video codecs conceal.
const (
	lostFloor = 10
	lostShare = 0.001
)

// datagramsLost: the drop counter of a UDP socket grew.
func datagramsLost(s *Scene, r *recording.Recording) []Symptom {
	var out []Symptom
	of := lostByProcess(s)
	for _, k := range s.Sockets {
		n := float64(k.DropsGrew())
		if k.First().Proto != "udp" || n == 0 || max(n, of[k.Subject.PID]) < lostFloor {
			continue
		}
		sym := Symptom{
			Name: DatagramsLost, Subject: k.Subject, Amount: n, Unit: "datagrams",
			Active: growing(k, func(row recording.Socket) float64 { return float64(row.Drops) }),
			Text:   fmt.Sprintf("%s datagrams lost at the socket", units.Count(n)),
		}
		if got, ok := datagramsIn(s, r, k); ok {
			if n/(n+got) < lostShare {
				continue
			}
			sym.Share = n / (n + got)
			sym.Text = fmt.Sprintf("%s of %s datagrams lost at the socket (%s)", units.Count(n), units.Count(n+got), units.Percent(n/(n+got)))
		}
		out = append(out, onset(sym, s))
	}
	return out
}

// lostByProcess is what the UDP sockets of each process lost together: the video,
// the audio and the other streams of one receiver come to ports of their own.
func lostByProcess(s *Scene) map[int]float64 {
	out := map[int]float64{}
	for _, k := range s.Sockets {
		if k.First().Proto == "udp" && k.Subject.PID != 0 {
			out[k.Subject.PID] += float64(k.DropsGrew())
		}
	}
	return out
}

// datagramsIn is how many datagrams the namespace's sockets were given, when
// this is the only UDP socket there that lost any: then they are its rate to
// within what its neighbours took.
func datagramsIn(s *Scene, r *recording.Recording, k *Socket) (float64, bool) {
	var pairs []string
	if id := k.First().Netns; id != s.ownNetns {
		pairs = []string{"netns", fmt.Sprint(id)}
	}
	for _, series := range r.Select("node_netstat_Udp_InDatagrams", pairs...) {
		if _, other := series.Labels["netns"]; !other || pairs != nil {
			return series.Increase()
		}
	}
	return 0, false
}

// stallFloor: data that waited this long with nobody moving it is a stall.
// Healthy streams show gaps of 0.1–0.35 s on a busy machine, and samples are a
// second apart, so that two equal ones in a row are the least that can be seen.
const stallFloor = 2 * time.Second

// stalledFlows: a TCP connection with data waiting that nobody moved. On the
// reading side bytes lie in the receive queue and the process takes none; on the
// sending side the peer's window is closed and nothing is acknowledged.
func stalledFlows(s *Scene, r *recording.Recording) []Symptom {
	var out []Symptom
	for _, k := range s.Sockets {
		f := k.First()
		if f.Proto != "tcp" || k.Listening() || f.Remote == "" || waitsForAccept(k) {
			continue
		}
		reading := spans(k, func(a, b recording.Socket) bool {
			return a.State == "ESTABLISHED" && a.RecvQ > 0 && b.RecvQ >= a.RecvQ && consumed(a, b) <= 0 && !talks(a, b)
		})
		writing := spans(k, func(a, b recording.Socket) bool {
			return a.State == "ESTABLISHED" && a.SendQ > 0 && b.SendQ > 0 && a.TCP != nil && b.TCP != nil &&
				a.TCP.BytesAcked == b.TCP.BytesAcked
		})
		for _, side := range []struct {
			active []recording.Interval
			text   string
			name   string
		}{
			{reading, "%s of %s with data received and not read", "read"},
			{writing, "%s of %s with data to send and none acknowledged", "write"},
		} {
			stalled := intervals.Total(side.active, s.Window.End)
			if stalled < stallFloor {
				continue
			}
			out = append(out, onset(Symptom{
				Name: StreamFreeze, Subject: k.Subject, Active: side.active, Side: side.name,
				Amount: stalled.Seconds(), Unit: "s", Share: stalled.Seconds() / s.Window.Length(s.Window.End).Seconds(),
				Text: fmt.Sprintf(side.text, units.Seconds(stalled), units.Seconds(s.Window.Length(s.Window.End))),
			}, s))
		}
	}
	return out
}

// talks: the process sends on it meanwhile, and nothing more has come. An encoder that pushes a
// stream never reads the "200 OK" that it was answered.
func talks(a, b recording.Socket) bool {
	return a.RecvQ == b.RecvQ && a.TCP != nil && b.TCP != nil && b.TCP.BytesSent > a.TCP.BytesSent
}

// waitsForAccept: nobody reads a connection that was not accepted yet; that is
// its listener's symptom.
func waitsForAccept(k *Socket) bool {
	return len(k.Owners) == 0 && k.Listener != nil && k.Listener.Last().RecvQ > 0
}

// consumed is how many bytes the process read between two rows; unknown (no
// tcp_info) counts as what the queue lost.
func consumed(a, b recording.Socket) float64 {
	if a.TCP == nil || b.TCP == nil {
		return float64(a.RecvQ - b.RecvQ)
	}
	return float64(a.RecvQ-b.RecvQ) + float64(b.TCP.BytesReceived) - float64(a.TCP.BytesReceived)
}

// unaccepted: connections wait for accept. A queue that is seen non-empty now and
// then is normal, and so is one that bursts fill and that is soon worked off.
func unaccepted(s *Scene, r *recording.Recording) []Symptom {
	var out []Symptom
	for _, k := range s.Sockets {
		if !k.Listening() {
			continue
		}
		active := spans(k, func(a, b recording.Socket) bool { return a.RecvQ > 0 && b.RecvQ > 0 })
		waited := intervals.Total(active, s.Window.End)
		mean, most := queue(k)
		if waited < stallFloor || !longWait(r, k, mean, s.Window) {
			continue
		}
		out = append(out, onset(Symptom{
			Name: ConnectLatency, Subject: k.Subject, Active: active, Amount: waited.Seconds(), Unit: "s",
			Share: waited.Seconds() / s.Window.Length(s.Window.End).Seconds(), Held: mean,
			Text: fmt.Sprintf("connections waited to be accepted during %s (up to %d at once)", units.Seconds(waited), most),
		}, s))
	}
	return out
}

// acceptFloor is how long a connection waits for accept until a user feels it.
const acceptFloor = 0.5 // s

// longWait: by Little's law a connection waits as long as the queue is long over
// the rate at which connections come. Where none were seen to come, those in the
// queue wait for good.
func longWait(r *recording.Recording, k *Socket, queued float64, window recording.Interval) bool {
	opened := 0.0
	for _, c := range r.Connections {
		if c.Role == "accept" && c.Netns == k.First().Netns && recording.Port(c.Local) == recording.Port(k.First().Local) {
			opened += float64(c.Opened)
		}
	}
	if k.First().Proto == "unix" { // connections are not counted: there are no more than requests
		for _, t := range r.Turns {
			if t.Role == "serve" && t.Netns == k.First().Netns && t.Local == k.First().Local {
				opened += float64(t.N)
			}
		}
	}
	rate := opened / window.Length(window.End).Seconds()
	return rate == 0 || queued/rate >= acceptFloor
}

// queue is the mean and the greatest length of a listener's accept queue.
func queue(k *Socket) (mean float64, most int) {
	for _, row := range k.Rows {
		mean += float64(row.RecvQ) / float64(len(k.Rows))
		most = max(most, row.RecvQ)
	}
	return mean, most
}

// waitingShare: a service whose sockets hold unread data in this share of the
// samples makes its requests wait. Where it reads as data comes, a sample finds
// some in about the share of time that the service is busy.
const (
	waitingShare = 0.5
	fewSamples   = 5
	// ofAsked of the connections on which a process asks others: of thirty answers that come one has
	// just come at most looks, whoever reads them at once.
	ofAsked = 0.1
)

// waitingRequests: data that waits unread at a process' sockets in most samples,
// though it is read in the end.
func waitingRequests(s *Scene, r *recording.Recording) []Symptom {
	var out []Symptom
	quick, served := quickTurns(r)
	for _, p := range s.Processes {
		if quick[p.Subject.PID] {
			continue
		}
		type second struct{ waiting, asked, asks int }
		seen := map[recording.Time]*second{}
		var sockets []string
		for _, k := range p.Sockets {
			if k.First().Proto != "tcp" || k.Listening() || k.First().Remote == "" || consumed(k.First(), k.Last()) <= 0 || served[listening{k.First().Netns, k.First().Local}] {
				continue // nothing of it is read at all: a stall or a leak, not a late answer
			}
			if s.plays(k) || onlyListens(k) {
				continue // a player takes its time: it answers nobody
			}
			waits := false
			for _, row := range k.Rows {
				if row.State != "ESTABLISHED" {
					continue // the end of the connection counts as a byte of the queue
				}
				at := recording.Time(int64(row.T) / 1e9)
				if seen[at] == nil {
					seen[at] = &second{}
				}
				if k.Listener == nil {
					seen[at].asks++
				}
				if row.RecvQ > 0 {
					waits = true
					if k.Listener == nil {
						seen[at].asked++
					} else {
						seen[at].waiting++
					}
				}
			}
			if waits {
				sockets = append(sockets, k.First().Remote)
			}
		}
		waiting := 0
		var active []recording.Interval
		var times []recording.Time
		for at := range seen {
			times = append(times, at)
		}
		sort.Slice(times, func(i, j int) bool { return times[i] < times[j] })
		for _, at := range times {
			if w := seen[at]; w.waiting > 0 || w.asked > 0 && float64(w.asked) >= ofAsked*float64(w.asks) {
				waiting++
				active = append(active, recording.Interval{Start: at * 1e9, End: at*1e9 + 1e9})
			}
		}
		if len(times) < fewSamples || float64(waiting) < waitingShare*float64(len(times)) {
			continue
		}
		share := float64(waiting) / float64(len(times))
		out = append(out, onset(Symptom{
			Name: RequestLatency, Subject: p.Subject, Active: intervals.Merge(active, 0), Side: "read", Amount: share, Unit: "ratio", Share: share / 2,
			Text: fmt.Sprintf("received data waited unread in the socket buffer in %d of %d samples (from %s)", waiting, len(times), someOf(sockets)),
		}, s))
	}
	return out
}

// quickMean is what a turn takes on average where nobody can mind what waits unread now and
// then.
const quickMean = 0.01 // s

// listening is where a service is asked.
type listening struct {
	netns uint64
	local string
}

// quickTurns are the processes, and the services, whose turns were measured, if only in slices,
// and are short. Of the workers of one service the rows name one.
func quickTurns(r *recording.Recording) (quick map[int]bool, served map[listening]bool) {
	by, at := map[int]recording.Turns{}, map[listening]recording.Turns{}
	for _, row := range r.Turns {
		p := by[row.PID]
		p.N, p.Sum = p.N+row.N, p.Sum+row.Sum
		by[row.PID] = p
		if k := (listening{row.Netns, row.Local}); row.Role == "serve" {
			p := at[k]
			p.N, p.Sum = p.N+row.N, p.Sum+row.Sum
			at[k] = p
		}
	}
	short := func(t recording.Turns) bool { return t.N >= fewTurns && t.Sum/float64(t.N) < quickMean }
	quick, served = map[int]bool{}, map[listening]bool{}
	for pid, t := range by {
		quick[pid] = short(t)
	}
	for k, t := range at {
		served[k] = short(t)
	}
	return quick, served
}

func someOf(all []string) string {
	if len(all) <= 2 {
		return strings.Join(all, ", ")
	}
	return fmt.Sprintf("%s and %d more", all[0], len(all)-1)
}

func onset(sym Symptom, s *Scene) Symptom {
	sym.Onset = s.Window.Start
	if len(sym.Active) > 0 {
		sym.Onset = sym.Active[0].Start
	}
	return sym
}
