package drawn

import "time"

// Lasting is how a fault lasts within the window that is recorded.
type Lasting string

// The forms.
const (
	Throughout Lasting = "throughout" // from before the window's start to after its end
	Episodes   Lasting = "episodes"
	Begins     Lasting = "begins inside"
	Ends       Lasting = "ends inside"
)

// Span is a stretch of the window, seconds from its start. Where a plan says that it goes on
// to the window's end, the fault is not taken back: snag find may record for longer than it
// was asked to.
type Span struct {
	From float64 `json:"from"`
	To   float64 `json:"to"`
}

// before is how long a fault is on before the window, where it lasts throughout: clients
// that it holds up have been held up by then.
const before = 1.5

// scheduleOf draws how a fault lasts in a window of that many seconds.
func scheduleOf(d *Draw, f Fault, window float64) (Lasting, []Span) {
	how := Throughout
	switch {
	case f.Inside:
		how = Pick(d, "lasting inside", Episodes, Begins)
	case !f.Whole:
		how = Pick(d, "lasting", Throughout, Throughout, Throughout, Episodes, Episodes, Begins, Ends)
	}
	switch how {
	case Episodes:
		period := d.Uniform("episodes every", 0.25, 0.5) * window
		length := d.Uniform("episodes' share", 0.25, 0.65) * period
		var out []Span
		for at := d.Uniform("first episode", 0, 0.5) * period; at < window; at += period {
			out = append(out, Span{at, min(at+length, window)})
		}
		return how, out
	case Begins:
		return how, []Span{{d.Uniform("begins at", 0.2, 0.6) * window, window}}
	case Ends:
		return how, []Span{{-before, d.Uniform("ends at", 0.4, 0.8) * window}}
	default:
		return how, []Span{{-before, window}}
	}
}

// seconds as a time.
func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
