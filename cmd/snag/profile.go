package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"snag/internal/cli"
	"snag/internal/private"
	"snag/internal/shown"
	"snag/probes"
	"snag/probes/jvm"
	"snag/recording"
	"snag/report/profile"
	"snag/verdict"
)

type profileFlags struct {
	// from and to are what was opened before the privileges were given up (--read).
	from   *strangers
	to     *pageWriter
	window time.Duration
	target recording.Target
	all    bool
	off    bool
	jit    bool
	dwarf  bool
	inl    bool
	locks  bool
	stops  bool
	out    string
	read   string
	html   string
	event  string
	lines  int
	quiet  bool
	json   bool
}

func profileCommand() *cobra.Command {
	var f profileFlags
	cmd := &cobra.Command{
		Use:   "profile (--pid N | --unit NAME | --port N | --netns NAME | --all | --read DIR)",
		Short: "Sample where the time on the CPUs goes, or, with --off, the time off them",
		Long: `Sample what runs on the CPUs, 99 times per second on each, with the stacks of the
kernel and of the programs, and print the functions that took most: their own time
and that of what they called. With --off also where threads waited, and for what.
Ctrl-C ends it early and prints.

The recording goes to --out (default: a new folder under the temporary directory),
and into its folder profiles/ what viewers open: oncpu.pb.gz (go tool pprof),
oncpu.folded (flamegraph.pl), oncpu.speedscope.json (speedscope.app). --html writes
the page with its flame graph. --read prints and writes them of a recording that is
there; snag find takes a profile as well. --read takes what others recorded too (perf
script, perf.data, folded stacks, pprof, speedscope); snag profile diff compares two.

Programs built without frame pointers lose their callers: it says how many, and
where; --dwarf finds them. A JVM names its Java methods with --jit-maps (JDK 17 and
later) and shows their callers with -XX:+PreserveFramePointer.`,
		Example: `  sudo snag profile --pid 812 --for 10s
  sudo snag profile --unit nginx --off
  sudo snag profile --all --html profile.html
  sudo snag profile --pid $(pgrep -o java) --jit-maps --off
  snag profile --read /tmp/snag-20261121-045359-2871936418 --pid 812
  snag profile --read perf.data`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runProfile(cmd, f) },
	}
	flags := cmd.Flags()
	flags.DurationVar(&f.window, "for", 20*time.Second, "how long to record, as 10s or 2m")
	addTarget(cmd, &f.target, "sample")
	flags.BoolVar(&f.all, "all", false, "sample the whole machine")
	flags.BoolVar(&f.off, "off", false, "also the time off the CPU: where threads waited, and for what (not with --all)")
	flags.BoolVar(&f.locks, "go-locks", false, "with --off, of a Go program: for which mutexes goroutines wait, and who holds them; puts breakpoints where it waits for a mutex and lets one go (1 to 20 µs each time, by the machine)")
	flags.BoolVar(&f.stops, "go-runtime", false, "with --off, of a Go program: when its runtime stopped the world, and why; puts a breakpoint there")
	flags.BoolVar(&f.jit, "jit-maps", false, "have the JVM write the names of its compiled methods (jcmd Compiler.perfmap): this stops it for a moment, a few ms to about 100 ms by how much code it has")
	flags.BoolVar(&f.dwarf, "dwarf", false, "walk the programs' stacks by their call frame information: for programs built without frame pointers; copies up to 64 KiB of stack a sample, kept nowhere (x86-64, kernel 5.15 and later)")
	flags.BoolVar(&f.inl, "inlined", false, "show inlined functions as frames, \"f (inlined)\", of programs with debugging information (C, C++, Rust, Go): needs memory for all of it, about 100 MB for a large program")
	flags.StringVarP(&f.out, "out", "o", "", "keep the recording in this folder; with --read: write the profiles there")
	flags.StringVar(&f.read, "read", "", "record nothing: show the profile of this recording, or of a file that snag read takes")
	flags.StringVar(&f.event, "event", "", "with --read of what perf recorded: only this event, as page-faults (default: all)")
	flags.StringVar(&f.html, "html", "", "also write one HTML page with the flame graph to this file")
	flags.IntVar(&f.lines, "top", 20, "how many functions to print; with --json of each process")
	flags.BoolVar(&f.json, "json", false, "the functions that took most of each process as JSON on standard output (docs/json.md)")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "no progress, only the profile")
	registerShared(cmd)
	cmd.AddCommand(profileDiffCommand())
	return cmd
}

