package figures

import "snag/probes/streams/stream"

// Phase is where in its life an event is told.
type Phase uint8

// Phases: an Instant is told once; an interval Begun, perhaps Updated (once a
// second, its Value as it stands), and Ended.
const (
	Instant Phase = iota
	Begun
	Updated
	Ended
)

func (p Phase) String() string {
	return [...]string{"instant", "begun", "updated", "ended"}[p&3]
}

// Event is something that happened to the stream. Kind and Value are those of
// recording.EventStream….
type Event struct {
	ID    uint64 // of this Meter; an interval's phases share it
	Phase Phase
	Kind  string
	Start int64 // monotonic clock, ns
	End   int64 // 0: still going on; an Instant's is its Start
	Value float64
	Unit  string

	Of stream.Kind // the kind of frames that it is about

	// Of a freeze.
	Threshold float64 // seconds
	Before    bool    // no frame came at all since the reader was let in
	Step      Value   // seconds: the DTS step over it; also of a skip (the longest) and a jump
	Burst     int     // frames that came at once when they came again, above the stream's own pace; 1: one alone
	Pace      Value   // DTS against wall, from the last frame before to when the burst was over
	Pattern   Pattern

	// ObserverLate is how many seconds of the interval the watch itself was late.
	// Doubt says that without them it would not have been an event, or that what is
	// missing may be what the observer itself lost (ReceiverDropped, CaptureLost).
	ObserverLate float64
	// Missed is how many seconds of it the observer had no data of, and what came
	// right after counted (Meter.Missed).
	Missed float64
	Doubt  bool

	Base float64 // of a rate that fell: what it was before

	Steps          int    // of a skip or jump: how many there were in this second
	What, From, To string // of changed: codec, resolution, rate, audio
	Why            string // of ended and refused; of a freeze what the transport knows of it, "" for nothing
}

// queue keeps events until they are taken. It is bounded: nobody taking them must
// not make a meter grow. Ends of intervals whose beginning was told always have
// room, so that nothing stays open for ever at whoever listens.
type queue struct {
	list []Event // made when the first event comes
	open int     // intervals told as begun and not as ended
	lost int
	ids  uint64
}

const mostEvents = 16

func (q *queue) id() uint64 {
	q.ids++
	return q.ids
}

// tell adds an event and says whether there was room. A Begun takes room for its
// Ended too.
func (q *queue) tell(e Event) bool {
	room := mostEvents - q.open
	if e.Phase == Ended {
		room, q.open = mostEvents, q.open-1
	}
	need := 1
	if e.Phase == Begun {
		need = 2
	}
	if len(q.list)+need > room {
		if e.Phase != Updated {
			q.lost++
		}
		return false
	}
	if e.Phase == Begun {
		q.open++
	}
	if q.list == nil {
		q.list = make([]Event, 0, mostEvents)
	}
	q.list = append(q.list, e)
	return true
}

func (q *queue) take(buf []Event) []Event {
	buf = append(buf, q.list...)
	clear(q.list)
	q.list = q.list[:0]
	return buf
}
