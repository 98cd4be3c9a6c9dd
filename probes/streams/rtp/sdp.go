package rtp

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/pion/sdp/v3"

	"snag/probes/streams/codec"
	"snag/probes/streams/stream"
)

// MaxSDP is how long a description may be, in bytes; real ones are under 2 kB.
const MaxSDP = 64 << 10

const maxMedia = 32

// Media is one m= line that can be received.
type Media struct {
	Format
	Control  string // a=control, "" for none
	Address  string // of the c= line, without TTL; "" for none
	Port     int    // of the m= line
	RTCPPort int    // Port+1, or a=rtcp (RFC 3605)
}

// Description is what of an SDP (RFC 8866) a receiver needs.
type Description struct {
	Control string  // the session's a=control
	Media   []Media // at most one of video and one of audio, the first of each
	Skipped []string
}

// ParseSDP reads a description. Tracks beyond the first of a kind, and codecs that
// are not known, are named in Skipped.
func ParseSDP(b []byte) (Description, error) {
	if len(b) > MaxSDP {
		return Description{}, fmt.Errorf("read the SDP: it has %d bytes, more than %d", len(b), MaxSDP)
	}
	var s sdp.SessionDescription
	if err := s.Unmarshal(b); err != nil {
		return Description{}, fmt.Errorf("read the SDP: %w (is this a session description, RFC 8866?)", err)
	}
	d := Description{}
	d.Control, _ = s.Attribute("control")
	for i, m := range s.MediaDescriptions {
		if i == maxMedia {
			break
		}
		media, err := readMedia(&s, m)
		if err == nil && d.has(media.Kind) {
			err = errors.New("a second track of its kind")
		}
		if err != nil {
			d.Skipped = append(d.Skipped, m.MediaName.Media+": "+err.Error())
			continue
		}
		if media.Codec == transport { // picture and sound are in it
			d.Media = []Media{media}
			return d, nil
		}
		d.Media = append(d.Media, media)
	}
	if len(d.Media) == 0 {
		return d, fmt.Errorf("read the SDP: no track in it can be received (%s)", strings.Join(d.Skipped, "; "))
	}
	return d, nil
}

func (d *Description) has(k stream.Kind) bool {
	for _, m := range d.Media {
		if m.Kind == k {
			return true
		}
	}
	return false
}

// Formats are those of the media, for a Session.
func (d *Description) Formats() []Format {
	var out []Format
	for _, m := range d.Media {
		out = append(out, m.Format)
	}
	return out
}

func readMedia(s *sdp.SessionDescription, m *sdp.MediaDescription) (Media, error) {
	var media Media
	switch m.MediaName.Media {
	case "video":
		media.Kind = stream.Video
	case "audio":
		media.Kind = stream.Audio
	default:
		return media, errors.New("neither video nor audio")
	}
	if len(m.MediaName.Formats) == 0 {
		return media, errors.New("without a payload type")
	}
	pt, err := strconv.Atoi(m.MediaName.Formats[0])
	if err != nil || pt < 0 || pt > 127 {
		return media, fmt.Errorf("payload type %q", m.MediaName.Formats[0])
	}
	media.PayloadType = uint8(pt)
	name, rate, channels, fmtp := rtpmap(m, pt)
	if err := media.set(name, rate, channels, fmtp); err != nil {
		return media, err
	}
	if v, ok := m.Attribute("framerate"); ok && media.Params.FPS == 0 {
		if fps, err := strconv.ParseFloat(strings.TrimSpace(v), 64); err == nil && fps > 0 && fps <= 1000 {
			media.Params.FPS = fps
		}
	}
	media.Control, _ = m.Attribute("control")
	media.Port = m.MediaName.Port.Value
	media.RTCPPort = media.Port + 1
	if v, ok := m.Attribute("rtcp"); ok {
		port, _, _ := strings.Cut(v, " ")
		if n, err := strconv.Atoi(port); err == nil && n > 0 && n < 65536 {
			media.RTCPPort = n
		}
	}
	if c := m.ConnectionInformation; c != nil && c.Address != nil {
		media.Address = c.Address.Address
	} else if c := s.ConnectionInformation; c != nil && c.Address != nil {
		media.Address = c.Address.Address
	}
	media.Address, _, _ = strings.Cut(media.Address, "/")
	return media, nil
}

// rtpmap finds what the attributes say of a payload type; static types (RFC 3551
// table 4 and 5) need not be told.
func rtpmap(m *sdp.MediaDescription, pt int) (name string, rate uint32, channels int, fmtp string) {
	name, rate = static(pt)
	prefix := strconv.Itoa(pt) + " "
	for _, a := range m.Attributes {
		v, ok := strings.CutPrefix(strings.TrimSpace(a.Value), prefix)
		if !ok {
			continue
		}
		switch a.Key {
		case "rtpmap":
			parts := strings.Split(strings.TrimSpace(v), "/")
			name = parts[0]
			if len(parts) > 1 {
				n, _ := strconv.ParseUint(parts[1], 10, 32)
				rate = uint32(n)
			}
			if len(parts) > 2 {
				channels, _ = strconv.Atoi(parts[2])
			}
		case "fmtp":
			fmtp = v
		}
	}
	return name, rate, channels, fmtp
}

func static(pt int) (string, uint32) {
	switch pt {
	case 0:
		return "PCMU", 8000
	case 8:
		return "PCMA", 8000
	case 9:
		return "G722", 8000
	case 14:
		return "MPA", 90000
	case 26:
		return "JPEG", 90000
	case 33:
		return "MP2T", 90000
	}
	return "", 0
}

