package actor

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"snag/lab/clientlog"
)

var viewer = Actor{
	Name:  "viewer",
	About: "runs a player that prints the time stamp of each frame it gets (ffmpeg -f framecrc -), and logs the frames that its screen would show",
	Main: func(ctx context.Context, f *flag.FlagSet, parse func() error) error {
		path := f.String("log", "", "file for the client's log")
		buffer := f.Duration("buffer", 500*time.Millisecond, "of the stream, before the picture begins and after each time that it stopped")
		again := f.Duration("again", time.Second, "how long it waits to come back when the player ends")
		if err := parse(); err != nil {
			return err
		}
		if f.NArg() == 0 {
			return errors.New("give the player's command after --")
		}
		w, err := clientlog.Create(*path)
		if err != nil {
			return err
		}
		defer w.Close()
		s := newScreen(*buffer)
		go func() {
			for sleep(ctx, 20*time.Millisecond) {
				w.Delivered(s.show(time.Now()))
			}
		}()
		runtime.LockOSThread() // the player is killed when the thread ends that started it
		ready()
		for ctx.Err() == nil {
			fmt.Println(watch(ctx, f.Args(), s))
			sleep(ctx, *again)
		}
		return nil
	},
}

// watch runs the player once and puts its frames on the screen; it says why that ended.
func watch(ctx context.Context, argv []string, s *screen) error {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	said := &strings.Builder{}
	cmd.Stderr = said
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return err
	}
	if err := frames(out, s.take); err != nil {
		return err
	}
	return fmt.Errorf("%s: %w: %s", argv[0], cmd.Wait(), strings.TrimSpace(said.String()))
}

// frames reads what ffmpeg's framecrc prints: "#tb 0: 1/1000", and for each frame its
// stream, time stamps, duration, size and checksum.
func frames(from io.Reader, take func(stamp time.Duration)) error {
	tick := time.Millisecond
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		line := lines.Text()
		if base, ok := strings.CutPrefix(line, "#tb 0: 1/"); ok {
			n, err := strconv.Atoi(base)
			if err != nil || n < 1 {
				return fmt.Errorf("read the player's time base %q", line)
			}
			tick = time.Second / time.Duration(n)
		}
		first, rest, ok := strings.Cut(line, ",")
		if !ok || first != "0" {
			continue
		}
		stamp, _, _ := strings.Cut(rest, ",")
		n, err := strconv.ParseInt(strings.TrimSpace(stamp), 10, 64)
		if err != nil {
			return fmt.Errorf("read the player's line %q: %w", line, err)
		}
		take(time.Duration(n) * tick)
	}
	return lines.Err()
}

// screen is what a viewer sees of the frames that came: they are shown at their pace,
// the picture stands still when none is left, and goes on when enough of the stream is
// there again. A live player does not stay behind: what is more than that is left out.
type screen struct {
	mu      sync.Mutex
	buffer  time.Duration
	frames  []time.Duration // stamps that wait to be shown, in order
	playing bool
	at      time.Time     // when the picture was last moved on
	pos     time.Duration // stamp that it had come to
}

func newScreen(buffer time.Duration) *screen { return &screen{buffer: buffer} }

// jump is how far a stamp may be from the one before within a stream.
const jump = 20 * time.Second

func (s *screen) take(stamp time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.frames); n > 0 && (stamp < s.frames[n-1] || stamp > s.frames[n-1]+jump) || stamp < s.pos || stamp > s.pos+jump {
		s.frames, s.playing, s.pos = nil, false, stamp // another stream, or one that begins anew
	}
	s.frames = append(s.frames, stamp)
}

// show returns how many frames were shown since it was asked last.
func (s *screen) show(now time.Time) (shown int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.frames) == 0 {
		s.playing = false
		return 0
	}
	newest := s.frames[len(s.frames)-1]
	switch {
	case !s.playing && newest-s.frames[0] < s.buffer:
		return 0
	case !s.playing:
		s.playing, s.pos = true, s.frames[0]
	default:
		s.pos = min(newest, s.pos+now.Sub(s.at))
	}
	s.at = now
	if newest-s.pos > 3*s.buffer+time.Second {
		s.pos = newest - s.buffer
		for len(s.frames) > 1 && s.frames[1] <= s.pos {
			s.frames = s.frames[1:] // left out
		}
	}
	for shown < len(s.frames) && s.frames[shown] <= s.pos {
		shown++
	}
	s.frames = s.frames[shown:]
	return shown
}
