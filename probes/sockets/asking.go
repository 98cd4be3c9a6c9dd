package sockets

import (
	"errors"

	"snag/probes/sockets/option"
)

// mostAsked bounds the sockets whose options are read: 20–47 µs each, and the
// owner's descriptor is held for as long.
const mostAsked = 100

// readOptions asks the interesting sockets of the last dump, once each.
func (r *running) readOptions() {
	for _, c := range r.order {
		s := &r.survey.found[c.index].Socket
		h := r.socks[s.Cookie]
		interesting := c.level == suspect || r.held[s.Inode] || (s.Proto == "udp" && s.Drops > 0)
		if h == nil || h.asked || !interesting || s.Proto == unixProto || len(s.Owners) == 0 || r.isOwn(s) {
			continue
		}
		if r.asked == mostAsked || r.refused != nil {
			return
		}
		r.asked++
		h.asked = true
		o, err := option.Read(s.Owners[0], s.Inode, s.Proto == "tcp")
		if errors.Is(err, option.ErrNotPermitted) || errors.Is(err, option.ErrNoCall) {
			r.refused = err
			return
		}
		if err == nil { // else the socket has just gone
			h.options, h.fresh = o, true
		}
	}
}
