package scene

import (
	"net/url"
	"path"
	"slices"
	"strings"

	"snag/recording"
)

// namedOf are those of some connections whose sender, a process of this host, has the stream among
// the addresses on its command line, and not as what it reads: ffmpeg … rtmp://server/live/cam1.
func namedOf(st *Stream, all []*Socket) (out []*Socket) {
	name := streamNamed(st.Row.URL)
	if name == "" {
		return nil
	}
	for _, k := range all {
		if k.Peer != nil && k.Peer.Owner() != nil && slices.Contains(sentTo(k.Peer.Owner().First().Cmdline), name) {
			out = append(out, k)
		}
	}
	return out
}

// playlists are the names of files that stand for the stream whose folder they are in.
var playlists = []string{"index", "playlist", "master", "chunklist"}

// streamNamed is a stream's name by its address: the last part of the path, of a playlist without
// its ending.
func streamNamed(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	p, isList := strings.CutSuffix(strings.TrimSuffix(u.Path, "/"), ".m3u8")
	if isList && slices.Contains(playlists, path.Base(p)) {
		p = path.Dir(p)
	}
	if p = path.Base(p); p == "." || p == "/" {
		return ""
	}
	return p
}

// sentTo are the names of the streams that a command line has addresses of; those that it reads
// (-i, as ffmpeg has it) are left out.
func sentTo(cmdline string) (names []string) {
	was := ""
	for _, word := range strings.Fields(cmdline) {
		// ffmpeg's tee: [f=flv]rtmp://a/live/x|[f=hls]b/x.m3u8; GStreamer: location=rtmp://a/live/x
		for part := range strings.SplitSeq(word, "|") {
			if i := strings.Index(part, "://"); i > 0 && was != "-i" {
				from := strings.LastIndexAny(part[:i], "]='\"") + 1
				names = append(names, streamNamed(strings.Trim(part[from:], "'\"")))
			}
		}
		was = word
	}
	return names
}

// publishedOver is the one of some connections over which the stream's frames were seen to come.
func publishedOver(r *recording.Recording, st *Stream, all []*Socket) (in *Socket, by string) {
	for _, row := range r.Streams { // the last row that knows
		if row.Name != st.Row.Name || row.Layer != st.Row.Layer || row.Publisher == "" {
			continue
		}
		for _, k := range all {
			if Address(k.First().Remote) == Address(row.Publisher) {
				in, by = k, "its frames are what "+row.Publisher+" publishes"
			}
		}
	}
	return in, by
}