func (f *profileFlags) check(cmd *cobra.Command) error {
	changed := cmd.Flags().Changed
	if err := checkTarget(cmd, f.target); err != nil {
		return err
	}
	switch n := given(cmd, targets, "all"); {
	case f.read != "" && (f.all || f.jit || f.dwarf || f.inl || changed("for") || given(cmd, targets[1:]) > 0):
		return cli.Usage("--read shows a recording that is there: --all, --unit, --port, --container, --pod, --netns, --for, --dwarf, --inlined and --jit-maps are for a new one")
	case f.read == "" && n != 1:
		return cli.Usage("name a target: one of --pid, --unit, --port, --container, --pod, --netns, --all, or --read of a recording (snag profile --help)")
	case f.window < time.Second || f.window > time.Hour:
		return cli.Usage("--for %s: from 1s to 1h", f.window)
	case f.off && f.all:
		return cli.Usage("--off needs --pid, --unit, --port or --netns: the waits of all threads of a machine are more than a profile can pay for")
	case f.jit && !changed("pid"):
		return cli.Usage("--jit-maps needs --pid: it stops a JVM for a moment, so it must know which")
	case (f.locks || f.stops) && !f.off:
		return cli.Usage("--go-locks and --go-runtime need --off: they show what goroutines wait for")
	case f.lines < 1 || f.lines > 1000:
		return cli.Usage("--top %d: from 1 to 1000", f.lines)
	case f.json && f.html == "-":
		return cli.Usage("--json and --html -: both go to standard output; give the page a file")
	}
	return folderOf("html", f.html)
}

func runProfile(cmd *cobra.Command, f profileFlags) error {
	if err := f.check(cmd); err != nil {
		return err
	}
	if f.read != "" {
		to, err := newPageWriter(f.html)
		if err != nil {
			return err
		}
		defer to.close()
		bound(f.read)
		s, err := ready(f.read)
		if err != nil {
			return err
		}
		defer s.close()
		f.from, f.to = s, to
		return f.show(cmd.Context(), f.read, f.out)
	}
	dir := f.out
	if dir == "" {
		var err error
		if dir, err = private.New(time.Now()); err != nil {
			return err
		}
	}
	if !f.all {
		var err error
		if f.target, err = resolved(f.target); err != nil {
			return err
		}
	}
	recorded := f.record(cmd, dir)
	var nothing *probes.NotBegunError
	if errors.As(recorded, &nothing) {
		return recorded
	}
	if recorded != nil { // the disk is full, say: what was sampled until then is shown
		fmt.Fprintf(shown.To(os.Stderr), "snag: %v\n", recorded)
	}
	if err := f.show(cmd.Context(), dir, dir); err != nil || recorded == nil {
		return err
	}
	return &cli.Exit{Code: cli.ExitFailed}
}

// record samples into dir.
func (f *profileFlags) record(cmd *cobra.Command, dir string) error {
	ctx, done := untilAsked(cmd.Context(), func() string {
		return fmt.Sprintf("ended by a second signal: what was recorded is in %s (snag profile --read %s)", dir, dir)
	})
	defer done()
	stayLean(cmd.Context())
	ctx, over := context.WithCancel(ctx)
	defer over()
	progress := newProgress(os.Stderr, f.quiet)
	progress.ends = "prints"
	tick := progress.tick
	if f.jit {
		if err := f.writeJITMap(ctx, progress); err != nil {
			return &probes.NotBegunError{Err: fmt.Errorf("--jit-maps: %w", err)}
		}
		tick = f.jitAtTheEnd(ctx, progress)
	}
	plan := probes.Plan{
		Dir: dir, For: f.window, Target: f.target, Snag: cli.Version, Whole: true, Unwind: f.dwarf, Inlined: f.inl,
		// The host's tables have the processes' names, and their libraries' build ids.
		Probes: []string{"oncpu", "host"}, Notice: progress.notice, Between: giveBack,
		Tick: func(left time.Duration) {
			tick(left)
			if !f.all && allEnded(f.target.PIDs) {
				over()
			}
		},
	}
	if f.off {
		plan.Probes, plan.CloserTarget = append(plan.Probes, "offcpu"), true
	}
	if f.locks || f.stops {
		plan.Probes = append(plan.Probes, "runtimes")
		plan.GoLocks, plan.GoRuntime = f.locks, f.stops
	}
	err := probes.Record(ctx, plan)
	progress.done()
	return err
}

