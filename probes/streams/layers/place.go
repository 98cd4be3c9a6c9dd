package layers

import "snag/probes/streams/stream"

// remembered frames of a place: 68 s at 30 fps, more than an HLS edge is behind.
const remembered = 2048

// A DTS step back over a second or on over ten begins a new epoch: the sender was
// restarted, or the reader connected again.
const (
	epochBack = int64(1e9)
	epochOn   = int64(10e9)
)

// frame is what is kept of one.
type frame struct {
	arrival int64
	dts     int64
	size    int32
	epoch   uint16
	key     bool
}

// place is one layer's last frames, by their number since the beginning.
type place struct {
	ring  []frame // grows to remembered
	next  uint64  // number of the next frame
	epoch uint16
	first int64 // arrival of the epoch's first frame
}

func (p *place) add(f stream.Frame) {
	if p.next > 0 {
		step := f.DTS - p.at(p.next-1).dts
		if step < -epochBack || step > epochOn {
			p.epoch++
			p.first = f.Arrival
		}
	} else {
		p.first = f.Arrival
	}
	v := frame{arrival: f.Arrival, dts: f.DTS, size: int32(min(max(f.Size, 0), 1<<30)), epoch: p.epoch, key: f.Key}
	if len(p.ring) < remembered {
		p.ring = append(p.ring, v)
	} else {
		p.ring[p.next%remembered] = v
	}
	p.next++
}

func (p *place) at(n uint64) *frame { return &p.ring[n%remembered] }

// oldest is the number of the oldest frame that is still remembered.
func (p *place) oldest() uint64 { return p.next - uint64(len(p.ring)) }
