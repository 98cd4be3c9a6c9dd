package hls

import (
	"fmt"
	"slices"
)

// Bounds on what a playlist may hold. Apple's servers keep a few thousand
// segments for hours of rewinding; only the last ones are read.
const (
	maxPlaylist = 1 << 20
	maxVariants = 256
	maxSegments = 20000
	maxParts    = 4096
)

// playlist is what an m3u8 says (RFC 8216; draft-pantos-hls-rfc8216bis for parts).
type playlist struct {
	master     bool
	variants   []variant
	renditions []rendition

	target      float64 // EXT-X-TARGETDURATION, seconds
	sequence    uint64  // of the first segment
	ended       bool    // EXT-X-ENDLIST
	segments    []segment
	parts       []piece // of the segment that is not whole yet
	partTarget  float64 // EXT-X-PART-INF, seconds; 0: no parts
	canBlock    bool    // EXT-X-SERVER-CONTROL: CAN-BLOCK-RELOAD
	skipUntil   float64 // EXT-X-SERVER-CONTROL: CAN-SKIP-UNTIL, seconds; 0: no delta updates
	fixed       bool    // EXT-X-PLAYLIST-TYPE:VOD: it never changes (RFC 8216 4.3.3.5)
	at          int64   // when it was loaded, ns; 0: not known
	hint        *piece  // EXT-X-PRELOAD-HINT of a part: what comes next, with its length or without
	discPending bool    // EXT-X-DISCONTINUITY before parts of a segment to come
	init        *piece  // EXT-X-MAP and EXT-X-KEY that hold for those parts
	key         *key
	sealed      bool // EXT-X-KEY of SAMPLE-AES: samples are encrypted, and their heads are not
}

// variant is an EXT-X-STREAM-INF.
type variant struct {
	uri       string
	bandwidth uint64
	fps       float64
	sound     bool   // by its CODECS there is no video in it
	audio     string // the group of its audio
}

// rendition is an EXT-X-MEDIA of audio.
type rendition struct {
	group, uri string
	preferred  bool // DEFAULT
}

// piece is a resource or a range of one.
type piece struct {
	uri      string
	duration float64 // seconds; 0: not told
	from     int64   // bytes
	length   int64   // bytes; 0: all
	gap      bool    // there is nothing to load
	begins   bool    // INDEPENDENT: a decoder can begin with it
}

// segment is an EXTINF and what holds for it.
type segment struct {
	piece
	discontinuity bool
	init          *piece // EXT-X-MAP
	key           *key   // EXT-X-KEY; nil: not encrypted
	parts         []piece
}

// key is an EXT-X-KEY of METHOD=AES-128.
type key struct {
	uri string
	iv  [16]byte
	has bool // IV is told; else it is the segment's sequence number
}

// end is the sequence number after the last whole segment.
func (p *playlist) end() uint64 { return p.sequence + uint64(len(p.segments)) }

// skips reports whether the next playlist may leave out what this one lists: it must
// be no older than half of what is left out (rfc8216bis 6.3.7).
func (p *playlist) skips(now int64) bool {
	return p.skipUntil > 0 && p.at > 0 && float64(now-p.at)/1e9 < p.skipUntil/2
}

// lists reports whether a piece is one of the playlist's parts or segments. Of one whose
// length is not known its beginning counts.
func (p *playlist) lists(h piece) bool {
	same := func(q piece) bool { return q.uri == h.uri && q.from == h.from }
	if slices.ContainsFunc(p.parts, same) {
		return true
	}
	// Parts of old segments are no longer listed; the newest are looked at first.
	for i := len(p.segments) - 1; i >= 0; i-- {
		s := &p.segments[i]
		if same(s.piece) || slices.ContainsFunc(s.parts, same) {
			return true
		}
	}
	return false
}

// notPlaylist is text that is none.
type notPlaylist struct{ why string }

func (e *notPlaylist) Error() string { return "it is not a playlist: " + e.why }

func tooMany(what string, most int) error {
	return fmt.Errorf("read playlist: more than %d %s", most, what)
}
