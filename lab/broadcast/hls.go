package broadcast

import (
	"path/filepath"
	"strings"
	"time"

	"snag/lab"
	"snag/lab/origin"
)

// Web is where a broadcast's segments are served to viewers.
const Web = "10.88.2.1:8080"

// NewHLS is New whose stream is served in segments of a second as well: packed by
// nginx's own module, or, with a packager, by ffmpeg that reads the stream from it
// (Pack).
func NewHLS(s *lab.Stage, packager bool) *Broadcast {
	b := namespaces(s)
	b.picture.GOP = 25
	s.Veth(lab.End{Netns: b.Encoder, Device: "eth0", Addr: "10.88.1.2/24"}, lab.End{Netns: b.Server, Device: "eth0", Addr: "10.88.1.1/24"})
	b.Nginx = origin.ServeHLS(s, b.Server, "0.0.0.0:1935", "0.0.0.0:8080", !packager)
	s.Await("nginx to listen", 20*time.Second, s.Listens(b.Server, ":8080"))
	return b
}

// Pack starts ffmpeg that writes the stream's segments.
func (b *Broadcast) Pack() *lab.Process {
	s := b.Stage
	p := s.Run(b.Server, "packager", []string{"ffmpeg", "-nostdin", "-hide_banner", "-loglevel", "error", "-progress", "pipe:1",
		"-analyzeduration", "1M", "-i", origin.URL("127.0.0.1:1935", origin.Stream), "-c", "copy", "-f", "hls",
		"-hls_time", "1", "-hls_list_size", "6", "-hls_flags", "delete_segments", filepath.Join(origin.Segments(s), origin.Stream+".m3u8")})
	s.AwaitOutput(p, "it writes segments", origin.Moving)
	return p
}

// WatchHLS has snag find watch the segments from the viewer's namespace, once there
// are some.
func (b *Broadcast) WatchHLS() {
	s := b.Stage
	s.Await("segments", 30*time.Second, func() (bool, error) {
		files, err := filepath.Glob(filepath.Join(origin.Segments(s), "*.ts"))
		return len(files) >= 4, err
	})
	b.Watch("http://" + Web + "/" + strings.Join([]string{origin.App, origin.Stream + ".m3u8"}, "/"))
}
