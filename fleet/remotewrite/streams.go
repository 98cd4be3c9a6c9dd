package remotewrite

import (
	"cmp"
	"strconv"
	"time"

	"snag/internal/sorting"
	"snag/recording"
)

// streams are the connections over which others send this host a stream: of TCP, for some seconds, nearly all bytes
// in one direction. Of UDP no bytes are counted, and streams that are asked for piece by piece (HLS, DASH) are
// answers (parties).
type streams struct{ all map[uint64]*incoming } // by socket cookie

// incoming is such a connection, or one that may be.
type incoming struct {
	since, last        recording.Time
	before, bytes      uint64 // received when it was first seen, and last
	process, from, own string
	netns              string
}

const (
	// mostLooked connections are looked at, and of these mostStreams sent, those with most bytes.
	mostLooked, mostStreams = 1000, 16
	// oneWay times as much comes in as goes out, and leastReceived bytes came: a request's answer may be as long.
	oneWay, leastReceived = 10, 64 << 10
	// A stream has gone on for streamsFor, at leastRate bytes per second: audio has 8,000.
	streamsFor, leastRate = 10 * time.Second, 4000
	// forgotten is after how long a connection without a row has ended; rows of many sockets come in turn.
	forgotten = 30 * time.Second
)

func (s *streams) add(k recording.Socket) {
	if k.TCP == nil || k.Cookie == 0 || len(k.Owners) == 0 || k.Remote == "" {
		return
	}
	one := s.all[k.Cookie]
	if one == nil {
		if k.TCP.BytesReceived < leastReceived || k.TCP.BytesReceived < oneWay*k.TCP.BytesAcked || len(s.all) >= mostLooked {
			return
		}
		one = &incoming{since: k.T, before: k.TCP.BytesReceived, process: k.Owners[0].Comm, from: k.Remote, own: k.Local}
		if k.Netns != 0 {
			one.netns = strconv.FormatUint(k.Netns, 10)
		}
		s.all[k.Cookie] = one
	}
	one.last, one.bytes = k.T, k.TCP.BytesReceived
}

// measured are the greatest streams at a time.
func (s *streams) measured(now recording.Time) (out []Measured) {
	var all []*incoming
	for cookie, one := range s.all {
		switch {
		case now.Sub(one.last) > forgotten:
			delete(s.all, cookie)
		case one.last.Sub(one.since) >= streamsFor && float64(one.bytes-one.before) >= leastRate*one.last.Sub(one.since).Seconds():
			all = append(all, one)
		}
	}
	sorting.By(all, func(a, b *incoming) int {
		return cmp.Or(cmp.Compare(b.bytes, a.bytes), cmp.Compare(a.from, b.from), cmp.Compare(a.own, b.own))
	})
	for _, one := range all[:min(len(all), mostStreams)] {
		l := recording.Labels{"process": one.process, "from": one.from, "at": one.own}
		if one.netns != "" {
			l["netns"] = one.netns
		}
		out = append(out, Measured{"snag_stream_received_bytes_total", l, float64(one.bytes)})
	}
	return out
}
