package recording

// sampleStore is all that the writer knows of what keeps its samples, so that
// Prometheus' formats stay behind one file (store_head.go) and tests can put a
// failing disk in its place.
type sampleStore interface {
	// commit writes a batch; once it returns, kill -9 loses nothing of it. It
	// returns how many samples the store refused (out of its order).
	commit(batch []sample) (refused int, err error)
	// seal turns all that was committed into one block and empties the log.
	seal() error
	// close leaves the log as it is: the reader replays it.
	close() error
}

// series is one series as the writer keeps it between samples.
type series struct {
	name   string
	labels Labels
	ref    uint64 // the store's own handle, 0 before the first commit
	handle any    // the store's form of the series, made once
	last   int64  // ms of the last sample taken
	any    bool   // whether there was one
}

// sample is one value on its way to the store.
type sample struct {
	of *series
	ms int64 // Unix time in milliseconds, the store's resolution
	v  float64
}

const sampleSize = 24 // bytes of a sample

// millis puts a time on the grid of the store: rounded down, never forward, so
// that a value is not said to be known before it was read by more than 1 ms.
func millis(t Time) int64 {
	ms := int64(t) / 1e6
	if int64(t)%1e6 < 0 {
		ms--
	}
	return ms
}
