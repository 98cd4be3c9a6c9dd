// Package rtmp is a live stream on nginx with its RTMP module, published and watched by
// ffmpeg: what goes wrong with those in the field.
package rtmp

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"snag/lab"
	"snag/lab/broadcast"
	"snag/lab/drawn"
	"snag/lab/origin"
	"snag/lab/real/backend"
)

// Family is the live stream.
var Family = drawn.Family{
	Name: "nginx-rtmp", Kind: drawn.Media, Origin: drawn.Real, Software: []string{"nginx-rtmp", "ffmpeg"}, Needs: broadcast.Tools,
	Faults: []drawn.Fault{
		{Name: "publisher-killed", Suspects: []string{"service-killed", "encoder-stall"}, Subject: `ffmpeg|10\.77\.`, Account: "errors"},
		{Name: "worker-stopped", Suspects: []string{"process-stopped", "server-stall"}, Subject: `nginx`, Account: "stopped"},
		{Name: "uplink-loss", Suspects: []string{"packet-loss"}, Subject: `10\.77\.`, Also: []string{"uplink-throttled", "uplink-blackhole"}, Account: "loss"},
		{Name: "callback-slow", Suspects: []string{"slow-dependency"}, Subject: callback, Account: "call"},
		{Name: "callback-killed", Suspects: []string{"upstream-refused", "service-killed"}, Subject: callback, Account: "errors"},
		{Name: "callback-errors", Suspects: []string{"error-answers"}, Subject: callback, Account: "errors"},
		{Name: "too-many-players", Suspects: []string{"connection-limit"}, Subject: `nginx|:1935`, Account: "errors", Whole: true},
		{Name: "segments-disk-full", Suspects: []string{"syscall-failing"}, Subject: `nginx|/hls`, Account: "errors"},
	},
	Build: build,
}

// callback is who is asked whether a player may play.
const callback = `who-may-play|:8000`

func build(b *drawn.Bench) {
	n := b.NetOver(true, "--loss", fmt.Sprint(b.LogUniform("lost of the packets", 0.02, 0.3))) // the publishers come over it
	viewers := b.Netns("viewers")
	b.Veth(lab.End{Netns: n.Server, Device: "eth1", Addr: "10.79.1.1/24"}, lab.End{Netns: viewers, Device: "eth0", Addr: "10.79.1.2/24"})

	hls := b.Fault.Name == "segments-disk-full"
	server := serve(b, n.Server, hls)
	startCallback(b, n.Server)

	p := broadcast.PictureOf(b)
	if hls {
		p.GOP = min(p.GOP, p.FPS)
	}
	publish(b, n, p)

	url := origin.URL("10.79.1.1:1935", origin.Stream)
	buffer := b.Duration("HLS viewers' buffer", 2*time.Second, 4*time.Second)
	if hls {
		url = "http://10.79.1.1:8080/" + origin.App + "/" + origin.Stream + ".m3u8"
		b.Await("segments", 30*time.Second, func() (bool, error) {
			files, err := filepath.Glob(filepath.Join(segments(b), "*.ts"))
			return len(files) >= 3, err
		})
		for range b.Int("HLS viewers", 1, 4) {
			broadcast.View(b, viewers, "viewer", url, buffer)
		}
	} else {
		broadcast.Viewers(b, viewers, "10.79.1.1:1935", p.Kbit)
	}
	if b.Chance("snag watches the stream", 0.5) {
		b.FindAt(viewers, url)
	}
	every := b.Duration("viewers join every", 20*time.Millisecond, 300*time.Millisecond)
	b.Actor(viewers, "joiners", "joiner", []string{"--to", "10.79.1.1:1935", "--stream", origin.Stream, "--every", every.String(),
		"--stay", b.Duration("they stay for", 100*time.Millisecond, 2*time.Second).String(), "--log", b.ClientLog("joiners")})

	if b.Fault.Name == "uplink-loss" {
		b.Amount("lost of the packets: %v, each way", b.Values["lost of the packets"])
	}
	b.Switch("uplink-loss", n.Break, n.Break)
	b.SwitchStops("worker-stopped", broadcast.WorkerOf(b.Stage, server), 400*time.Millisecond, 4*time.Second)
}

// serve starts nginx; the folder of its segments is a small disk of its own.
func serve(b *drawn.Bench, ns string, hls bool) *lab.Process {
	dir := filepath.Join(b.Dir(), "nginx")
	config := origin.Config(dir, "0.0.0.0:1935")
	most := b.Int("players that are let in", 4, 12)
	limit := 1000
	if b.Built("too-many-players") {
		limit = most
		b.Amount("max_connections %d", limit)
	}
	config = strings.Replace(config, "rtmp {", fmt.Sprintf("rtmp {\n    max_connections %d;", limit), 1)
	config = strings.Replace(config, "live on;", "live on;\n            on_play http://127.0.0.1:8000/play;", 1)
	if hls {
		config = origin.WithHLS(config, dir, "0.0.0.0:8080", true)
		disk(b)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return b.Fail("nginx", err)
	}
	path := b.File("nginx/nginx.conf", config)
	p := b.Run(ns, "nginx", []string{"nginx", "-p", dir, "-c", path, "-e", filepath.Join(dir, "error.log")})
	b.Await("nginx to listen", 20*time.Second, b.Listens(ns, ":1935"))
	return p
}

func segments(b *drawn.Bench) string { return filepath.Join(b.Dir(), "nginx", "hls", origin.App) }

// disk mounts a small file system of memory where nginx writes its segments, and fills it.
func disk(b *drawn.Bench) {
	mount := filepath.Join(b.Dir(), "nginx", "hls")
	b.Memory(mount, 16)
	for _, dir := range []string{b.Dir(), filepath.Dir(mount), mount, segments(b)} {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			b.Fail("nginx", err)
			return
		}
		_ = os.Chmod(dir, 0o777) //nolint:gosec // a stage's own folder, gone with it
	}
	filler := filepath.Join(mount, "old-recordings")
	b.Amount("no room left in %s", mount)
	b.Switch("segments-disk-full", func() {
		_ = os.WriteFile(filler, make([]byte, 16<<20), 0o600) // it ends where the room does
	}, func() { _ = os.Remove(filler) })
}

// publish starts the encoder under a supervisor, as publishers' scripts are.
func publish(b *drawn.Bench, n drawn.Net, p broadcast.Picture) {
	file := broadcast.File(b.Stage, p)
	source := b.Supervised("publisher-killed", n.Client, "publisher", 700*time.Millisecond, 4*time.Second,
		append(origin.FFmpeg(), "-re", "-stream_loop", "-1", "-i", file, "-c", "copy", "-f", "flv", origin.URL(n.At(1935), origin.Stream)))
	b.AwaitOutput(source, "frames are sent", origin.Moving)
}

// startCallback starts who is asked whether a player may play.
func startCallback(b *drawn.Bench, ns string) {
	backend.Lookup{
		Name: "callback", Comm: "who-may-play", Addr: "127.0.0.1:8000", Down: time.Second, Statuses: []string{"403", "404", "500", "502"},
		Wait: b.Duration("the callback takes", time.Millisecond, 50*time.Millisecond),
		Slow: b.Duration("the slow callback takes", 200*time.Millisecond, 4*time.Second),
	}.Start(b, ns)
}
