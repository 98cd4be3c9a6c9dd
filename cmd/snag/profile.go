package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"snag/probes"
	"snag/probes/jvm"
	"snag/recording"
	"snag/report/profile"
	"snag/verdict"
)

type profileFlags struct {
	window time.Duration
	pid    int
	all    bool
	off    bool
	jit    bool
	dwarf  bool
	out    string
	read   string
	html   string
	lines  int
	quiet  bool
}

func profileCommand() *cobra.Command {
	var f profileFlags
	cmd := &cobra.Command{
		Use:   "profile (--pid N | --all | --read DIR)",
		Short: "Sample where the time on the CPUs goes, or, with --off, the time off them",
		Long: `Sample what runs on the CPUs, 99 times a second on each, with the stacks of the
kernel and of the programs, and print the functions that took most: their own time
and that of what they called. With --off also where threads waited, and for what.

The recording goes to --out (default: a new folder under the temporary directory),
and into its folder profiles/ what viewers open: oncpu.pb.gz (go tool pprof),
oncpu.folded (flamegraph.pl), oncpu.speedscope.json (speedscope.app). --html writes
the page with its flame graph. --read prints and writes them of a recording that is
there; snag find takes a profile as well.

Programs built without frame pointers lose their callers: it says how many, and
where; --dwarf finds them. A JVM names its Java methods with --jit-maps (JDK 17 and later) and shows
their callers with -XX:+PreserveFramePointer.`,
		Example: `  sudo snag profile --pid 812 --for 10s
  sudo snag profile --all --html profile.html
  sudo snag profile --pid $(pgrep -o java) --jit-maps --off
  snag profile --read /tmp/snag-20261121-045359-16773 --pid 812`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return runProfile(cmd, f) },
	}
	flags := cmd.Flags()
	flags.DurationVar(&f.window, "for", 20*time.Second, "how long to record")
	flags.IntVar(&f.pid, "pid", 0, "sample this process and its children")
	flags.BoolVar(&f.all, "all", false, "sample the whole machine")
	flags.BoolVar(&f.off, "off", false, "also the time off the CPU: where threads waited (of one process)")
	flags.BoolVar(&f.jit, "jit-maps", false, "have the JVM write the names of its compiled methods (jcmd Compiler.perfmap): this stops it for a moment, some ms to some 100 ms by how much code it has")
	flags.BoolVar(&f.dwarf, "dwarf", false, "walk the programs' stacks by their call frame information: for programs built without frame pointers; copies up to 64 KiB of stack a sample, kept nowhere (x86-64, kernel 5.15 and later)")
	flags.StringVar(&f.out, "out", "", "keep the recording in this folder; with --read: write the profiles there")
	flags.StringVar(&f.read, "read", "", "record nothing: show the profile of this recording")
	flags.StringVar(&f.html, "html", "", "also write one HTML page with the flame graph to this file")
	flags.IntVar(&f.lines, "top", 20, "how many functions to print")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "no progress, only the profile")
	return cmd
}

func (f *profileFlags) check(cmd *cobra.Command) error {
	changed := cmd.Flags().Changed
	switch {
	case f.read != "" && (f.all || f.jit || f.dwarf || changed("for")):
		return usage("--read shows a recording that is there: --all, --for, --dwarf and --jit-maps are for a new one")
	case f.read == "" && changed("pid") == f.all:
		return usage("one of --pid N and --all: whom to sample (or --read DIR)")
	case changed("pid") && f.pid < 1:
		return usage("--pid %d: a pid is a positive number", f.pid)
	case f.window < time.Second || f.window > time.Hour:
		return usage("--for %s: from 1s to 1h", f.window)
	case f.off && f.all:
		return usage("--off needs --pid: the waits of all threads of a machine are more than a profile can pay for")
	case f.jit && f.all:
		return usage("--jit-maps needs --pid: it stops a JVM for a moment, so it is told which")
	case f.lines < 1 || f.lines > 1000:
		return usage("--top %d: from 1 to 1000", f.lines)
	}
	if f.html != "" {
		if st, err := os.Stat(filepath.Dir(f.html)); err != nil || !st.IsDir() {
			return usage("--html %s: there is no folder %s", f.html, filepath.Dir(f.html))
		}
	}
	return nil
}

