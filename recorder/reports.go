package recorder

import "time"

// MostReports is how many incidents are reported within an hour. A fault that comes and goes begins one every minute
// or two: more mail does not help who has read twelve. All of them are kept.
const (
	MostReports = 12
	reportsIn   = time.Hour
)

// Reports decides which incidents are reported. The zero value has reported none.
type Reports struct {
	begun   []time.Time // of those reported within the last hour
	current int         // the last that was reported; an incident ends before the next begins
	left    int         // not reported since then
}

// May reports whether the begin or the end of an incident is to be reported now. left is how many incidents were not
// reported since the last begin that was, this one included if it is not; 0 at an end.
func (r *Reports) May(now time.Time, id int, what string) (may bool, left int) {
	if what == Ends {
		return id == r.current, 0
	}
	for len(r.begun) > 0 && now.Sub(r.begun[0]) >= reportsIn {
		r.begun = r.begun[1:]
	}
	if len(r.begun) >= MostReports {
		r.left++
		return false, r.left
	}
	left, r.left = r.left, 0
	r.begun, r.current = append(r.begun, now), id
	return true, left
}
