// Package origin runs a streaming origin on a stage: nginx with its RTMP module,
// ffmpeg that publishes a test picture, ffmpeg players that watch it.
package origin

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"snag/lab"
)

// Module is where Debian's libnginx-mod-rtmp puts the module.
const Module = "/usr/lib/nginx/modules/ngx_rtmp_module.so"

// Tools that an origin needs; the module is a file, not a command: see Check.
var Tools = []lab.Tool{{Command: "nginx", Package: "nginx"}, {Command: "ffmpeg", Package: "ffmpeg"}}

// Check reports whether the RTMP module is here: no command is named after it.
func Check() error {
	if _, err := os.Stat(Module); err != nil {
		return fmt.Errorf("lab: nginx has no RTMP module at %s: apt-get install libnginx-mod-rtmp: %w", Module, err)
	}
	return nil
}

// App and Stream are what is published.
const (
	App    = "live"
	Stream = "match"
)

// Config is nginx's: a master process of our own with every file in dir, so that
// the machine's nginx, if there is one, is not touched. A player of a stream
// that nobody publishes is told so and hung up on (idle_streams off). Each stream is
// pushed on to the servers at these addresses.
func Config(dir, listen string, push ...string) string {
	var on strings.Builder
	for _, addr := range push {
		fmt.Fprintf(&on, "            push rtmp://%s/%s;\n", addr, App)
	}
	return strings.NewReplacer("MODULE", Module, "DIR", dir, "LISTEN", listen, "APP", App, "PUSH", on.String()).Replace(`load_module MODULE;
daemon off;
master_process on;
worker_processes 1;
pid DIR/nginx.pid;
error_log DIR/error.log error;
events { worker_connections 4096; }
rtmp {
    access_log off;
    server {
        listen LISTEN;
        chunk_size 4096;
        application APP {
            live on;
            idle_streams off;
PUSH        }
    }
}
`)
}

// WithHLS is such a configuration whose nginx serves a folder over HTTP as well; and
// packs what is published into it itself, if packs.
func WithHLS(config, dir, web string, packs bool) string {
	if packs {
		config = strings.Replace(config, "live on;", "live on;\n            hls on;\n            hls_path "+dir+"/hls/live;\n            hls_fragment 1s;\n            hls_playlist_length 6s;", 1)
	}
	return config + strings.NewReplacer("DIR", dir, "WEB", web).Replace(`http {
    access_log off;
    client_body_temp_path DIR/body;
    proxy_temp_path DIR/proxy;
    fastcgi_temp_path DIR/fastcgi;
    uwsgi_temp_path DIR/uwsgi;
    scgi_temp_path DIR/scgi;
    types { application/vnd.apple.mpegurl m3u8; video/mp2t ts; }
    server {
        listen WEB;
        root DIR/hls;
    }
}
`)
}

// Serve starts nginx in a namespace.
func Serve(s *lab.Stage, ns, listen string) *lab.Process {
	return ServeAs(s, ns, "nginx", listen)
}

// ServeAs is Serve for one of several servers of a stage, which pushes streams on.
func ServeAs(s *lab.Stage, ns, name, listen string, push ...string) *lab.Process {
	return serve(s, ns, name, func(dir string) string { return Config(dir, listen, push...) })
}

// ServeHLS starts nginx in a namespace: its RTMP module at listen, and at web the
// folder of Segments, which it packs itself if packs.
func ServeHLS(s *lab.Stage, ns, listen, web string, packs bool) *lab.Process {
	if err := os.MkdirAll(Segments(s), 0o777); err != nil {
		return s.Fail("nginx", err)
	}
	// Its workers are of another user, and write there.
	for _, dir := range []string{s.Dir(), filepath.Dir(filepath.Dir(Segments(s))), filepath.Dir(Segments(s)), Segments(s)} {
		if err := os.Chmod(dir, 0o777); err != nil { //nolint:gosec // a stage's own folder, gone with it
			return s.Fail("nginx", err)
		}
	}
	return serve(s, ns, "nginx", func(dir string) string { return WithHLS(Config(dir, listen), dir, web, packs) })
}

// Segments is the folder that ServeHLS serves as /live/.
func Segments(s *lab.Stage) string { return filepath.Join(s.Dir(), "nginx", "hls", App) }

func serve(s *lab.Stage, ns, name string, config func(dir string) string) *lab.Process {
	dir := filepath.Join(s.Dir(), name)
	if err := errors.Join(Check(), os.MkdirAll(dir, 0o755)); err != nil {
		return s.Fail(name, err)
	}
	conf := s.File(name+"/nginx.conf", config(dir))
	return s.Run(ns, name, []string{"nginx", "-p", dir, "-c", conf, "-e", filepath.Join(dir, "error.log")})
}

// Publish starts ffmpeg that sends a small moving picture, and waits until it
// does. On two cores it takes a few hundredths of one.
func Publish(s *lab.Stage, ns, addr string) *lab.Process {
	p := s.Run(ns, "publisher", append(FFmpeg(),
		"-re", "-f", "lavfi", "-i", "testsrc=size=320x180:rate=25",
		"-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency", "-threads", "1",
		"-g", "50", "-b:v", "300k", "-pix_fmt", "yuv420p",
		"-t", limit, "-f", "flv", URL(addr, Stream)))
	s.AwaitOutput(p, "frames are sent", Moving)
	return p
}

// Play starts ffmpeg that watches the stream without decoding it.
func Play(s *lab.Stage, ns, addr, name string) *lab.Process {
	// One second of the stream is enough to know what it is; the default is five.
	return s.Run(ns, name, append(FFmpeg(), "-analyzeduration", "1M", "-i", URL(addr, Stream), "-c", "copy", "-t", limit, "-f", "null", "-"))
}

// URL of a stream of the origin.
func URL(addr, stream string) string { return "rtmp://" + addr + "/" + App + "/" + stream }

// limit ends ffmpeg by itself: seconds, as lab.MaxLife.
var limit = fmt.Sprint(int(lab.MaxLife.Seconds()))

// FFmpeg is how it is started here: it prints how far it has come.
func FFmpeg() []string {
	return []string{"ffmpeg", "-nostdin", "-hide_banner", "-loglevel", "error", "-progress", "pipe:1"}
}

var frames = regexp.MustCompile(`(?m)^frame=\s*[1-9]`)

// Moving tells from what ffmpeg printed whether frames go through it.
func Moving(printed string) bool { return frames.MatchString(printed) }
