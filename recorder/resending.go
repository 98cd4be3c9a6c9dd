package recorder

import (
	"fmt"
	"time"

	"snag/recording"
)

// resending counts the segments that this host sends again. On the Internet some always are: only more than usual is
// worth a judgement.
type resending struct {
	seconds [keptSeconds]float64
	last    int64   // the latest second, Unix time
	usual   float64 // per second
	known   float64 // s, length of what usual is of
}

const (
	resentLeast = 15  // in watchSeconds
	resentTimes = 5.0 // times the usual
	// keptSeconds are more than are looked at: rows of the next seconds may be there already.
	keptSeconds = 2 * watchSeconds
)

func (r *resending) take(v recording.Retransmit) {
	second := int64(v.T) / int64(time.Second)
	if second <= r.last-keptSeconds {
		return
	}
	r.to(second)
	r.seconds[second%keptSeconds] += float64(v.N)
}

// to empties the seconds up to one that had no row.
func (r *resending) to(second int64) {
	for r.last = max(r.last, second-keptSeconds); r.last < second; {
		r.last++
		r.seconds[r.last%keptSeconds] = 0
	}
}

// tick returns why clients may be affected, or "", once the rows of a second are all there.
func (r *resending) tick(second int64) string {
	r.to(second)
	sum, busy := 0.0, 0
	for i := range int64(watchSeconds) {
		n := r.seconds[(second-i)%keptSeconds]
		if sum += n; n > 0 {
			busy++
		}
	}
	if r.known >= learnLeast && busy >= 3 && sum >= max(resentLeast, resentTimes*watchSeconds*r.usual) {
		return fmt.Sprintf("%.0f segments were sent again in %d s, and usually %.1f", sum, watchSeconds, watchSeconds*r.usual)
	}
	r.usual += (r.seconds[second%keptSeconds] - r.usual) / min(r.known+1, learnFor)
	r.known++
	return ""
}
