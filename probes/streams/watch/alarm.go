package watch

import (
	"time"
)

// Alarm is what a command or a webhook is told of one stream.
type Alarm struct {
	Event   string        // one of the Alarm… constants
	Stream  string        // its name
	URL     string        // without credentials and the query's values
	Layer   string        // "" where there are no layers
	Onset   time.Time     // wall clock: the last frame's arrival
	For     time.Duration // since the onset
	Verdict string        // what can be told of the cause; "" for nothing
	Judged  *Judged       // by the host's recording; nil: there is none, or not yet
	Awaited bool          // it is being judged just now
}

// What an alarm is for.
const (
	AlarmFreeze = "freeze" // no frame for the threshold, the connection stands
	AlarmDown   = "down"   // it gave frames, ended, and has not come back for the threshold
	AlarmWell   = "well"   // frames come again, after an alarm
	// AlarmVerdict: after an alarm, the host's recording was judged.
	AlarmVerdict = "verdict"
)
