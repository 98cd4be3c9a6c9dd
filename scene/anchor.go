package scene

import "snag/recording"

// Anchor is the node that stands for a subject, or for a subject without one the
// socket or process that its addresses and pid point to; nil if there is none.
func (s *Scene) Anchor(sub recording.Subject) *Node { return s.anchor(sub) }

// Socket returns the socket with that node id, or nil.
func (s *Scene) Socket(id NodeID) *Socket {
	for _, k := range s.Sockets {
		if k.ID == id {
			return k
		}
	}
	return nil
}
