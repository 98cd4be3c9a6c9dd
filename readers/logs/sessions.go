package logs

import (
	"snag/recording"
)

// sessionKey is a peer's connections to one listener; those that lasted have rows of
// their own.
type sessionKey struct {
	local, peer string
	lasted      bool
}

// sessions are connections that ended, as a log tells them when they do.
type sessions struct {
	sub    recording.Subject
	out    recording.Sink
	rows   map[int64]map[sessionKey]*recording.Connections // by the second
	newest int64
	n      uint64
	kept   int
	left   uint64
	port   bool // the log names the listener's port
}

const (
	// lastsFrom, s: a connection that lasted so long is no part of a storm.
	lastsFrom = 5
	// mostSessions rows of a file, and mostPeers of a second that have rows.
	mostSessions = 200_000
	mostPeers    = 256
	// keepsOpen seconds: a connection's beginning is counted with those of its second
	// while that is not written.
	keepsOpen = 30
)

func newSessions(sub recording.Subject, out recording.Sink) *sessions {
	return &sessions{sub: sub, out: out, rows: map[int64]map[sessionKey]*recording.Connections{}}
}

// rtmpPort is where RTMP listens (its specification, 1.0): nginx-rtmp-module's log does
// not name the port.
const rtmpPort = "0.0.0.0:1935"

func (s *sessions) ended(e *entry) {
	s.n++
	second := floor(e.at)
	s.advance(second)
	local := string(e.local)
	if local == "" {
		local = rtmpPort
	} else {
		s.port = true
	}
	lasted := max(e.lasted, 0)
	key := sessionKey{local, string(e.peer), lasted >= lastsFrom}
	row := s.at(second, key)
	row.Closed++
	row.Lifetime += lasted
	if lasted < 1 {
		row.Short++
	}
	row.BytesIn += uint64(max(e.in, 0))
	row.BytesOut += uint64(max(e.out, 0))
	if began := second - int64(lasted); began >= s.newest-keepsOpen {
		s.at(began, key).Opened++
	} else { // that second is written: a row of its own
		row := s.row(began, key)
		row.Opened = 1
		s.put(row)
	}
}

func (s *sessions) at(second int64, key sessionKey) *recording.Connections {
	second = max(second, s.newest-keepsOpen) // lines that come far too late
	keys := s.rows[second]
	if keys == nil {
		keys = map[sessionKey]*recording.Connections{}
		s.rows[second] = keys
	}
	if keys[key] == nil && len(keys) >= mostPeers {
		key.peer = "others"
	}
	if keys[key] == nil {
		keys[key] = s.row(second, key)
	}
	return keys[key]
}

func (s *sessions) row(second int64, key sessionKey) *recording.Connections {
	return &recording.Connections{T: recording.Time(second * 1e9), Role: "accept", Local: key.local, Remote: key.peer, PID: s.sub.PID, Comm: s.sub.Comm}
}

func (s *sessions) put(row *recording.Connections) {
	if s.kept++; s.kept > mostSessions {
		s.left++
		return
	}
	s.out.Append(*row)
}

func (s *sessions) advance(second int64) {
	if second <= s.newest {
		return
	}
	s.newest = second
	s.flush(second - keepsOpen)
}

func (s *sessions) flush(until int64) {
	for sec, keys := range s.rows {
		if sec >= until {
			continue
		}
		for _, row := range keys {
			s.put(row)
		}
		delete(s.rows, sec)
	}
}

func (s *sessions) end() { s.flush(s.newest + 1) }
