package ffprobe

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"snag/probes/streams/stream"
	"snag/probes/streams/wire"
)

var _ stream.Open = Open

// maxLine is the longest line that is looked at, bytes; longer ones are passed over.
const maxLine = 4096

// Open runs ffprobe on u and ends it with ctx. A scheme may have Prefix before it.
func Open(ctx context.Context, u *url.URL, sink stream.Sink, o stream.Options) error {
	o = wire.Defaults(o)
	to, err := target(u)
	if err != nil {
		return err
	}
	path, err := exec.LookPath("ffprobe")
	if err != nil {
		return fmt.Errorf("read %s: this needs ffprobe, which is not installed: install ffmpeg (Debian: apt-get install ffmpeg)", wire.Shown(u))
	}
	r := &reader{sink: sink, o: o, u: u, target: to, video: -1, audio: -1, params: map[int]stream.Params{}}
	err = r.run(ctx, path)
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// reader is one run of ffprobe.
type reader struct {
	sink   stream.Sink
	o      stream.Options
	u      *url.URL
	target string

	mu     sync.Mutex // the sink is called by one at a time
	params map[int]stream.Params
	// The first track of each kind is read.
	video, audio int
	begun        bool
	last         string // line of its log
}

func (r *reader) run(ctx context.Context, path string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, arguments(r.target)...) // ends it by its pid (os.Process.Kill)
	cmd.WaitDelay = 2 * time.Second
	out, its, err := terminal()
	if err != nil {
		stream.Note(r.sink, fmt.Sprintf("%s: no pseudo-terminal for ffprobe (%v): what it reports comes in blocks, up to a second late", wire.Shown(r.u), err))
		if out, its, err = os.Pipe(); err != nil {
			return fmt.Errorf("read %s: make a pipe for ffprobe: %w", wire.Shown(r.u), err)
		}
	}
	defer out.Close()
	cmd.Stdout = its
	log, err := cmd.StderrPipe()
	if err == nil {
		err = wire.In(r.o.Netns, cmd.Start)
	}
	_ = its.Close()
	if err != nil {
		return fmt.Errorf("read %s: run ffprobe: %w", wire.Shown(r.u), err)
	}
	// No first packet in time: a server that says nothing, or a stream that is none.
	limit := r.o.Timeout + analyze + time.Second
	slow := false
	timer := time.AfterFunc(limit, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if !r.begun {
			slow = true
			cancel()
		}
	})
	defer timer.Stop()
	var logs sync.WaitGroup
	logs.Go(func() { lines(log, r.logLine) })
	lines(out, r.packetLine)
	logs.Wait()
	err = cmd.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.why(err, slow, limit)
}

// why is the error of a run that is over.
func (r *reader) why(err error, slow bool, limit time.Duration) error {
	switch {
	case slow:
		return fmt.Errorf("read %s: ffprobe saw no packet within %s%s (is it sent, and is no firewall between?)", wire.Shown(r.u), limit, r.words())
	case r.begun:
		why := "ffprobe saw its end"
		if err != nil {
			why = "ffprobe ended: " + err.Error() + r.words()
		}
		return &stream.Ended{URL: wire.Shown(r.u), Why: why}
	case err != nil:
		return fmt.Errorf("read %s: ffprobe: %w%s (does ffprobe of this host have the protocol, see ffprobe -protocols, and is the stream there?)", wire.Shown(r.u), err, r.words())
	}
	return fmt.Errorf("read %s: ffprobe found no packets in it%s", wire.Shown(r.u), r.words())
}

// words is the last line of ffprobe's log, which may name the URL.
func (r *reader) words() string {
	if r.last == "" {
		return ""
	}
	last := strings.ReplaceAll(r.last, r.target, wire.Shown(r.u))
	if pass, ok := r.u.User.Password(); ok && pass != "" {
		last = strings.ReplaceAll(last, pass, "…")
	}
	for _, values := range r.u.Query() {
		for _, v := range values {
			if len(v) > 3 {
				last = strings.ReplaceAll(last, v, "…")
			}
		}
	}
	return ": " + last
}

// lines calls each for every line that is not too long, until the end.
func lines(f io.Reader, each func([]byte)) {
	b := bufio.NewReaderSize(f, maxLine)
	long := false
	for {
		line, err := b.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			long = true
			continue
		}
		if !long && len(line) > 0 {
			each(line)
		}
		long = false
		if err != nil { // a terminal whose other end is closed gives EIO
			return
		}
	}
}

func (r *reader) packetLine(line []byte) {
	at := r.o.Now()
	p, ok := parse(line)
	if !ok || !p.timed || p.kind == stream.Data {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	track := &r.video
	if p.kind == stream.Audio {
		track = &r.audio
	}
	if !r.begun {
		r.begun = true
		r.sink.Published(at, "", "")
	}
	if *track < 0 {
		*track = p.index
		if told, ok := r.params[p.index]; ok {
			r.sink.Params(told)
		}
	}
	if *track != p.index {
		return
	}
	r.sink.Frame(stream.Frame{Kind: p.kind, Key: p.key && p.kind == stream.Video, Arrival: at, DTS: p.dts, PTS: p.pts, Size: p.size})
}

func (r *reader) logLine(line []byte) {
	text := strings.ToValidUTF8(strings.TrimSpace(string(line)), "?")
	if text == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = text[:min(len(text), 300)]
	p, index, ok := parameters(text)
	if !ok || len(r.params) >= 64 {
		return
	}
	r.params[index] = p
	// Told before the first packet, or here when the log comes after it.
	if index == r.video || index == r.audio {
		r.sink.Params(p)
	}
}