func runProfile(cmd *cobra.Command, f profileFlags) error {
	if err := f.check(cmd); err != nil {
		return err
	}
	if f.read != "" {
		return f.show(f.read, f.out)
	}
	dir := f.out
	if dir == "" {
		dir = filepath.Join(os.TempDir(), fmt.Sprintf("snag-%s-%d", time.Now().Format("20060102-150405"), os.Getpid()))
	}
	if err := f.record(cmd, dir); err != nil {
		return err
	}
	return f.show(dir, dir)
}

// record samples into dir.
func (f *profileFlags) record(cmd *cobra.Command, dir string) error {
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	go func() {
		<-ctx.Done()
		stop() // the next Ctrl-C ends snag at once
	}()
	stayLean(cmd.Context())
	progress := newProgress(os.Stderr, f.quiet)
	plan := probes.Plan{
		Dir: dir, For: f.window, Target: recording.Target{PID: f.pid}, Snag: version, Whole: true, Unwind: f.dwarf,
		// The host's tables have the processes' names, and their libraries' build ids.
		Probes: []string{"oncpu", "host"}, Notice: progress.notice, Tick: progress.tick, Between: giveBack,
	}
	if f.off {
		plan.Probes = append(plan.Probes, "offcpu")
		plan.Closer = []int{f.pid}
	}
	if f.jit {
		if err := f.writeJITMap(ctx, progress); err != nil {
			return fmt.Errorf("--jit-maps: %w", err)
		}
		plan.Tick = f.jitAtTheEnd(ctx, progress)
	}
	err := probes.Record(ctx, plan)
	progress.done()
	var nothing *probes.NotBegunError
	if errors.As(err, &nothing) {
		return err
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "snag: %v\n", err)
	}
	return nil
}

// writeJITMap has the JVM write the names of its compiled methods.
func (f *profileFlags) writeJITMap(ctx context.Context, progress *progress) error {
	took, err := jvm.WritePerfMap(ctx, "/proc", f.pid)
	if err == nil {
		progress.say(fmt.Sprintf("process %d wrote the names of its compiled methods; jcmd took %.0f ms", f.pid, 1000*took.Seconds()))
	}
	return err
}

// jitAtTheEnd has it write them again in the last two seconds: what was compiled
// meanwhile has a name then.
func (f *profileFlags) jitAtTheEnd(ctx context.Context, progress *progress) func(time.Duration) {
	done := false
	return func(left time.Duration) {
		progress.tick(left)
		if left > 2*time.Second || done {
			return
		}
		done = true
		if err := f.writeJITMap(ctx, progress); err != nil {
			progress.say(fmt.Sprintf("methods that were compiled meanwhile may have no names: %v", err))
		}
	}
}

// show prints the profiles of a recording, and writes them below to, where that is
// a folder.
func (f *profileFlags) show(dir, to string) error {
	r, err := recording.Open(dir)
	if err != nil {
		return err
	}
	kinds := []string{profile.OnCPU}
	if f.off || f.read != "" && len(r.OffCPU) > 0 {
		kinds = append(kinds, profile.OffCPU)
	}
	if to == "" {
		if st, err := os.Stat(dir); err == nil && st.IsDir() {
			to = dir
		}
	}
	var written []string
	for i, kind := range kinds {
		p, err := profile.From(r, profile.Options{Kind: kind, PID: f.pidShown()})
		if err != nil {
			return err
		}
		if i > 0 {
			fmt.Println()
		}
		if err := p.WriteText(os.Stdout, f.lines); err != nil {
			return fmt.Errorf("print the profile: %w", err)
		}
		if to != "" && len(p.Samples) > 0 {
			files, err := p.WriteFiles(filepath.Join(to, "profiles"))
			if err != nil {
				return err
			}
			written = append(written, files...)
		}
	}
	if len(written) > 0 {
		fmt.Printf("\n%s\n", strings.Join(written, "\n"))
	}
	if f.html != "" {
		return writePage(f.html, verdict.Judge(r))
	}
	return nil
}

// pidShown is the process to show. A new recording holds what was asked for alone,
// children included.
func (f *profileFlags) pidShown() int {
	if f.read == "" {
		return 0
	}
	return f.pid
}
