// Package recorder is the flight recorder: it records a host continuously into a ring of short
// recordings, called pieces. Old pieces are downsampled and finally deleted. Ring.Read returns the
// recording of any time in the ring, as if a find had run then.
//
// A ring is a folder. Each piece is a packed recording in a file named after its time; the piece being
// written is a folder. Both have the format of package recording.
package recorder
