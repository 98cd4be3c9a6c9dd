package gb28181

// mostRecent is how many answers are kept: a catalogue may come as a message for each
// camera, and a message comes again after half a second.
const mostRecent = 4096

// recent are the last answers, for requests that come again.
type recent struct {
	answers map[string]*message
	order   []string
	next    int
}

func (r *recent) find(key string) *message { return r.answers[key] }

func (r *recent) add(key string, answer *message) {
	if r.answers == nil {
		r.answers = map[string]*message{}
	}
	if len(r.order) < mostRecent {
		r.order = append(r.order, key)
	} else {
		delete(r.answers, r.order[r.next])
		r.order[r.next] = key
		r.next = (r.next + 1) % mostRecent
	}
	r.answers[key] = answer
}
