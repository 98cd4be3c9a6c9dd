package hls

import (
	"encoding/hex"
	"errors"
	"math"
	"strconv"
	"strings"
)

// parser is the state over a playlist's lines: tags that hold for what follows.
type parser struct {
	p        *playlist
	duration float64
	pending  bool // EXTINF came
	next     segment
	init     *piece
	key      *key
	variant  *variant
	lastURI  string // of the byte range before, which the next goes on from
	lastEnd  int64
	before   *playlist // that a delta update leaves segments out of; nil: none
}

// parse reads a playlist. Tags that are not known are passed over, as 6.3.1 asks.
func parse(b []byte) (*playlist, error) { return parseAfter(b, nil) }

// parseAfter reads a playlist that may be a delta update of the one before it
// (EXT-X-SKIP, rfc8216bis 4.4.5.2): what it leaves out is taken from there.
func parseAfter(b []byte, before *playlist) (*playlist, error) {
	text := strings.TrimPrefix(string(b), "\ufeff")
	if !strings.HasPrefix(text, "#EXTM3U") {
		return nil, &notPlaylist{why: "it begins with " + strconv.Quote(beginning(text)) + ", not with #EXTM3U"}
	}
	s := parser{p: &playlist{}, before: before}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		var err error
		switch {
		case line == "":
		case line[0] != '#':
			err = s.uri(line)
		case strings.HasPrefix(line, "#EXT"):
			name, value, _ := strings.Cut(line, ":")
			err = s.tag(name, value)
		}
		if err != nil {
			return nil, err
		}
	}
	if !s.p.master && s.p.target <= 0 && len(s.p.segments) == 0 {
		return nil, &notPlaylist{why: "it has neither variants nor EXT-X-TARGETDURATION"}
	}
	s.p.init, s.p.key = s.init, s.key
	return s.p, nil
}

func beginning(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	if len(s) > 40 {
		s = s[:40]
	}
	return s
}

func (s *parser) tag(name, value string) error {
	p := s.p
	switch name {
	case "#EXT-X-STREAM-INF":
		a := attributes(value)
		v := variant{audio: a["AUDIO"], fps: number(a["FRAME-RATE"])}
		v.sound = soundOnly(a["CODECS"]) && a["RESOLUTION"] == ""
		v.bandwidth, _ = strconv.ParseUint(a["BANDWIDTH"], 10, 64)
		p.master, s.variant = true, &v
	case "#EXT-X-MEDIA":
		p.master = true
		if a := attributes(value); a["TYPE"] == "AUDIO" && a["URI"] != "" {
			if len(p.renditions) == maxVariants {
				return tooMany("renditions", maxVariants)
			}
			p.renditions = append(p.renditions, rendition{group: a["GROUP-ID"], uri: a["URI"], preferred: a["DEFAULT"] == "YES"})
		}
	case "#EXT-X-TARGETDURATION":
		p.target = number(value)
	case "#EXT-X-MEDIA-SEQUENCE":
		p.sequence, _ = strconv.ParseUint(value, 10, 63)
	case "#EXT-X-ENDLIST":
		p.ended = true
	case "#EXTINF":
		d, _, _ := strings.Cut(value, ",")
		s.duration, s.pending = number(d), true
	case "#EXT-X-DISCONTINUITY":
		s.next.discontinuity = true
	case "#EXT-X-GAP":
		s.next.gap = true
	case "#EXT-X-BYTERANGE":
		s.next.length, s.next.from = byteRange(value)
	case "#EXT-X-MAP":
		a := attributes(value)
		m := piece{uri: a["URI"]}
		m.length, m.from = byteRange(a["BYTERANGE"])
		m.from = max(m.from, 0)
		s.init = &m
	case "#EXT-X-KEY":
		return s.encryption(value)
	case "#EXT-X-PART-INF":
		p.partTarget = number(attributes(value)["PART-TARGET"])
	case "#EXT-X-SERVER-CONTROL":
		a := attributes(value)
		p.canBlock, p.skipUntil = a["CAN-BLOCK-RELOAD"] == "YES", number(a["CAN-SKIP-UNTIL"])
	case "#EXT-X-PLAYLIST-TYPE":
		p.fixed = value == "VOD"
	case "#EXT-X-SKIP":
		return s.skip(value)
	case "#EXT-X-PRELOAD-HINT":
		s.preload(value)
	case "#EXT-X-PART":
		a := attributes(value)
		part := piece{uri: a["URI"], duration: number(a["DURATION"]), gap: a["GAP"] == "YES", begins: a["INDEPENDENT"] == "YES"}
		part.length, part.from = byteRange(a["BYTERANGE"])
		s.follow(&part)
		if len(s.next.parts) == maxParts {
			return tooMany("parts of a segment", maxParts)
		}
		s.next.parts = append(s.next.parts, part)
	}
	s.p.parts, s.p.discPending = s.next.parts, s.next.discontinuity
	return nil
}

// errSkipped is a delta update that leaves out more than is known.
var errSkipped = errors.New("read playlist: it leaves out segments that were never listed")

