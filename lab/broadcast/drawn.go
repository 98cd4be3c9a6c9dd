package broadcast

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"snag/lab"
	"snag/lab/drawn"
	"snag/lab/origin"
)

// Show is a broadcast in sizes that are drawn. Its viewers are ffmpeg, and their logs are
// the pictures that they would show (the actor viewer).
type Show struct {
	*Broadcast
	HLS    bool
	Clock  Clock
	Source *lab.Process // the encoder of the stream that is watched
	Kbit   int

	bench  *drawn.Bench
	uplink *lab.Process
}

// Kind is what a family asks of a show.
type Kind struct {
	HLS    []bool  // of which one is drawn; none: RTMP
	Packed bool    // HLS is packed by ffmpeg beside nginx, not by nginx's module
	Clocks []Clock // of which one is drawn; none: of a file
	// Ends: the encoder of the stream that is watched may end.
	Ends bool
	// Slow: the encoder keeps only a part of its pace, which is drawn.
	Slow bool
	// Path is what the uplink does besides its delay, from the moment that Turn switches
	// it on, as flags of the actor tun-relay; none: it may be an Ethernet.
	Path []string
}

// NewShow makes it: the server and the encoders, not the viewers.
func NewShow(b *drawn.Bench, k Kind) *Show {
	w := &Show{bench: b}
	if len(k.HLS) > 0 {
		w.HLS = drawn.Pick(b.Draw, "HLS", k.HLS...)
	}
	if len(k.Clocks) > 0 {
		w.Clock = drawn.Pick(b.Draw, "encoder's clock", k.Clocks...)
	}
	p := PictureOf(b)
	w.Kbit = p.Kbit
	rtt := b.Duration("round trip of the uplink", 500*time.Microsecond, 80*time.Millisecond)
	far := b.Chance("encoder far away", 0.5)
	w.Broadcast = namespaces(b.Stage)
	if far || len(k.Path) > 0 {
		if !far {
			rtt = 0
		}
		path := []string{"--a", w.Encoder + "/eth0/10.88.1.2/24", "--b", w.Server + "/eth0/10.88.1.1/24", "--delay", (rtt / 2).String(), "--clean"}
		w.uplink = b.Actor("", "uplink", "tun-relay", append(path, k.Path...))
		b.AwaitPrinted(w.uplink, "ready")
	} else {
		b.Veth(lab.End{Netns: w.Encoder, Device: "eth0", Addr: "10.88.1.2/24"}, lab.End{Netns: w.Server, Device: "eth0", Addr: "10.88.1.1/24"})
	}
	if w.HLS {
		p.GOP = min(p.GOP, p.FPS)
		w.Nginx = origin.ServeHLS(b.Stage, w.Server, "0.0.0.0:1935", "0.0.0.0:8080", !k.Packed)
	} else {
		w.Nginx = origin.Serve(b.Stage, w.Server, "0.0.0.0:1935")
	}
	b.Await("nginx to listen", 20*time.Second, b.Listens(w.Server, ":1935"))
	w.Send(p)
	w.apart = b.Chance("encoders' addresses do not name their streams", 0.5)
	pace := b.Uniform("slow encoder's pace", 0.5, 0.98)
	if k.Slow && b.Built("slow") {
		w.Clock, w.pace = SlowClock, pace
		b.Amount("%.2f s of picture per second", pace)
	}
	var may []lab.Option
	if k.Ends {
		may = append(may, lab.MayEnd())
	}
	w.Source = w.Encode(w.Clock, "", may...)
	for n := range b.Int("encoders of other streams", 1, 4) - 1 {
		name := fmt.Sprintf("studio%d", n)
		w.Encode(FileClock, name)
		b.WatchBeside(origin.URL(Deliver, name))
	}
	return w
}

// PictureOf draws a picture.
func PictureOf(b *drawn.Bench) Picture {
	// It is small and short, so that it is made at once; its bit rate is filled up.
	p := Picture{Size: "240x136", Seconds: 10, Kbit: b.Int("kbit of the stream per second", 150, 4000), FPS: drawn.Pick(b.Draw, "frames per second", 10, 15, 25, 30, 50)}
	p.GOP = max(1, int(b.Uniform("seconds between key frames", 0.5, 4)*float64(p.FPS)))
	return p
}

// Turn switches the uplink between its delay alone and all that its path does.
func (w *Show) Turn() { w.bench.Signal(w.uplink, syscall.SIGUSR2) }

// carried is how much of all viewers' streams this machine carries beside the rest, kbit/s.
const carried = 40_000

// View starts the viewers, and has snag watch the stream as one.
func (w *Show) View() {
	if w.HLS {
		w.WatchHLS()
		w.viewers("http://"+Web+"/"+origin.App+"/"+origin.Stream+".m3u8", w.bench.Duration("viewers' buffer", 2*time.Second, 4*time.Second))
		return
	}
	w.Watch()
	w.ViewAt(Deliver)
}

// ViewAt starts viewers of RTMP at that address.
func (w *Show) ViewAt(addr string) {
	Viewers(w.bench, w.Viewer, addr, w.Kbit)
}

// Viewers starts viewers of RTMP at an address: one or two that keep logs, and more that
// do not.
func Viewers(b *drawn.Bench, ns, addr string, kbit int) {
	buffer := b.Duration("viewers' buffer", 150*time.Millisecond, 1500*time.Millisecond)
	var logs []string
	for range 1 + b.Int("viewers", 1, 60)/30 {
		logs = append(logs, View(b, ns, "viewer", origin.URL(addr, origin.Stream), buffer))
	}
	b.Await("a picture at the viewers", 30*time.Second, func() (bool, error) { // before others take their places
		for _, path := range logs {
			if st, err := os.Stat(path); err != nil || st.Size() == 0 {
				return false, err
			}
		}
		return true, nil
	})
	more := min(b.Int("viewers", 1, 60)-1, carried/kbit)
	if more > 0 {
		p := b.Actor(ns, "players", "edge-relay", []string{"--to", addr, "--app", origin.App, "--stream", origin.Stream, "--clients", fmt.Sprint(more)}, lab.MayEnd())
		b.AwaitPrinted(p, "ready")
	}
}

func (w *Show) viewers(url string, buffer time.Duration) {
	for range w.bench.Int("viewers", 1, 4) {
		View(w.bench, w.Viewer, "viewer", url, buffer)
	}
}

// View starts a viewer that keeps a log, whose path it returns, with options of ffmpeg for
// its input. Its ffmpeg is called player, so that nobody takes it for an encoder.
func View(b *drawn.Bench, ns, name, url string, buffer time.Duration, options ...string) string {
	path := b.ClientLog(name)
	player := filepath.Join(b.Dir(), "player")
	ffmpeg, err := exec.LookPath("ffmpeg")
	if err == nil {
		err = os.Symlink(ffmpeg, player)
	}
	if err != nil && !errors.Is(err, os.ErrExist) {
		b.Fail(name, err)
		return path
	}
	args := slices.Concat([]string{"--log", path, "--buffer", buffer.String(), "--",
		player, "-nostdin", "-hide_banner", "-loglevel", "error", "-analyzeduration", "500k"}, options,
		[]string{"-i", url, "-c", "copy", "-flush_packets", "1", "-f", "framecrc", "-"})
	b.Actor(ns, name, "viewer", args)
	return path
}
