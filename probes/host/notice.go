package host

// mostTold bounds the notices of one sort: a host where every namespace drops
// must not fill the screen.
const mostTold = 8

// notices tells the user the first of each sort of thing of each subject, once.
// Only the probe's goroutine uses it.
type notices struct {
	tell func(string)
	told map[string]map[string]bool // by sort and subject
}

func newNotices(tell func(string)) *notices {
	return &notices{tell: tell, told: map[string]map[string]bool{}}
}

// first tells text unless that was told of the subject before.
func (n *notices) first(sort, subject string, text func() string) {
	subjects := n.told[sort]
	if subjects == nil {
		subjects = map[string]bool{}
		n.told[sort] = subjects
	}
	if subjects[subject] || len(subjects) >= mostTold {
		return
	}
	subjects[subject] = true
	n.tell(text())
}
