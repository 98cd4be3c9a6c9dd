// Package broadcast puts a live stream on a stage: an encoder, a server and a viewer,
// each in a network namespace of its own, real programs all of them (ffmpeg, nginx
// with its RTMP module). snag find is started at the viewer's and watches the stream
// as a viewer would.
package broadcast

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"snag/lab"
	"snag/lab/origin"
)

// Tools that a stage with a broadcast needs.
var Tools = append([]lab.Tool{lab.IP}, origin.Tools...)

// Addresses of the server: towards the encoders, and towards the viewers.
const (
	Ingest  = "10.88.1.1:1935"
	Deliver = "10.88.2.1:1935"
)

// Broadcast is one server with its encoders and viewers.
type Broadcast struct {
	Stage                   *lab.Stage
	Encoder, Server, Viewer string // namespaces
	Nginx                   *lab.Process

	encoded map[string]string // where the films' files are, by stream
	picture Picture
	pace    float64 // of a SlowClock
	// apart: the encoders are given the stream's name apart from the address.
	apart bool
}

// Picture is what is sent.
type Picture struct {
	Kbit    int // per second
	FPS     int
	GOP     int    // frames from key frame to key frame
	Size    string // WIDTHxHEIGHT
	Seconds int    // after which it begins anew
}

// Usual is the picture where nothing is said of it.
var Usual = Picture{Kbit: 1000, FPS: 25, GOP: 50, Size: "480x270", Seconds: 30}

// Send sets the picture of encoders that are started from now on.
func (b *Broadcast) Send(p Picture) { b.picture = p }

// New makes the namespaces, joined by Ethernet, and starts the server.
func New(s *lab.Stage) *Broadcast {
	b := namespaces(s)
	s.Veth(lab.End{Netns: b.Encoder, Device: "eth0", Addr: "10.88.1.2/24"}, lab.End{Netns: b.Server, Device: "eth0", Addr: "10.88.1.1/24"})
	b.serve()
	return b
}

// NewOver is New with an actor between the encoder and the server that carries every
// packet; it is returned as well.
func NewOver(s *lab.Stage, args ...string) (*Broadcast, *lab.Process) {
	b := namespaces(s)
	path := append([]string{"--a", b.Encoder + "/eth0/10.88.1.2/24", "--b", b.Server + "/eth0/10.88.1.1/24"}, args...)
	uplink := s.Actor("", "uplink", "tun-relay", path)
	s.AwaitPrinted(uplink, "ready")
	b.serve()
	return b, uplink
}

func namespaces(s *lab.Stage) *Broadcast {
	b := &Broadcast{Stage: s, Encoder: s.Netns("encoder"), Server: s.Netns("server"), Viewer: s.Netns("viewer"), picture: Usual, pace: 0.8}
	s.Veth(lab.End{Netns: b.Server, Device: "eth1", Addr: "10.88.2.1/24"}, lab.End{Netns: b.Viewer, Device: "eth0", Addr: "10.88.2.2/24"})
	return b
}

func (b *Broadcast) serve() {
	s := b.Stage
	b.Nginx = origin.Serve(s, b.Server, "0.0.0.0:1935")
	s.Await("nginx to listen", 20*time.Second, s.Listens(b.Server, ":1935"))
}

// Watch has snag find watch a stream from the viewer's namespace: by default the
// one that Encode publishes.
func (b *Broadcast) Watch(urls ...string) {
	if len(urls) == 0 {
		urls = []string{origin.URL(Deliver, origin.Stream)}
	}
	b.Stage.FindAt(b.Viewer, urls...)
}

// Worker is the pid of nginx's process that handles connections.
func (b *Broadcast) Worker() int { return WorkerOf(b.Stage, b.Nginx) }

// WorkerOf is the pid of the process that handles a server's connections: the child
// of its master.
func WorkerOf(s *lab.Stage, nginx *lab.Process) int {
	worker := 0
	s.Await("nginx's worker", 10*time.Second, func() (bool, error) {
		raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", nginx.PID, nginx.PID))
		if err != nil {
			return false, err
		}
		if f := strings.Fields(string(raw)); len(f) > 0 {
			worker, err = strconv.Atoi(f[0])
		}
		return worker > 0, err
	})
	return worker
}

// Clock is what an encoder takes its time stamps from.
type Clock int

const (
	// FileClock sends a file at its pace; after a stop what is missing is sent at
	// once, and the time stamps go on where they were.
	FileClock Clock = iota
	// CaptureClock stamps each picture when it is taken; what is not taken while
	// the encoder stands is never made.
	CaptureClock
	// SlowClock sends a file at 0.8 of its pace or another, as by an encoder with too little CPU time.
	SlowClock
)

