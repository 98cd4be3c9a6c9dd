// Package codec reads the heads of coded video and audio: what a sequence says of
// itself (size, rate, channels) and where a picture begins and whether a decoder
// can begin with it. It is pure, keeps no payload, allocates nothing but errors,
// and reads no more than MaxHead bytes of any unit whatever its length says.
package codec

import (
	"errors"
	"fmt"
)

// Codecs by the name that stream.Params has.
const (
	H264 = "h264"
	HEVC = "hevc"
	AV1  = "av1"
	VP9  = "vp9"
	MP2V = "mpeg2video"
	AAC  = "aac"
	LATM = "aac_latm" // AAC as LATM in LOAS, with its configuration in it
	Opus = "opus"
	MP2  = "mp2"
	MP3  = "mp3"
	AC3  = "ac3"
	EAC3 = "eac3"
	PCMA = "pcma"
	PCMU = "pcmu"
)

// MaxHead is how much of a unit is looked at, in bytes. A sequence parameter set
// of H.264 with every scaling list and 32 HRD entries is under 900, one of HEVC
// with 64 short-term sets under 3000; real ones are under 200.
const MaxHead = 4096

// maxSide bounds a width or height, in pixels; the largest level of HEVC (6.2) is
// 8444 on the other side of a square root of 8 and AV1 can say 65536.
const maxSide = 65536

// errShort is a head that ends before what it promises.
var errShort = errors.New("it ends too early")

// bad says what could not be read: "read H.264 SPS: it ends too early".
func bad(what string, why error) error { return fmt.Errorf("read %s: %w", what, why) }

func badf(what, format string, a ...any) error {
	return bad(what, fmt.Errorf(format, a...))
}
