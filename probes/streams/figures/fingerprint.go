package figures

import "math"

// Pattern is what a gap looked like when frames came again.
type Pattern string

// Patterns.
const (
	Held    Pattern = "held"    // everything came, later: DTS went on by one frame, and what was held came at once
	Skipped Pattern = "skipped" // DTS went on by as much as the gap: the frames of that time never came
	None    Pattern = "none"    // neither
)

// Fingerprint is a gap and what came after it.
type Fingerprint struct {
	Gap     float64 // seconds without a frame
	Step    float64 // seconds that DTS moved over it
	Spacing float64 // usual seconds between frames; 0: not known
	Burst   int     // frames above the stream's own pace that came right after
	Pace    float64 // DTS against wall, from the last frame before to when the burst was over; 0: not known
}

// Judge says which pattern it is and what that can mean. From one place alone no
// pattern has one cause; what would tell is in the words.
func (f Fingerprint) Judge() (Pattern, string) {
	if f.Gap <= 0 && f.Pace > 0 && f.Pace < slowUnder {
		return None, "no gap, but DTS falls behind the wall: a slow encoder, or a link that is too narrow: can't tell which from here; the publisher's socket would (its send queue)"
	}
	if f.Gap <= 0 || f.Spacing <= 0 || math.IsNaN(f.Step) {
		return None, "the stream's own spacing is not known: can't tell"
	}
	gone := f.Gap / f.Spacing // frames that the gap had room for
	switch step := f.Step / f.Gap; {
	case f.Step < 0:
		return None, "the timestamps began again: the sender was restarted, or another took its place"
	case f.Step <= max(1.5*f.Spacing, 0.1*f.Gap) && float64(f.Burst) >= gone/2:
		return Held, "a paused sender, link or server that then sent what it had: can't tell which from here; the publisher's and the server's sockets would"
	case step > 0.75 && step < 1.25 && float64(f.Burst) < gone/4:
		return Skipped, "the frames of that time never came: an encoder by its capture clock stopped, or it skipped them because nobody read its socket; the encoder's socket would show it"
	case f.Step <= max(1.5*f.Spacing, 0.1*f.Gap):
		return None, "the stream's own clock stopped and did not catch up: an encoder that paused, or a buffer that grew for good: can't tell"
	}
	return None, "a part came late and a part never: can't tell"
}
