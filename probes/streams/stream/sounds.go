package stream

// MostSound is the most coded audio that a reader keeps, bytes: a second of G.711 is 8 kB, of AC-3
// 80 kB at the most.
const MostSound = 512 << 10

// Sounds is for whoever listens to audio: a reader that can hands it a second at a time, of whole
// frames. Readers call it on their own goroutine.
type Sounds interface {
	// Wanted reports whether audio is to be kept; asked as a frame begins.
	Wanted() bool
	// Sound takes a second of audio, with the arrival of its last byte.
	Sound(s Sound, at int64)
}

// Sound is coded audio as a byte stream, frame after frame: AAC as ADTS, or as LATM in LOAS (aac_latm), others as
// they are.
type Sound struct {
	Codec string // aac aac_latm mp2 mp3 ac3 eac3 pcma pcmu
	// SampleRate (Hz) and Channels are of pcma and pcmu, whose bytes do not tell them.
	SampleRate, Channels int
	Bytes                []byte // the taker's
}
