package recorder

import (
	"testing"
	"time"
)

// stand plays seconds to a schedule: what is noticed, and what a judgement finds in a time.
func stand(seconds int, noticed func(i int) bool, hurt func(o order) bool) (judged int, begun, ended []int) {
	var v schedule
	for i := range seconds {
		why := ""
		if noticed(i) {
			why = "x"
		}
		o, ask := v.second(second(i), notice{why: why})
		if !ask {
			continue
		}
		judged++
		switch b, e := v.told(o, hurt(o)); {
		case b:
			begun = append(begun, i)
		case e:
			ended = append(ended, i)
		}
	}
	return judged, begun, ended
}

func overlaps(o order, from, to int) bool { return o.From < second(to) && o.To > second(from) }

func TestSchedule(t *testing.T) {
	t.Parallel()
	never := func(int) bool { return false }
	nobody := func(order) bool { return false }
	if n, b, _ := stand(3600, never, nobody); n < 5 || n > 12 || len(b) > 0 {
		t.Errorf("an hour in which nothing happens: %d judgements, %v", n, b)
	}
	// One incident has one report, however long it lasts, and an end.
	between := func(from, to int) func(int) bool { return func(i int) bool { return i >= from && i < to } }
	n, b, e := stand(1800, between(100, 700), func(o order) bool { return overlaps(o, 100, 700) })
	if len(b) != 1 || b[0] < 110 || b[0] > 145 || len(e) != 1 || e[0] < 730 || e[0] > 850 || n > 20 {
		t.Errorf("ten minutes: %d judgements, begun %v, ended %v", n, b, e)
	}
	// Two are two.
	if _, b, e := stand(3600, func(i int) bool { return between(100, 160)(i) || between(1500, 1560)(i) }, func(o order) bool { return overlaps(o, 100, 160) || overlaps(o, 1500, 1560) }); len(b) != 2 || len(e) != 2 {
		t.Errorf("two: begun %v, ended %v", b, e)
	}
	// What trips all the time and hurts nobody costs little.
	if n, b, _ := stand(3600, func(int) bool { return true }, nobody); n > 16 || len(b) > 0 {
		t.Errorf("a wire that trips all the time: %d judgements in an hour, %v", n, b)
	}
	// What is bad from the first second on trips nothing.
	if _, b, e := stand(1800, never, func(order) bool { return true }); len(b) != 1 || b[0] > 310 || len(e) != 0 {
		t.Errorf("always hurt: begun %v, ended %v", b, e)
	}
	if _, b, e := stand(1800, never, func(o order) bool { return overlaps(o, 0, 500) }); len(b) != 1 || len(e) != 1 || e[0] > 700 {
		t.Errorf("always hurt until 500 s: begun %v, ended %v", b, e)
	}
	longest := time.Duration(0)
	stand(3600, func(int) bool { return true }, func(o order) bool {
		longest = max(longest, o.To.Sub(o.From))
		return true
	})
	if longest > mostJudged {
		t.Errorf("%s were judged at once", longest)
	}
}

// An incident of which nothing is proved is judged again soon, at its beginning and after another trigger; one with a
// culprit every minute.
func TestUnprovedIncidentsAreJudgedAgainSoon(t *testing.T) {
	t.Parallel()
	for _, proved := range []bool{false, true} {
		v := schedule{}
		var judged []int
		for i := range 600 {
			why := ""
			if i >= 100 && i < 150 || i >= 400 && i < 420 || i%20 == 19 {
				why = "x"
			}
			o, ask := v.second(second(i), notice{why: why})
			if ask {
				v.told(o, true)
				v.proved = proved
				judged = append(judged, i)
			}
		}
		soon := 0
		for n := 1; n < len(judged); n++ {
			if judged[n]-judged[n-1] < 60 {
				soon++
			}
		}
		if proved && soon > 0 || !proved && (soon < 5 || len(judged) > 20) {
			t.Errorf("proved %t: judged at %v", proved, judged)
		}
	}
}
