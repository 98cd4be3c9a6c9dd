package hls

import (
	"errors"
	"fmt"
)

// outcomes are how the last segments' loads ended, the newest in the lowest bit: 1 is
// failed.
type outcomes struct {
	bits uint16
	n    int
}

const mostOutcomes = 10

// add takes the next one and says why no frames come: "" where it was loaded.
func (o *outcomes) add(err error) string {
	o.n = min(o.n+1, mostOutcomes)
	o.bits = o.bits << 1 & (1<<mostOutcomes - 1)
	if err == nil {
		return ""
	}
	o.bits |= 1
	failed := 0
	for i := range o.n {
		failed += int(o.bits >> i & 1)
	}
	how := "the segments can't be loaded: " + err.Error()
	var no *status
	if errors.As(err, &no) && err.Error() == no.text { // the segment's own, not its key's
		how = "the segments answer " + no.text
	}
	return fmt.Sprintf("%s (%d of the last %d)", how, failed, o.n)
}