// Encode starts ffmpeg that publishes a stream under a name, "" for the usual, and
// waits until it does.
func (b *Broadcast) Encode(clock Clock, name string, more ...lab.Option) *lab.Process {
	s := b.Stage
	if name == "" {
		name = origin.Stream
	}
	var in []string
	switch clock {
	case CaptureClock:
		in = append(in, "-use_wallclock_as_timestamps", "1", "-f", "lavfi", "-i", fmt.Sprintf("testsrc2=size=320x180:rate=%d,realtime=limit=1", b.picture.FPS),
			"-fps_mode", "vfr", "-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency", "-threads", "1", "-g", fmt.Sprint(b.picture.GOP),
			"-b:v", fmt.Sprintf("%dk", min(600, b.picture.Kbit)), "-pix_fmt", "yuv420p")
	case SlowClock:
		in = append(in, "-readrate", fmt.Sprint(b.pace), "-stream_loop", "-1", "-i", b.file(name), "-c", "copy")
	default:
		in = append(in, "-re", "-stream_loop", "-1", "-i", b.file(name), "-c", "copy")
	}
	argv := append([]string{"ffmpeg", "-nostdin", "-hide_banner", "-loglevel", "error", "-progress", "pipe:1"}, in...)
	to := []string{origin.URL(Ingest, name)}
	if b.apart {
		to = []string{"-rtmp_app", origin.App, "-rtmp_playpath", name, "rtmp://" + Ingest}
	}
	argv = slices.Concat(argv, []string{"-t", fmt.Sprint(int(lab.MaxLife.Seconds())), "-f", "flv"}, to)
	p := s.Run(b.Encoder, "encoder-"+name, argv, more...)
	s.AwaitOutput(p, "frames are sent", origin.Moving)
	return p
}

// file is a stream's film, encoded once a stage. The usual stream's has no noise.
func (b *Broadcast) file(name string) string {
	if path := b.encoded[name]; path != "" {
		return path
	}
	if b.encoded == nil {
		b.encoded = map[string]string{}
	}
	filter := "null"
	if name != origin.Stream { // nobody sends the same film twice
		filter = fmt.Sprintf("noise=alls=%d:allf=t", 8+len(b.encoded))
	}
	b.encoded[name] = film(b.Stage, b.picture, name, filter)
	return b.encoded[name]
}

// File encodes some seconds of a moving picture and returns where they are.
func File(s *lab.Stage, p Picture) string { return film(s, p, "picture", "null") }

func film(s *lab.Stage, p Picture, name, filter string) string {
	path := filepath.Join(s.Dir(), name+".flv")
	rate := fmt.Sprintf("%dk", p.Kbit)
	s.Command("", "ffmpeg", "-nostdin", "-hide_banner", "-loglevel", "error", "-f", "lavfi", "-i", fmt.Sprintf("testsrc2=size=%s:rate=%d", p.Size, p.FPS), "-vf", filter,
		"-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency", "-threads", "1", "-g", strconv.Itoa(p.GOP),
		"-b:v", rate, "-minrate", rate, "-maxrate", rate, "-bufsize", fmt.Sprintf("%dk", p.Kbit/2), "-nal-hrd", "cbr", "-pix_fmt", "yuv420p", "-t", fmt.Sprint(p.Seconds), path)
	return path
}

// StopAgain starts a script that stops a process for that long, lets it go for run,
// and so on, and waits until it is stopped.
func (b *Broadcast) StopAgain(pid int, stop, run string) {
	s := b.Stage
	script := s.Actor("", "freeze-script", "stopper", []string{"--pid", strconv.Itoa(pid), "--stop", stop, "--run", run})
	s.AwaitPrinted(script, "ready")
}

// Play starts a player beside snag's that reads the stream, and may stop reading
// now and then.
func (b *Broadcast) Play(comm string, args ...string) *lab.Process {
	s := b.Stage
	p := s.Actor(b.Viewer, comm, "edge-relay", append([]string{"--to", Deliver, "--app", origin.App, "--stream", origin.Stream, "--clients", "1"}, args...))
	s.AwaitOutput(p, "the stream comes", func(printed string) bool { return strings.Contains(printed, "message") })
	return p
}

// Of is the broadcast of a stage on which an incident made one, for checks of its
// truth, with a plain player that shows what a viewer gets.
func Of(s *lab.Stage, player bool) *Broadcast {
	b := &Broadcast{Stage: s, Encoder: s.Name("encoder"), Server: s.Name("server"), Viewer: s.Name("viewer"), Nginx: s.ProcessOf("nginx")}
	if player {
		b.Play("witness")
	}
	return b
}

// PartOf waits for three eighths of a stop that has just begun. A find of 8 s has then the
// end of it, the stream as it goes on, by which it learns what feeds what, and the most of
// the next one: one that began with the stop would end with the next just begun.
func PartOf(s *lab.Stage, stop string) {
	d, err := time.ParseDuration(stop)
	if err != nil {
		s.Fail("freeze-script", fmt.Errorf("the stop %q is not a time: %w", stop, err))
		return
	}
	s.Pause(d * 3 / 8)
}
