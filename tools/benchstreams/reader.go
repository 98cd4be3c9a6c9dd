package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// reader is one way to watch streams: commands that together read so many.
type reader struct {
	name     string
	streams  int
	commands [][]string
}

func one(args []string) [][]string { return [][]string{args} }

// each gives a command a URL.
func each(urls []string, args ...string) (all [][]string) {
	for _, u := range urls {
		all = append(all, append(append([]string{}, args...), u))
	}
	return all
}

func copies(urls []string) (all [][]string) {
	for _, u := range urls {
		all = append(all, []string{"ffmpeg", "-v", "error", "-i", u, "-c", "copy", "-f", "null", "-"})
	}
	return all
}

// row is what was measured of a reader.
type row struct {
	name    string
	streams int
	cpu     float64 // s of CPU a stream and second
	// MiB of all of its processes together (Documentation/filesystems/proc.rst): the most
	// that was ever resident (the start's), what is at the window's end (VmRSS), and of
	// that what no file has (RssAnon), which nobody shares.
	peak, memory, private float64
	first                 time.Duration
}

// firstOut notes when the first byte was written to it, and drops all.
type firstOut struct {
	began time.Time
	took  time.Duration
}

func (f *firstOut) Write(b []byte) (int, error) {
	// snag's own words before any stream was read are no figure.
	if f.took == 0 && len(bytes.TrimSpace(b)) > 0 && (bytes.Contains(b, []byte("first frame")) || !bytes.Contains(b, []byte("snag"))) {
		f.took = time.Since(f.began)
	}
	return len(b), nil
}

// measure runs the reader's commands for the window and sums what they used. A
// command that ended by itself before is no measurement.
func (o *origin) measure(r reader, window time.Duration) (row, error) {
	got := row{name: r.name, streams: r.streams}
	began := time.Now()
	var running []*exec.Cmd
	var outs []*firstOut
	for _, args := range r.commands {
		cmd := o.command(args...)
		out := &firstOut{began: time.Now()}
		cmd.Stdout = out
		if err := cmd.Start(); err != nil {
			return got, fmt.Errorf("start %s: %w", args[0], err)
		}
		running, outs = append(running, cmd), append(outs, out)
	}
	time.Sleep(time.Until(began.Add(window)))
	for i, cmd := range running {
		if err := syscall.Kill(cmd.Process.Pid, 0); err != nil {
			return got, fmt.Errorf("%s ended before its time", r.name)
		}
		got.memory += statusMiB(cmd.Process.Pid, "VmRSS")
		got.private += statusMiB(cmd.Process.Pid, "RssAnon")
		_ = cmd.Process.Signal(syscall.SIGINT) // Wait tells how it went
		late := time.AfterFunc(3*time.Second, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait() // ended by a signal, as asked
		late.Stop()
		u := cmd.ProcessState.SysUsage().(*syscall.Rusage)
		got.cpu += (seconds(u.Utime) + seconds(u.Stime)) / window.Seconds() / float64(r.streams)
		got.peak += float64(u.Maxrss) / 1024
		got.first = max(got.first, outs[i].took)
	}
	return got, nil
}

// besideReaders measures the passive watch while as many readers as there are
// streams are served, so that it sees each stream come and go out.
func (o *origin) besideReaders(r reader, snag string, window time.Duration) (row, error) {
	players := o.command(append([]string{snag, "watch", "--plain", "--for", (window + 10*time.Second).String()}, o.urls...)...)
	if err := players.Start(); err != nil {
		return row{}, err
	}
	defer func() { _ = players.Process.Kill(); _ = players.Wait() }()
	time.Sleep(2 * time.Second)
	r.commands = one([]string{snag, "watch", "--plain", "--for", (window + time.Second).String(), "--passive", "--port", "1935"})
	return o.measure(r, window)
}

// statusMiB is a field of /proc/PID/status in MiB.
func statusMiB(pid int, field string) float64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for l := range strings.Lines(string(b)) {
		kib := 0.0
		if n, _ := fmt.Sscanf(l, field+": %f kB", &kib); n == 1 {
			return kib / 1024
		}
	}
	return 0
}

func seconds(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }

// passive tells whether this snag has it.
func passive(snag string) bool {
	out, _ := exec.Command(snag, "watch", "--help").Output()
	return bytes.Contains(out, []byte("--passive"))
}

// qualityTools installs video-quality-tools from npm beside the run, pinned; nil, with
// the reason, where it can't be.
func qualityTools(dir string) []string {
	home := filepath.Join(dir, "npm")
	out, err := exec.Command("npm", "install", "--prefix", home, "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "video-quality-tools@3.0.0").CombinedOutput()
	if err != nil {
		fmt.Printf("video-quality-tools is left out: npm install: %v: %s\n\n", err, bytes.TrimSpace(out))
		return nil
	}
	return []string{"node", "-e", monitor, filepath.Join(home, "node_modules", "video-quality-tools")}
}

// monitor counts frames with its FramesMonitor, as its README shows.
const monitor = `
const { FramesMonitor } = require(process.argv[1]);
const all = [];
for (const url of process.argv.slice(2)) {
  const m = new FramesMonitor({ ffprobePath: '/usr/bin/ffprobe', timeoutInMs: 5000, bufferMaxLengthInBytes: 1000000, errorLevel: 'error', exitProcessGuardTimeoutInMs: 3000 }, url);
  m.on('frame', () => { if (!m.seen) { m.seen = true; console.log('frame', url); } });
  m.on('error', e => console.error('video-quality-tools:', e.message));
  m.listen();
  all.push(m);
}
// What its children used counts as its own once they have ended.
process.on('SIGINT', async () => { await Promise.all(all.map(m => m.stopListen())); process.exit(0); });
`
