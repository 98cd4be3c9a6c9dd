// Package icecast is a radio: icecast, ffmpeg as its source and as its listeners.
package icecast

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

// Family is the radio.
var Family = drawn.Family{
	Name: "icecast", Kind: drawn.Media, Origin: drawn.Real, Software: []string{"icecast", "ffmpeg"},
	Needs: []lab.Tool{lab.IP, {Command: "icecast2", Package: "icecast2"}, {Command: "ffmpeg", Package: "ffmpeg"}},
	Faults: []drawn.Fault{
		{Name: "source-killed", Suspects: []string{"service-killed", "encoder-stall"}, Subject: `ffmpeg|10\.79\.3\.2`, Account: "errors"},
		{Name: "source-stopped", Suspects: []string{"process-stopped", "encoder-stall"}, Subject: `ffmpeg`, Account: "stopped"},
		{Name: "server-stopped", Suspects: []string{"process-stopped", "server-stall"}, Subject: `icecast2`, Account: "stopped"},
		{Name: "too-many-listeners", Suspects: []string{"connection-limit", "error-answers"}, Subject: `icecast2|:8000`, Account: "errors", Whole: true},
		{Name: "path-loss", Suspects: []string{"packet-loss"}, Subject: `10\.77\.`, Account: "loss"},
		{Name: "login-slow", Suspects: []string{"slow-dependency", "worker-queue"}, Subject: login, Account: "call"},
		{Name: "login-killed", Suspects: []string{"upstream-refused", "service-killed"}, Subject: login, Account: "errors"},
	},
	Build: build,
}

// login is who is asked whether a listener may listen.
const login = `who-may-listen|:8001|icecast2`

const config = `<icecast><hostname>radio</hostname><location>-</location><admin>-</admin>
<limits><clients>LIMIT</clients><sources>4</sources><queue-size>524288</queue-size><burst-size>BURST</burst-size></limits>
<authentication><source-password>radio</source-password><admin-user>admin</admin-user><admin-password>radio</admin-password></authentication>
<listen-socket><port>8000</port></listen-socket>
<mount type="normal"><mount-name>/radio</mount-name><authentication type="url"><option name="listener_add" value="http://127.0.0.1:8001/may"/></authentication></mount>
<paths><basedir>DIR</basedir><logdir>DIR</logdir><webroot>/usr/share/icecast2/web</webroot><adminroot>/usr/share/icecast2/admin</adminroot></paths>
<logging><accesslog>access.log</accesslog><errorlog>error.log</errorlog><loglevel>1</loglevel></logging>
<security><chroot>0</chroot><changeowner><user>nobody</user><group>nogroup</group></changeowner></security></icecast>
`

func build(b *drawn.Bench) {
	n := b.NetOver(true, "--loss", fmt.Sprint(b.LogUniform("lost of the packets", 0.03, 0.4)))
	studio := b.Netns("studio")
	b.Veth(lab.End{Netns: n.Server, Device: "eth1", Addr: "10.79.3.1/24"}, lab.End{Netns: studio, Device: "eth0", Addr: "10.79.3.2/24"})
	startLogin(b, n.Server)
	server := serve(b, n.Server)

	source := b.Supervised("source-killed", studio, "source", 500*time.Millisecond, 4*time.Second,
		append(origin.FFmpeg(), "-re", "-f", "lavfi", "-i", "sine=frequency=440:sample_rate=44100", "-c:a", "libmp3lame",
			"-b:a", fmt.Sprintf("%dk", drawn.Pick(b.Draw, "kbit per second", 64, 128, 256, 320)), "-flush_packets", "1", "-content_type", "audio/mpeg", "-f", "mp3",
			"icecast://source:radio@10.79.3.1:8000/radio"))
	b.AwaitOutput(source, "sound is sent", func(printed string) bool { return strings.Contains(printed, "total_size=") })
	b.SwitchStops("source-stopped", source.Child(), time.Second, 6*time.Second)
	b.SwitchStops("server-stopped", server.PID, 400*time.Millisecond, 5*time.Second)

	url := "http://" + n.At(8000) + "/radio"
	buffer := b.Duration("listeners' buffer", 500*time.Millisecond, 3*time.Second)
	for range b.Int("listeners", 1, 6) {
		broadcast.View(b, n.Client, "listener", url, buffer)
	}
	every := b.Duration("listeners join every", 40*time.Millisecond, 300*time.Millisecond)
	b.Actor(n.Client, "joiners", "joiner", []string{"--to", n.At(8000), "--app", "", "--stream", "radio", "--every", every.String(),
		"--stay", b.Duration("they stay for", 100*time.Millisecond, time.Second).String(), "--log", b.ClientLog("joiners")})
	if b.Fault.Name == "path-loss" {
		b.Amount("lost of the packets: %v, each way", b.Values["lost of the packets"])
	}
	b.Switch("path-loss", n.Break, n.Break)
}

func serve(b *drawn.Bench, ns string) *lab.Process {
	dir := filepath.Join(b.Dir(), "icecast")
	limit, most := 1000, b.Int("listeners that are let in", 8, 12)
	if b.Built("too-many-listeners") {
		limit = most
		b.Amount("%d clients at most", limit)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return b.Fail("icecast2", err)
	}
	for _, d := range []string{b.Dir(), dir} {
		_ = os.Chmod(d, 0o777) //nolint:gosec // a stage's own folder, gone with it
	}
	path := b.File("icecast/icecast.xml", strings.NewReplacer("DIR", dir, "LIMIT", fmt.Sprint(limit),
		"BURST", fmt.Sprint(drawn.Pick(b.Draw, "burst for a new listener", 0, 8192, 65535))).Replace(config))
	p := b.Run(ns, "icecast2", []string{"icecast2", "-c", path})
	b.Await("icecast to listen", 20*time.Second, b.Listens(ns, ":8000"))
	return p
}

func startLogin(b *drawn.Bench, ns string) {
	backend.Lookup{
		Name: "login", Comm: "who-may-listen", Addr: "127.0.0.1:8001", Down: time.Second,
		Wait: b.Duration("a login takes", time.Millisecond, 15*time.Millisecond),
		Slow: b.Duration("a slow login takes", 300*time.Millisecond, 3*time.Second),
	}.Start(b, ns)
}
