package stream

// A second of audio, and how far a frame may be from the first of it until that is another time, ns.
const (
	fullSecond = int64(1e9)
	farSecond  = int64(3e9)
)

// Second is the second of audio under way, where somebody wants audio. It keeps nothing unless it was
// wanted as a frame began, and MostSound bytes at the most.
type Second struct {
	on   bool // a frame is being kept
	from int64
	b    []byte
}

// Begin begins a frame, and reports whether it is to be kept.
func (k *Second) Begin(sounds Sounds, dts int64) bool {
	if k.on = sounds != nil && sounds.Wanted(); !k.on {
		k.b = nil
		return false
	}
	if d := dts - k.from; len(k.b) == 0 || d < 0 || d > farSecond {
		k.from, k.b = dts, k.b[:0]
	}
	return true
}

// On reports whether a frame is being kept.
func (k *Second) On() bool { return k.on }

// Add adds bytes to it.
func (k *Second) Add(parts ...[]byte) {
	for _, b := range parts {
		if k.on && len(k.b)+len(b) > MostSound {
			k.Drop()
		}
		if k.on {
			k.b = append(k.b, b...)
		}
	}
}

// Drop gives up what was kept: a frame is not whole, or the audio is another from here on.
func (k *Second) Drop() { k.on, k.b = false, nil }

// Cut gives up the frame under way, where its rest does not come, and what goes with it.
func (k *Second) Cut() {
	if k.on {
		k.Drop()
	}
}

// End ends a frame that is step long (ns), and hands on what was kept where that is a second.
func (k *Second) End(sounds Sounds, s Sound, dts, step, at int64) {
	if !k.on {
		return
	}
	k.on = false
	if len(k.b) == 0 || dts+step-k.from < fullSecond {
		return
	}
	s.Bytes, k.b = k.b, nil
	sounds.Sound(s, at)
}
