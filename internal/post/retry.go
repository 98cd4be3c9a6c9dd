package post

import (
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// Failed is a request that the server did not take, or not all of it.
type Failed struct {
	To, Why string
	// Again: another try may help, of the answers 429, 502, 503 and 504, and where there was none. After is how
	// long the server wants to be left alone; 0: it did not say. Code is its answer's; 0: there was none.
	Again bool
	After time.Duration
	Code  int
	// Rejected is how many records or data points it refused of those that it got; 0: all.
	Rejected int64
}

func (f *Failed) Error() string { return fmt.Sprintf("post to %s: %s", f.To, f.Why) }

const longestPause = 30 * time.Second

// Pause is how long to wait after the nth try: twice as long each time, with a random part, so that hosts do not come
// all at once, and never less than what the server asked for. random is from 0 to 1.
func Pause(n int, first, asked time.Duration, random float64) time.Duration {
	wait := min(first<<min(n-1, 10), longestPause)
	wait = wait/2 + time.Duration(random*float64(wait)/2)
	return max(wait, asked)
}

// RetryAfter reads the header: seconds, or a date (RFC 9110, 10.2.3). 0: there is none that can be read.
func RetryAfter(text string, now time.Time) time.Duration {
	if n, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(n) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}
