package watch

import (
	"time"
)

// Alarm is what a command or a webhook is told of one stream.
type Alarm struct {
	Event   string        // AlarmFreeze, AlarmDown or AlarmWell
	Stream  string        // its name
	URL     string        // without credentials and the query's values
	Layer   string        // "" where there are no layers
	Onset   time.Time     // wall clock: the last frame's arrival
	For     time.Duration // since the onset
	Verdict string        // what can be told of the cause; "" for nothing
}

// What an alarm is for.
const (
	AlarmFreeze = "freeze" // no frame for the threshold, the connection stands
	AlarmDown   = "down"   // it gave frames, ended, and has not come back for the threshold
	AlarmWell   = "well"   // frames come again, after an alarm
)
