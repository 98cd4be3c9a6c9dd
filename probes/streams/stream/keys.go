package stream

// MostKey is the largest key picture that a reader keeps, bytes.
const MostKey = 4 << 20

// Keys is for whoever looks at pictures: a reader that can hands it key pictures whole, one at a time.
// Readers call it on their own goroutine.
type Keys interface {
	// Wanted reports whether the next key picture is to be kept; asked as a picture begins.
	Wanted() bool
	// Key takes one of H.264 or HEVC, by codec, as a byte stream (annex B) with its parameter sets,
	// with the arrival of its last byte. b is the taker's.
	Key(codec string, b []byte, at int64)
}
