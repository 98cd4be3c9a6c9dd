// Package streams reads live streams of every protocol that snag knows, and is the
// live probe that joins them with the rest of a recording.
package streams

import (
	"net/url"
	"slices"
	"strings"

	"snag/probes/streams/ffprobe"
	"snag/probes/streams/gb28181"
	"snag/probes/streams/hls"
	"snag/probes/streams/ps"
	"snag/probes/streams/rtmp"
	"snag/probes/streams/rtp"
	"snag/probes/streams/rtsp"
	"snag/probes/streams/stream"
	"snag/probes/streams/ts"
)

// protocol is a reader of streams and the URLs that it is for.
type protocol struct {
	schemes []string
	suffix  string // of the URL's path; "" for any
	open    stream.Open
	check   func(*url.URL) error // reports what is wrong with a URL before it is read; nil: nothing can be
}

// protocols is the list of readers; the first that fits a URL reads it.
var protocols = []protocol{
	{schemes: []string{"rtmp", "rtmps"}, open: rtmp.Open},
	{schemes: []string{"rtsp", "rtsp+tcp", "rtsp+udp", "rtsps"}, open: rtsp.Open},
	{schemes: []string{"rtsp-listen"}, open: rtsp.Listen},
	{schemes: []string{"rtp", "sdp"}, open: rtp.Open},
	{schemes: []string{"file"}, suffix: ".sdp", open: rtp.Open},
	{schemes: []string{"udp"}, open: ts.Open},
	{schemes: []string{"ps+udp", "ps+tcp"}, open: ps.Open},
	{schemes: []string{gb28181.Scheme}, open: gb28181.Open, check: gb28181.Check},
	{schemes: []string{"http", "https"}, suffix: ".m3u8", open: hls.Open},
	{schemes: []string{"http", "https"}, suffix: ".ts", open: hls.Progressive},
	{schemes: ffprobe.Schemes(), open: ffprobe.Open},
}

// Open finds the reader for a URL.
func Open(u *url.URL) (stream.Open, error) {
	scheme := strings.ToLower(u.Scheme)
	if strings.HasPrefix(scheme, ffprobe.Prefix) {
		return ffprobe.Open, nil
	}
	for _, p := range protocols {
		if slices.Contains(p.schemes, scheme) && strings.HasSuffix(strings.ToLower(u.Path), p.suffix) {
			if p.check != nil {
				if err := p.check(u); err != nil {
					return nil, err
				}
			}
			return p.open, nil
		}
	}
	return nil, unknown(scheme)
}
