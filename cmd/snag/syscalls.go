package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"snag/internal/cli"
	"snag/internal/shown"
	"snag/probes"
	"snag/recording"
	"snag/report"
)

type syscallsFlags struct {
	from   *strangers // what was opened before the privileges were given up (--read)
	target recording.Target
	all    bool
	window time.Duration
	peek   int
	out    string
	read   string
	json   bool
	quiet  bool
	top    int
}

func syscallsCommand() *cobra.Command {
	var f syscallsFlags
	cmd := &cobra.Command{
		Use:   "syscalls (--pid N | --unit NAME | --port N | --netns NAME | --all | --read DIR)",
		Short: "Count a process' system calls, and what its descriptors are",
		Long: `Count the system calls of a process, its children among them, as strace -c -w does,
at a small part of its cost: exact counts, and the process is not stopped. Then what
it does on each descriptor, and what that is: both ends of a socket, the process at
the other end, file, pipe. Ctrl-C ends it early and prints.

--peek N looks into the first N bytes of what a client sends on connections that begin
meanwhile, for the name of what they carry (the stream of an RTMP connection, an HTTP
request line without its query). Nothing else of it is kept (docs/syscalls.md).`,
		Example: `  sudo snag syscalls --pid 812
  sudo snag syscalls --unit nginx --for 30s --peek 64
  sudo snag syscalls --all --for 2s --json
  sudo snag syscalls --port 8080 --out /var/tmp/calls
  snag syscalls --read /var/tmp/calls --top 50`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return syscalls(cmd, f) },
	}
	flags := cmd.Flags()
	addTarget(cmd, &f.target, "count those of")
	flags.BoolVar(&f.all, "all", false, "count those of every process but snag")
	flags.DurationVar(&f.window, "for", 10*time.Second, "how long to count, as 10s or 2m")
	flags.IntVar(&f.peek, "peek", 0, "look into the first bytes of new connections for a name, up to so many bytes of a buffer, 16 to 256 (64 is enough for most names)")
	flags.StringVarP(&f.out, "out", "o", "", "keep the recording in this folder")
	flags.StringVar(&f.read, "read", "", "show what a recording has, and count nothing")
	flags.BoolVar(&f.json, "json", false, "JSON on standard output (docs/syscalls.md)")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "no progress")
	flags.IntVar(&f.top, "top", 20, "so many descriptors and threads, and twice as many calls")
	return cmd
}

func (f *syscallsFlags) check(cmd *cobra.Command) error {
	changed := cmd.Flags().Changed
	if given(cmd, targets, "all", "read") != 1 {
		return cli.Usage("name a target: one of --pid, --unit, --port, --container, --pod, --netns, --all, or --read of a recording (snag syscalls --help)")
	}
	if err := checkTarget(cmd, f.target); err != nil {
		return err
	}
	switch {
	case changed("read") && (changed("out") || changed("peek") || changed("for")):
		return cli.Usage("--read shows a recording: --out, --peek and --for are for a new one")
	case f.window < time.Second || f.window > time.Hour:
		return cli.Usage("--for %s: from 1s to 1h", f.window)
	case changed("peek") && (f.peek < 16 || f.peek > 256):
		return cli.Usage("--peek %d: from 16 to 256 bytes", f.peek)
	case f.top < 1 || f.top > 100000:
		return cli.Usage("--top %d: from 1 to 100000", f.top)
	}
	return nil
}

