package page

import "snag/recording"

// load has one row for each second of snag's own load.
func (b *builder) load() Table {
	t := Table{Name: "load", Title: "Load, by the second", Note: "snag's own requests; times are of the answers that came in each second", Columns: []Column{
		{"at", "clock"}, {"target", "text"}, {"due", "count"}, {"sent", "count"}, {"answered", "count"}, {"errors", "count"}, {"lost", "count"},
		{"since due, mean", "seconds"}, {"longest", "seconds"}, {"since sent, mean", "seconds"}, {"waiting for a connection", "seconds"}, {"snag late", "seconds"}, {"open", "count"},
	}}
	for _, s := range b.r.LoadSeconds {
		lost := uint64(0)
		for _, n := range s.Lost {
			lost += n
		}
		each := func(sum float64) any {
			if s.Answered == 0 {
				return nil
			}
			return round(sum / float64(s.Answered))
		}
		t.Rows = append(t.Rows, []any{b.since(s.T), s.Target, s.Asked, s.Sent, s.Answered, s.Failed, lost,
			each(s.Waiting + s.OwnLag + s.Answer), longest(s), each(s.Answer), each(s.Waiting), each(s.OwnLag), round(s.Open)})
	}
	return t
}

func longest(s recording.LoadSecond) any {
	if s.Answered == 0 {
		return nil
	}
	return round(s.Max)
}