// writeJITMap has the JVM write the names of its compiled methods.
func (f *profileFlags) writeJITMap(ctx context.Context, progress *progress) error {
	took, err := jvm.WritePerfMap(ctx, "/proc", f.target.PID)
	if err == nil {
		progress.say(fmt.Sprintf("process %d wrote the names of its compiled methods; jcmd took %.0f ms", f.target.PID, 1000*took.Seconds()))
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

// into is the folder for the profiles; "" where --read gave up what it takes to write to
// another user's.
func (f *profileFlags) into(dir string) string {
	if f.from != nil && unix.Access(dir, unix.W_OK) != nil {
		fmt.Fprintf(shown.To(os.Stderr), "snag: the profiles are not written to %s, which is another user's or can't be written to: --out names another folder\n", dir)
		return ""
	}
	return dir
}

// show prints the profiles of a recording, and writes them below to, where that is
// a folder.
func (f *profileFlags) show(ctx context.Context, dir, to string) error {
	open := f.from.load
	if f.read == "" {
		open = func(_ context.Context, dir string, _ *time.Location) (*recording.Recording, error) {
			return recording.OpenOwn(dir)
		}
	}
	r, err := open(ctx, dir, time.Local)
	if err != nil {
		return err
	}
	if to == "" {
		if st, err := os.Stat(dir); err == nil && st.IsDir() {
			to = f.into(dir)
		}
	}
	if f.json {
		return f.showJSON(r, dir, to)
	}
	if len(r.Parts) == 0 {
		printed, err := f.print(r)
		if err != nil {
			return err
		}
		return errors.Join(f.writeFiles(printed, dir, to), f.writeHTML(r)) // after the text: a full disk must not cost the answer
	}
	// A process' number is another's on another host: each is shown by itself.
	any := false
	for i, name := range r.PartNames() {
		part := r.Parts[i]
		if len(part.OnCPU) == 0 {
			continue
		}
		fmt.Fprintf(shown.To(f.beside()), "%s:\n", name)
		any = true
		printed, err := f.print(part)
		if err != nil {
			return err
		}
		in := to
		if in != "" {
			in = filepath.Join(to, fmt.Sprintf("host-%d", i+1))
		}
		if err := f.writeFiles(printed, dir, in); err != nil {
			return err
		}
		fmt.Fprintln(f.beside())
	}
	if !any {
		return fmt.Errorf("profile of %s: no host of it was sampled", dir)
	}
	return f.writeHTML(r)
}

// print prints the profiles of one host.
func (f *profileFlags) print(r *recording.Recording) (printed []*profile.Profile, err error) {
	taken, err := f.taken(r)
	if err != nil {
		return nil, err
	}
	off := false
	for i, p := range taken {
		off = off || p.Kind == profile.OffCPU
		if i > 0 {
			fmt.Fprintln(f.beside())
		}
		if err := p.WriteText(f.beside(), profile.TextOptions{Most: f.lines, Width: columns()}); err != nil {
			return nil, fmt.Errorf("print the profile: %w", err)
		}
	}
	if off {
		if err := profile.WriteLocks(f.beside(), r, f.pidShown(), profile.TextOptions{Width: columns()}); err != nil {
			return nil, err
		}
	}
	return taken, nil
}

// taken are the profiles of one host that are asked for.
func (f *profileFlags) taken(r *recording.Recording) (out []*profile.Profile, err error) {
	if all := profile.Events(r); f.event != "" && !slices.Contains(all, f.event) {
		return nil, cli.Usage("--event %s: it was not sampled; there are: %s", f.event, strings.Join(all, " "))
	}
	var kinds []profile.Options
	for _, event := range f.events(r) {
		kinds = append(kinds, profile.Options{Kind: profile.OnCPU, Event: event})
	}
	if f.off || f.read != "" && len(r.OffCPU) > 0 {
		kinds = append(kinds, profile.Options{Kind: profile.OffCPU})
	}
	for _, o := range kinds {
		o.PID = f.pidShown()
		p, err := profile.From(r, o)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// events are what was sampled, or the one that was asked for; "" is time.
func (f *profileFlags) events(r *recording.Recording) []string {
	if f.event != "" {
		return []string{f.event}
	}
	if all := profile.Events(r); len(all) > 0 {
		return all
	}
	return []string{""}
}

// writeFiles writes the profiles of the recording dir below a folder; "" for nowhere.
func (f *profileFlags) writeFiles(printed []*profile.Profile, dir, to string) error {
	if to == "" {
		return nil
	}
	var written []string
	in := filepath.Join(to, "profiles")
	for _, p := range printed {
		if len(p.Samples) == 0 {
			continue
		}
		files, err := p.WriteFiles(in)
		if err != nil {
			return err
		}
		for _, name := range files {
			written = append(written, filepath.Base(name))
		}
	}
	if len(written) > 0 {
		fmt.Fprintf(shown.To(f.beside()), "\nin %s: %s\n", in, strings.Join(written, " "))
		if f.html == "" {
			fmt.Fprintf(shown.To(f.beside()), "snag report %s makes the page with the flame graph\n", dir)
		}
	}
	return nil
}

func (f *profileFlags) writeHTML(r *recording.Recording) error {
	if f.html == "" {
		return nil
	}
	to := f.to
	if to == nil {
		to = &pageWriter{file: f.html}
	}
	if err := to.write(verdict.Judge(r)); err != nil {
		return err
	}
	if f.html != "-" {
		fmt.Fprintln(shown.To(f.beside()), f.html)
	}
	return nil
}

// pidShown is the process to show. A new recording holds what was asked for alone,
// children included.
func (f *profileFlags) pidShown() int {
	if f.read == "" {
		return 0
	}
	return f.target.PID
}
