package remotewrite

import (
	"maps"
	"strconv"
	"time"

	"snag/recording"
)

// parties are the services of this host, and what its processes ask: counters since the recorder began, of the rows of
// each second (recording.Turns).
type parties struct {
	all  map[partyKey]*party
	lost float64 // answers of parties that found no room
}

type partyKey struct{ role, at, comm, netns string }

// party has counters, and of the last second what is open.
type party struct {
	answers, seconds, wait, failed, cut float64
	open, oldest                        float64
	at                                  recording.Time
	hist                                [nBounds]float64
}

// mostParties bounds what one host has: a proxy may ask thousands.
const mostParties = 40

// The histogram has every second bound of the recording's (recording.TurnBound), from 1 ms to 8.4 s: each value is
// counted where it belongs.
const (
	firstBound = 12
	nBounds    = 14
)

func bound(b int) float64 { return recording.TurnBound(firstBound + 2*b) }

func newParties() parties { return parties{all: map[partyKey]*party{}} }

func (p *parties) add(t recording.Turns) {
	key := partyKey{role: t.Role, at: t.Local, comm: t.Comm}
	if t.Role != "serve" {
		key.at = t.Remote
	}
	if t.Netns != 0 {
		key.netns = strconv.FormatUint(t.Netns, 10)
	}
	one := p.all[key]
	if one == nil {
		if len(p.all) >= mostParties {
			p.lost += float64(t.N)
			return
		}
		one = &party{}
		p.all[key] = one
	}
	one.answers += float64(t.N)
	one.seconds += t.Sum
	one.wait += t.Wait
	one.failed += float64(t.Failed)
	one.cut += float64(t.Cut)
	if t.T != one.at { // rows of one second are added up
		one.at, one.open, one.oldest = t.T, 0, 0
	}
	one.open += float64(t.Open)
	one.oldest = max(one.oldest, t.Oldest)
	for i, n := range t.Hist {
		for b := max(0, (i-firstBound)/2+1); n > 0 && b < nBounds; b++ { // less than bound(b) are those up to 2b+firstBound
			if i < firstBound+2*b {
				one.hist[b] += float64(n)
			}
		}
	}
}

// openFor is how long what a party has open holds: while a request is open there is a row each second.
const openFor = 5 * time.Second

// measured are the values at a time.
func (p *parties) measured(now recording.Time) (out []Measured) {
	for key, one := range p.all {
		kind, labels := "snag_service_", recording.Labels{"process": key.comm, "listener": key.at}
		if key.role != "serve" {
			kind, labels = "snag_dependency_", recording.Labels{"process": key.comm, "server": key.at}
		}
		if key.netns != "" {
			labels["netns"] = key.netns
		}
		open, oldest := one.open, one.oldest
		if now.Sub(one.at) > openFor {
			open, oldest = 0, 0
		}
		for name, v := range map[string]float64{
			"answers_total": one.answers, "answer_seconds_total": one.seconds, "failed_answers_total": one.failed, "cut_requests_total": one.cut,
			"open_requests": open, "oldest_request_seconds": oldest,
		} {
			out = append(out, Measured{kind + name, labels, v})
		}
		if key.role == "serve" {
			out = append(out, Measured{"snag_service_unread_seconds_total", labels, one.wait})
			out = append(out, one.histogram(labels)...)
		}
	}
	if p.lost > 0 {
		out = append(out, Measured{"snag_answers_left_out_total", nil, p.lost})
	}
	return out
}

func (one *party) histogram(of recording.Labels) (out []Measured) {
	put := func(n float64, le string) {
		l := maps.Clone(of)
		l["le"] = le
		out = append(out, Measured{"snag_service_answer_seconds_bucket", l, n})
	}
	for b, n := range one.hist {
		put(n, strconv.FormatFloat(bound(b), 'g', 7, 64))
	}
	put(one.answers, "+Inf")
	return out
}
