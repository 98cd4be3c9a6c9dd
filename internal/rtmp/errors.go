package rtmp

// Refused says that the server did not let a client in, in its own words: these may hold what it was asked
// with (Target.Clean).
type Refused struct {
	Why   string
	Words string // the description alone
	// Connect: it was the application that was refused, and not the stream.
	Connect bool
}

func (e *Refused) Error() string { return e.Why }

// Ended says that the server ended a stream that was there.
type Ended struct{ Why string }

func (e *Ended) Error() string { return e.Why }
