package recording

import "fmt"

// Unrecorded are the times of the recording's clock of which it has nothing, in no order: nothing was recorded, or
// the machine was suspended while that clock went on. What is missing in them is nobody's fault, and no measurement.
func (r *Recording) Unrecorded() (out []Interval) {
	for _, e := range r.Events {
		if (e.Kind == EventNotRecorded || e.Kind == EventSuspended) && e.End > e.T {
			out = append(out, e.Interval())
		}
	}
	return out
}

// words is an interval in a sentence.
func (i Interval) words() string {
	return fmt.Sprintf("from %s to %s UTC", i.Start.Wall().Format("15:04:05"), i.End.Wall().Format("15:04:05"))
}
