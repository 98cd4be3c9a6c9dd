package main

import (
	"fmt"
	"io"
	"os"
	"snag/internal/shown"
	"strings"
	"time"
)

// readProgress shows how far a reading is once it takes more than a second: on a
// terminal a bar that is drawn over, elsewhere a line each ten seconds.
type readProgress struct {
	w        io.Writer
	terminal bool
	began    time.Time
	every    time.Duration // between lines where there is no terminal
	said     time.Time     // when the last line was written
	shown    bool
	// What was read by when, half a second apart: the speed is that of the last
	// seconds, since files differ.
	marks []readMark
}

type readMark struct {
	at   time.Time
	done int64
}

// recently is how many marks the speed is taken over: five seconds.
const recently = 10

func newReadProgress(f *os.File, now time.Time) *readProgress {
	return &readProgress{w: f, terminal: isTerminal(f), began: now, said: now, every: 10 * time.Second, marks: []readMark{{at: now}}}
}

// tick reports that done bytes of all were read; all is 0 where that is not known.
func (p *readProgress) tick(now time.Time, done, all int64) {
	p.marks = append(p.marks, readMark{now, done})
	if len(p.marks) > recently {
		p.marks = p.marks[1:]
	}
	if now.Sub(p.began) < time.Second {
		return
	}
	text := progressText(done, all, p.speed())
	switch {
	case p.terminal:
		fmt.Fprintf(p.w, "\r\x1b[K%s (Ctrl-C judges what was read)", shown.Text(text))
		p.shown = true
	case now.Sub(p.said) >= p.every:
		fmt.Fprintf(p.w, "snag: %s\n", strings.Trim(text[strings.IndexByte(text, ']')+1:], " "))
		p.said = now
	}
}

// judging says what a silence after the reading is.
func (p *readProgress) judging() {
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[Kread, judging")
	}
}

func (p *readProgress) done() {
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
}

// speed is what was read per second lately, bytes.
func (p *readProgress) speed() float64 {
	first, last := p.marks[0], p.marks[len(p.marks)-1]
	took := last.at.Sub(first.at).Seconds()
	if took <= 0 {
		return 0
	}
	return float64(last.done-first.done) / took
}

// progressText is the line: a bar, how much of what, how fast, how long still.
func progressText(done, all int64, speed float64) string {
	if all <= 0 {
		return fmt.Sprintf("%s read, %s/s", decimal(done), decimal(int64(speed)))
	}
	done = min(done, all)
	const width = 24
	full := int(done * width / all)
	text := fmt.Sprintf("[%s%s] %3d %% of %s, %s/s", strings.Repeat("#", full), strings.Repeat("-", width-full), 100*done/all, decimal(all), decimal(int64(speed)))
	if speed > 0 {
		left := time.Duration(float64(all-done) / speed * float64(time.Second))
		text += fmt.Sprintf(", %v left", left.Round(time.Second))
	}
	return text
}

// decimal writes bytes as disks and tools that copy do: 1 GB is 1e9.
func decimal(n int64) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.1f GB", float64(n)/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.0f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.0f kB", float64(n)/1e3)
}
