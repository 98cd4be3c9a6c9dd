// Package ffprobe reads, by way of FFmpeg's ffprobe, what snag has no reader for:
// SRT, RIST and the like. ffprobe must be installed. It costs a process of some
// 55 MiB a stream and about five times the CPU of a reader of snag's own.
//
// # Its lateness
//
// A frame's Arrival is when ffprobe told of it, not when it came. ffprobe first
// reads up to one second of the stream (-analyzeduration) to find out what is in
// it and tells of that at once: the frames of a burst right after Published are no
// stall and no catching up. Then each is told within a few milliseconds of its last
// byte, or, in a stream of packets without lengths (MPEG-TS), when the next frame of
// its track begins.
//
// The URL is an argument of the process: whoever may list processes on the host
// sees it, and a passphrase in it.
package ffprobe

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"snag/probes/streams/wire"
)

// schemes are what ffprobe may open, by itself or because a playlist says so: the
// network's, never a file or a pipe of this host.
var schemes = []string{
	"srt", "rist", "udp", "rtp", "srtp", "tcp", "tls", "http", "https", "rtmp", "rtmps", "rtmpt", "rtmpe", "rtsp", "rtsps", "mmsh", "mmst",
}

// alone are those that nothing else of snag's reads.
var alone = []string{"srt", "rist", "tcp", "http", "https", "rtmpt", "rtmpe", "mmsh", "mmst"}

// Schemes are those of URLs that Open reads: what nothing else of snag's reads, and
// every one with Prefix before it.
func Schemes() []string {
	all := slices.Clone(alone)
	for _, s := range schemes {
		all = append(all, Prefix+s)
	}
	return all
}

// analyze is how long ffprobe may look before it tells, at the most.
const analyze = time.Second

// Prefix before a scheme asks for ffprobe where snag has a reader of its own:
// ffprobe+rtsp://…
const Prefix = "ffprobe+"

// target is the URL as ffprobe gets it.
func target(u *url.URL) (string, error) {
	c := *u
	c.Scheme = strings.TrimPrefix(strings.ToLower(u.Scheme), Prefix)
	if !slices.Contains(schemes, c.Scheme) {
		return "", fmt.Errorf("read %s: ffprobe is asked for streams of the network only: %s", wire.Shown(u), strings.Join(schemes, ", "))
	}
	text := c.String()
	if strings.HasPrefix(text, "-") || strings.ContainsAny(text, "\x00\r\n") {
		return "", fmt.Errorf("read %s: this is not a URL that can be given to a program", wire.Shown(u))
	}
	return text, nil
}

// arguments are those of ffprobe for a target.
func arguments(target string) []string {
	micro := fmt.Sprint(analyze.Microseconds())
	return []string{
		"-hide_banner", "-v", "info", // the streams' parameters are told at this level
		"-protocol_whitelist", strings.Join(schemes, ",") + ",crypto,httpproxy",
		"-fflags", "nobuffer", "-analyzeduration", micro, "-probesize", "1000000",
		"-print_format", "compact",
		"-show_entries", "packet=codec_type,stream_index,pts_time,dts_time,size,flags",
		"-i", target,
	}
}
