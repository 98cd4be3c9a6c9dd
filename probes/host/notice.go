package host

import "sync"

// notices tells the user the first of each sort of thing, once.
type notices struct {
	tell func(string)
	mu   sync.Mutex
	told map[string]bool
}

func newNotices(tell func(string)) *notices {
	return &notices{tell: tell, told: map[string]bool{}}
}

// first tells text unless something of that sort was told before.
func (n *notices) first(sort string, text func() string) {
	n.mu.Lock()
	seen := n.told[sort]
	n.told[sort] = true
	n.mu.Unlock()
	if !seen {
		n.tell(text())
	}
}
