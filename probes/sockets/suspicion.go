package sockets

import (
	"fmt"
	"time"

	"snag/recording"
)

// priority orders sockets by how much they are worth a row.
type priority int

const (
	quiet   priority = iota
	odd              // something waits, as it may on any busy socket
	wanted           // of the target, or of a process that is watched
	suspect          // a queue that nobody empties, a window that is shut, drops
)

// history is what is kept of a socket between two dumps.
type history struct {
	// What is read of every socket each second comes first, within one line of the CPU's cache.
	seen     int       // tick of the last dump that had it
	askedFor int       // tick in which it was last asked for by itself
	until    time.Time // a suspicion is kept alive that long
	level    priority  // as of the last observation
	calm     bool      // nothing waits on it: it is wanted for its process alone
	alone    bool      // between full dumps it is in one only if asked for by itself: TCP, and no listener

	last      recording.Socket
	recv      int         // observations in a row with a full or filling receive queue
	send      int         // in a row with unsent or unacknowledged bytes and no progress
	closeWait int         // in a row in CLOSE_WAIT
	written   fingerprint // of the last row written, 0: none yet
	wrote     int         // tick of that row
	followed  bool        // it gets further rows before others get their first
	due       int         // tick by which it is to have its next
	family    byte        // to ask for it again
	id        [48]byte    //
	options   *recording.SocketOptions
	asked     bool // options were read, or could not be
	fresh     bool // options were read and no row has them yet
}

// stay is how long a socket that looked suspicious is watched on.
const stay = 20 * time.Second

// A connection that was held back by its peer's window for this long (seconds) and
// for this share of the time in which it had something to send is worth watching
// from the first look: a reader that stops now and then may do so between two full
// dumps. Healthy streams: under 0.01.
const (
	limitedFor   = 1.0
	limitedShare = 0.2
)

// observe takes the next observation of a socket into its history and judges
// it. why is in words for the user, "" when there is nothing.
func (h *history) observe(s *recording.Socket, first bool) (level priority, why string) {
	prev := &h.last
	if s.RecvQ > 0 {
		h.recv++
	} else {
		h.recv = 0
	}
	stuck := s.SendQ > 0 && s.State != "LISTEN"
	if stuck && !first && s.TCP != nil && prev.TCP != nil && s.TCP.BytesAcked != prev.TCP.BytesAcked {
		stuck = false
	}
	if stuck {
		h.send++
	} else {
		h.send = 0
	}
	if s.State == "CLOSE_WAIT" {
		h.closeWait++
	} else {
		h.closeWait = 0
	}
	switch {
	case s.State == "LISTEN":
		return judgeListener(s, h)
	case s.Proto == "udp":
		return judgeUDP(s, prev, h, first)
	case s.Proto == unixProto:
		return judgeUnix(s, h)
	}
	return judgeTCP(s, prev, h, first)
}

func judgeListener(s *recording.Socket, h *history) (priority, string) {
	switch {
	case s.RecvQ > 0 && s.RecvQ >= s.SendQ:
		return suspect, fmt.Sprintf("listen queue full: %d of %d on %s", s.RecvQ, s.SendQ, s.Local)
	case h.recv >= 2:
		return suspect, fmt.Sprintf("%d connections wait to be accepted on %s", s.RecvQ, s.Local)
	}
	return wanted, "" // listeners are few: always watched
}

func judgeUDP(s, prev *recording.Socket, h *history, first bool) (priority, string) {
	switch {
	case !first && s.Drops > prev.Drops:
		return suspect, fmt.Sprintf("%d datagrams dropped on %s", s.Drops-prev.Drops, s.Local)
	case s.RcvBuf > 0 && s.Rmem > s.RcvBuf/2:
		return suspect, fmt.Sprintf("receive buffer of %s more than half full", s.Local)
	case h.recv >= 2:
		return suspect, fmt.Sprintf("%d bytes wait to be read on %s", s.RecvQ, s.Local)
	case s.RecvQ > 0 || s.Drops > 0:
		return odd, ""
	}
	return quiet, ""
}

// unanswered reports whether a client of a listener here waits for an answer since more than a
// second, by the first sample of its connection.
func (r *running) unanswered(s *recording.Socket) bool {
	if s.Proto != "tcp" || s.State != "ESTABLISHED" || s.TCP == nil {
		return false
	}
	age, _, ok := s.TCP.Asked(true)
	_, here := r.book.listener(s.Netns, s.Local)
	return ok && age >= slowOpen && here
}

func judgeUnix(s *recording.Socket, h *history) (priority, string) {
	switch {
	case h.recv >= 2:
		return suspect, fmt.Sprintf("%d bytes wait to be read: %s – %s", s.RecvQ, s.Local, s.Remote)
	case s.RecvQ > 0:
		return odd, ""
	}
	return quiet, ""
}

func judgeTCP(s, prev *recording.Socket, h *history, first bool) (priority, string) {
	peer := s.Local + " – " + s.Remote
	t, p := s.TCP, prev.TCP
	switch {
	case s.Timer == "persist":
		return suspect, "peer's window is shut: " + peer
	case h.recv >= 2:
		return suspect, fmt.Sprintf("%d bytes wait to be read: %s", s.RecvQ, peer)
	case h.send >= 2:
		return suspect, fmt.Sprintf("%d bytes wait and none was acknowledged: %s", s.SendQ, peer)
	case h.closeWait >= 3:
		return suspect, "peer has closed and nobody closes here: " + peer
	case t == nil:
		return quiet, ""
	case t.Backoff > 0:
		return suspect, "retransmissions back off: " + peer
	case !first && p != nil && t.RwndLimited-p.RwndLimited > 0.1:
		return suspect, "sending waits for the peer's window: " + peer
	case first && t.RwndLimited > limitedFor && t.RwndLimited > limitedShare*t.Busy:
		return suspect, "sending often waited for the peer's window: " + peer
	case t.Retrans > 0 || (!first && p != nil && t.TotalRetrans > p.TotalRetrans):
		return odd, ""
	case s.RecvQ > 0 || s.SendQ > 0:
		return odd, ""
	}
	return quiet, ""
}