// skip takes segments that a delta update leaves out from the playlist before it,
// with the map and the key that hold for what follows.
func (s *parser) skip(value string) error {
	n, err := strconv.ParseUint(attributes(value)["SKIPPED-SEGMENTS"], 10, 32)
	p, old := s.p, s.before
	if err != nil || len(p.segments) > 0 || old == nil || p.sequence < old.sequence || n > uint64(len(old.segments)) || p.sequence+n > old.end() {
		return errSkipped
	}
	if n == 0 {
		return nil
	}
	from := p.sequence - old.sequence
	p.segments = append(p.segments, old.segments[from:from+n]...)
	last := p.segments[n-1]
	s.init, s.key = last.init, last.key
	s.lastURI, s.lastEnd = last.uri, last.from+last.length
	return nil
}

// preload takes the hint of a part. Its length may not be known yet.
func (s *parser) preload(value string) {
	a := attributes(value)
	if a["TYPE"] != "PART" || a["URI"] == "" {
		return
	}
	h := piece{uri: a["URI"], duration: s.p.partTarget}
	from, err := strconv.ParseInt(a["BYTERANGE-START"], 10, 62)
	if err == nil && from > 0 {
		h.from = from
	}
	if n, err := strconv.ParseInt(a["BYTERANGE-LENGTH"], 10, 62); err == nil && n > 0 {
		h.length = n
	}
	s.p.hint = &h
}

func (s *parser) uri(line string) error {
	if v := s.variant; v != nil {
		if len(s.p.variants) == maxVariants {
			return tooMany("variants", maxVariants)
		}
		v.uri = line
		s.p.variants = append(s.p.variants, *v)
		s.variant = nil
		return nil
	}
	if !s.pending {
		return nil // a URI without EXTINF is no segment
	}
	if len(s.p.segments) == maxSegments {
		return tooMany("segments", maxSegments)
	}
	n := s.next
	n.uri, n.duration, n.init, n.key = line, s.duration, s.init, s.key
	s.follow(&n.piece)
	s.p.segments = append(s.p.segments, n)
	s.next, s.pending, s.duration = segment{}, false, 0
	s.p.parts, s.p.discPending = nil, false
	return nil
}

// follow places a range that has no start behind the one before (4.3.2.2).
func (s *parser) follow(p *piece) {
	if p.length > 0 && p.from < 0 {
		p.from = 0
		if p.uri == s.lastURI {
			p.from = s.lastEnd
		}
	}
	s.lastURI, s.lastEnd = p.uri, p.from+p.length
}

func (s *parser) encryption(value string) error {
	a := attributes(value)
	switch a["METHOD"] {
	case "AES-128":
		k := key{uri: a["URI"]}
		if digits, ok := strings.CutPrefix(strings.ToLower(a["IV"]), "0x"); ok && len(digits) == 32 {
			if _, err := hex.Decode(k.iv[:], []byte(digits)); err == nil {
				k.has = true
			}
		}
		s.key = &k
	default:
		// NONE; and SAMPLE-AES, which leaves the heads of samples, and their
		// containers, in the clear.
		s.key = nil
		s.p.sealed = a["METHOD"] != "NONE"
	}
	return nil
}

// byteRange reads length[@start]; start is -1 where it is not told.
func byteRange(s string) (length, from int64) {
	if s == "" {
		return 0, 0
	}
	n, at, told := strings.Cut(s, "@")
	length, err := strconv.ParseInt(n, 10, 62)
	if err != nil || length <= 0 {
		return 0, 0
	}
	if !told {
		return length, -1
	}
	from, err = strconv.ParseInt(at, 10, 62)
	if err != nil || from < 0 {
		return 0, 0
	}
	return length, from
}

// soundOnly reports whether all codecs of a CODECS attribute (RFC 6381) are audio's.
func soundOnly(codecs string) bool {
	for c := range strings.SplitSeq(codecs, ",") {
		name, _, _ := strings.Cut(strings.TrimSpace(c), ".")
		switch name {
		case "mp4a", "ac-3", "ec-3", "Opus", "opus", "fLaC", "flac":
		default:
			return false
		}
	}
	return true
}

// number is a decimal that is finite and not negative, else 0.
func number(s string) float64 {
	v, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || !(v >= 0) || math.IsInf(v, 0) || v > 1e9 {
		return 0
	}
	return v
}

// attributes reads an attribute list (4.2); commas may stand between quotes.
func attributes(s string) map[string]string {
	out := map[string]string{}
	for s != "" && len(out) < 64 {
		name, rest, ok := strings.Cut(s, "=")
		if !ok {
			break
		}
		var value string
		if quoted, is := strings.CutPrefix(rest, `"`); is {
			value, rest, _ = strings.Cut(quoted, `"`)
			_, rest, _ = strings.Cut(rest, ",")
		} else {
			value, rest, _ = strings.Cut(rest, ",")
		}
		out[strings.TrimSpace(name)] = strings.TrimSpace(value)
		s = rest
	}
	return out
}
