package recorder

import (
	"testing"
	"time"
)

// A fault that comes and goes for hours is reported twelve times an hour. Whoever gets a report gets its end too, and
// the next one says how many there were meanwhile.
func TestReportsHaveABound(t *testing.T) {
	t.Parallel()
	var r Reports
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	var begun []time.Time
	left, ends := 0, 0
	for id := 1; id <= 180; id++ { // every minute, for three hours
		at = at.Add(time.Minute)
		may, n := r.May(at, id, Begins)
		if may {
			begun = append(begun, at)
			left += n
		}
		if over, _ := r.May(at.Add(40*time.Second), id, Ends); over {
			ends++
			if !may {
				t.Errorf("the end of %d is reported, and its begin was not", id)
			}
		}
	}
	if len(begun) != 3*MostReports || ends != len(begun) {
		t.Errorf("%d begins and %d ends are reported in three hours", len(begun), ends)
	}
	for i, a := range begun {
		n := 0
		for _, b := range begun[i:] {
			if b.Sub(a) < time.Hour {
				n++
			}
		}
		if n > MostReports {
			t.Errorf("%d reports within an hour after %s", n, a)
		}
	}
	if left != 2*(60-MostReports) {
		t.Errorf("%d incidents are said not to have been reported", left)
	}
	// What happens now and then is always reported.
	for id := 1000; id < 1100; id++ {
		at = at.Add(10 * time.Minute)
		if may, n := r.May(at, id, Begins); !may || n > 0 && id > 1000 {
			t.Errorf("one incident in ten minutes: reported %t, left %d", may, n)
		}
	}
}