func syscalls(cmd *cobra.Command, f syscallsFlags) error {
	if err := f.check(cmd); err != nil {
		return err
	}
	if f.read != "" {
		bound(f.read)
		s, err := ready(f.read)
		if err != nil {
			return err
		}
		defer s.close()
		f.from = s
		return f.show(f.read)
	}
	if !f.all {
		var err error
		if f.target, err = resolved(f.target); err != nil {
			return err
		}
		if err := hasCalls("/proc", f.target.PID); err != nil {
			return err
		}
	}
	dir := f.out
	if dir == "" {
		parent, err := os.MkdirTemp("", "snag-syscalls-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(parent)
		dir = filepath.Join(parent, "recording")
	}
	ctx, over := untilAsked(cmd.Context(), func() string {
		if f.out == "" {
			_ = os.RemoveAll(filepath.Dir(dir))
			return ""
		}
		return fmt.Sprintf("ended by a second signal: what was recorded is in %s", dir)
	})
	defer over()
	recorded := f.record(ctx, dir)
	var nothing *probes.NotBegunError
	if errors.As(recorded, &nothing) {
		return recorded
	}
	if recorded != nil { // the disk is full, say: what was counted until then is shown
		fmt.Fprintf(shown.To(os.Stderr), "snag: %v\n", recorded)
	}
	if err := f.show(dir); err != nil || recorded == nil {
		return err
	}
	return &cli.Exit{Code: cli.ExitFailed}
}

func (f *syscallsFlags) record(ctx context.Context, dir string) error {
	ctx, over := context.WithCancel(ctx)
	defer over()
	stayLean(ctx)
	progress := newProgress(os.Stderr, f.quiet)
	progress.ends = "prints"
	err := probes.Record(ctx, probes.Plan{
		Dir: dir, For: f.window, Target: f.target, Snag: cli.Version, Probes: []string{"syscalls"},
		Closer: f.target.PIDs, CloserAll: f.all, Peek: f.peek, Notice: progress.notice,
		Between: giveBack,
		Tick: func(left time.Duration) {
			progress.tick(left)
			if !f.all && allEnded(f.target.PIDs) {
				over()
			}
		},
	})
	progress.done()
	return err
}

// allEnded reports whether none of the processes is left: what there is to see was seen.
func allEnded(pids []int) bool {
	for _, pid := range pids {
		if !ended(pid) {
			return false
		}
	}
	return true
}

// ended reports whether a process is gone, or waits for its parent to take note.
func ended(pid int) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return true
	}
	for i := len(b) - 1; i >= 0; i-- {
		if b[i] == ')' { // the name's end: proc_pid_stat(5)
			return i+2 < len(b) && (b[i+2] == 'Z' || b[i+2] == 'X')
		}
	}
	return false
}

// show prints a recording's calls. Without any, it says why.
func (f *syscallsFlags) show(dir string) error {
	r, err := f.from.openAs(f.read == "", dir)
	if err != nil {
		return err
	}
	if len(r.Parts) > 0 {
		return f.showHosts(r)
	}
	c, measured := r.Measured("syscalls.calls")
	if !measured {
		why := c.Why
		if c.Cure != "" {
			why += ": " + c.Cure
		}
		return fmt.Errorf("system calls were not counted: %s", why)
	}
	calls := report.SumCalls(r)
	if len(calls.Calls) == 0 && !f.all && f.read == "" && allEnded(f.target.PIDs) {
		return errors.New("the process ended before it made a call that could be counted")
	}
	if f.json {
		return report.WriteCallsJSON(os.Stdout, calls)
	}
	return report.WriteCalls(os.Stdout, calls, report.TableOptions{Width: columns(), Most: f.top})
}

// showHosts prints the calls of a recording of several hosts, each host's by itself: a
// thread's number is somebody else's on another.
func (f *syscallsFlags) showHosts(r *recording.Recording) error {
	names, printed := r.PartNames(), 0
	for i, part := range r.Parts {
		if _, measured := part.Measured("syscalls.calls"); !measured {
			continue
		}
		if printed++; f.json {
			if err := report.WriteCallsJSON(os.Stdout, report.SumCalls(part)); err != nil {
				return err
			}
			continue
		}
		if printed > 1 {
			fmt.Fprintln(os.Stdout)
		}
		fmt.Fprintf(shown.To(os.Stdout), "%s:\n", names[i])
		if err := report.WriteCalls(os.Stdout, report.SumCalls(part), report.TableOptions{Width: columns(), Most: f.top}); err != nil {
			return err
		}
	}
	if printed == 0 {
		return fmt.Errorf("system calls were not counted on any of %s", strings.Join(names, ", "))
	}
	return nil
}
