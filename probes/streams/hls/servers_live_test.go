package hls

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"snag/probes/streams/counterpart"
	"snag/probes/streams/stream"
)

// nginxHLS is nginx-rtmp's own HLS: it cuts what is published over RTMP, and nginx
// serves it.
func nginxHLS(t *testing.T) (list string) {
	t.Helper()
	nginx := counterpart.Installed(t, "nginx", "nginx libnginx-mod-rtmp")
	const module = "/usr/lib/nginx/modules/ngx_rtmp_module.so"
	if _, err := os.Stat(module); err != nil {
		t.Fatal("nginx has no RTMP module: make setup installs it")
	}
	dir := t.TempDir()
	rtmp, web := fmt.Sprintf("127.0.0.1:%d", counterpart.Port(t)), fmt.Sprintf("127.0.0.1:%d", counterpart.Port(t))
	conf := strings.NewReplacer("MODULE", module, "DIR", dir, "RTMP", rtmp, "WEB", web).Replace(`load_module MODULE;
daemon off;
master_process off;
pid DIR/nginx.pid;
error_log DIR/error.log error;
events { worker_connections 64; }
rtmp { access_log off; server { listen RTMP; chunk_size 4096; application live { live on; hls on; hls_path DIR/hls; hls_fragment 1s; hls_playlist_length 6s; } } }
http { access_log off; server { listen WEB; root DIR/hls; } }
`)
	if err := os.WriteFile(filepath.Join(dir, "nginx.conf"), []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	counterpart.Run(t, nginx, "-p", dir, "-c", filepath.Join(dir, "nginx.conf"), "-e", filepath.Join(dir, "error.log"))
	counterpart.Await(t, rtmp)
	counterpart.Run(t, counterpart.Installed(t, "ffmpeg", "ffmpeg"), "-nostdin", "-v", "error", "-threads", "1", "-re", "-f", "lavfi", "-i", "testsrc2=size=192x128:rate=25",
		"-f", "lavfi", "-i", "sine=sample_rate=48000", "-c:v", "libx264", "-preset", "ultrafast", "-g", "25", "-sc_threshold", "0", "-pix_fmt", "yuv420p",
		"-c:a", "aac", "-ac", "2", "-f", "flv", "rtmp://"+rtmp+"/live/cam")
	return "http://" + web + "/cam.m3u8"
}

// gstHLS is GStreamer's hlssink2 into a folder.
func gstHLS(t *testing.T) (list string) {
	t.Helper()
	dir := t.TempDir()
	counterpart.GStreamer(t, counterpart.GStreamerH264, "hlssink2 name=m target-duration=1 playlist-length=5 max-files=10 location="+filepath.Join(dir, "%05d.ts")+
		" playlist-location="+filepath.Join(dir, "cam.m3u8"))
	return serve(t, http.FileServer(http.Dir(dir))) + "/cam.m3u8"
}

func TestLiveOtherServers(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(*testing.T) string{"nginx-rtmp": nginxHLS, "GStreamer": gstHLS} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list := start(t)
			for range 200 {
				resp, err := http.Get(list)
				if err == nil {
					resp.Body.Close()
					if resp.StatusCode == http.StatusOK {
						break
					}
				}
				time.Sleep(100 * time.Millisecond)
			}
			ctx, cancel := context.WithTimeout(context.Background(), 4*time.Second)
			defer cancel()
			var k kept
			if err := open(t, ctx, list, &k); err != nil {
				t.Fatal(err)
			}
			n, keys, rising := k.of(stream.Video)
			sounds, _, soundsRise := k.of(stream.Audio)
			if n < 40 || keys < 2 || keys > n/25+1 || !rising || sounds < n || !soundsRise {
				t.Errorf("%d pictures, %d key, rising %v; %d frames of audio, rising %v", n, keys, rising, sounds, soundsRise)
			}
			if k.counts != [stream.Counts]uint64{} {
				t.Errorf("counts %v", k.counts)
			}
			if told := fmt.Sprint(k.params); !strings.Contains(told, "h264 192 128") || !strings.Contains(told, "aac 0 0 0 48000 2") {
				t.Errorf("%s", told)
			}
		})
	}
}