// encodings are codecs by the SDP's name for them, in capitals.
var encodings = map[string]string{
	"H264": codec.H264, "H265": codec.HEVC, "HEVC": codec.HEVC, "AV1": codec.AV1, "VP8": "vp8", "VP9": codec.VP9,
	"JPEG": "mjpeg", "MP2T": transport, "MPEG4-GENERIC": codec.AAC, "MP4A-LATM": codec.AAC, "OPUS": codec.Opus, "PCMA": codec.PCMA,
	"PCMU": codec.PCMU, "MPA": codec.MP3, "G722": "g722", "G726-32": "g726", "L16": "pcm", "AC3": codec.AC3, "EAC3": codec.EAC3,
}

// NewFormat is a format by what an SDP would say of it: rtpmap's name and rate,
// fmtp's parameters.
func NewFormat(kind stream.Kind, pt uint8, name string, rate uint32, channels int, fmtp string) (Format, error) {
	f := Format{Kind: kind, PayloadType: pt}
	return f, f.set(name, rate, channels, fmtp)
}

func (f *Format) set(name string, rate uint32, channels int, fmtp string) error {
	if name == "" {
		return fmt.Errorf("payload type %d without a=rtpmap", f.PayloadType)
	}
	known, ok := encodings[strings.ToUpper(name)]
	if !ok {
		return fmt.Errorf("%s is not known", strings.ToValidUTF8(name, "?"))
	}
	if rate == 0 || rate > 1_000_000 {
		return fmt.Errorf("%s with a clock of %d Hz", known, rate)
	}
	if channels < 0 || channels > 255 {
		channels = 0
	}
	f.Codec, f.Rate, f.latm, f.inBand = known, rate, strings.EqualFold(name, "MP4A-LATM"), true
	f.Params.Kind, f.Params.Codec = f.Kind, known
	if f.Kind == stream.Audio {
		f.Params.SampleRate, f.Params.Channels = int(rate), max(channels, 1)
		switch known {
		case "g722": // RFC 3551 4.5.2: the clock says half of it, by an old mistake
			f.Params.SampleRate = 16000
		case codec.MP3:
			f.Params.SampleRate, f.Params.Channels = 0, 0 // not in the SDP
		}
	}
	f.parameters(fmtp)
	return nil
}

// parameters reads fmtp: NAME=VALUE; …
func (f *Format) parameters(fmtp string) {
	for part := range strings.SplitSeq(fmtp, ";") {
		name, v, _ := strings.Cut(strings.TrimSpace(part), "=")
		n, _ := strconv.Atoi(v)
		bits := min(max(n, 0), 32)
		switch strings.ToLower(name) {
		case "sprop-parameter-sets", "sprop-vps", "sprop-sps", "sprop-pps":
			for set := range strings.SplitSeq(v, ",") {
				if b, err := base64.StdEncoding.DecodeString(strings.TrimSpace(set)); err == nil {
					f.parameterSet(b)
				}
			}
		case "sprop-max-don-diff":
			f.donl = n > 0
		case "cpresent":
			f.inBand = v != "0"
		case "config":
			if b, err := hex.DecodeString(v); err == nil && f.Codec == codec.AAC {
				f.aacConfig(b)
			}
		case "sizelength":
			f.sizeLength = bits
		case "indexlength":
			f.indexLength = bits
		case "indexdeltalength":
			f.indexDelta = bits
		case "ctsdeltalength":
			f.ctsDelta = bits
		case "dtsdeltalength":
			f.dtsDelta = bits
		case "streamstateindication":
			f.streamState = bits
		case "randomaccessindication":
			f.randomAccess = n == 1
		case "constantsize":
			f.constantSize = max(n, 0)
		case "constantduration":
			f.duration = int64(min(max(n, 0), 1<<20))
		case "sprop-stereo":
			if f.Codec == codec.Opus && n == 0 {
				f.Params.Channels = 1
			}
		}
	}
	if f.Codec == codec.AAC && f.duration == 0 {
		f.duration = 1024 // ISO/IEC 14496-3: samples of an access unit
	}
}

// parameterSet takes one of the SDP's.
func (f *Format) parameterSet(b []byte) {
	i := codec.NAL(f.Codec, b)
	if i.SPS {
		f.sequence(b)
	}
	if i.Parameter {
		f.sets = append(append(f.sets, startCode...), b...)
	}
}

// aacConfig reads an AudioSpecificConfig; LATM has a StreamMuxConfig (ISO/IEC
// 14496-3 1.7.3.2), in which it begins at bit 15 where there is one program of one
// layer, as RFC 6416 has it.
func (f *Format) aacConfig(b []byte) {
	if f.latm {
		if len(b) < 4 || b[0]&0x80 != 0 {
			return
		}
		shifted := make([]byte, 0, min(len(b), 64))
		for i := 1; i+1 < len(b) && len(shifted) < 64; i++ {
			shifted = append(shifted, b[i]<<7|b[i+1]>>1)
		}
		b = shifted
	}
	a, err := codec.AACConfig(b)
	if err != nil {
		return
	}
	f.adts, _ = codec.ADTSOf(b) // what ADTS can't carry is not heard
	f.Params.Channels = a.Channels
	if a.SampleRate > 0 {
		f.Params.SampleRate = a.SampleRate
		if a.Samples > 0 && f.duration == 0 {
			// In ticks of the track, which need not be the decoder's samples.
			f.duration = int64(a.Samples) * int64(f.Rate) / int64(a.SampleRate)
		}
	}
}
