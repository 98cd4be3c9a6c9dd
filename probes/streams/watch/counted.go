package watch

// FirstStreams are the entries of the first few streams of a list, at all layers of each,
// and how many streams more it has. An entry that is there twice is one.
func FirstStreams(entries []Entry, most int) (first []Entry, left int) {
	seen := map[string]bool{}
	streams := map[string]bool{}
	for _, e := range entries {
		if seen[e.key()] {
			continue
		}
		seen[e.key()] = true
		if id := e.stream(); streams[id] || len(streams) < most {
			streams[id] = true
			first = append(first, e)
		} else if e.places == nil || e.Layer == e.places.names[0] {
			left++
		}
	}
	return first, left
}

// streamsOf counts streams: one that is watched at several layers is one.
func streamsOf(entries []Entry) int {
	streams := map[string]bool{}
	for _, e := range entries {
		streams[e.stream()] = true
	}
	return len(streams)
}

// stream is the same for all layers of a stream.
func (e Entry) stream() string {
	if e.places != nil {
		return e.places.id
	}
	return e.key()
}
