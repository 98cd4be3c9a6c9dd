package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"snag/internal/cli"
	"snag/internal/private"
	"snag/internal/shown"
	"snag/recording"
	"snag/report"
	"snag/verdict"
)

// showFlags are the flags of every command that shows a verdict.
type showFlags struct {
	json    bool
	verbose bool
	html    string
	// symptoms are more words of the user on a recording that is judged again; nil where they are in it.
	symptoms []string
	// slo is how long an answer may take; 0: not said.
	slo time.Duration
	// baseline is a recording to compare with; "" for none.
	baseline string
	// spent is what this process has taken of the CPU, s, where it made the recording; nil: it
	// did not.
	spent func() float64
	// ready is called before the first byte of the verdict is written; nil: nobody.
	ready func()
	// from and to are a stranger's recordings and the file of the page, opened before
	// the privileges were given up; nil: what find and read made themselves.
	from *strangers
	to   *pageWriter
	// own: this run has just made the recording itself of this host, however large it is.
	own bool
	// transient: the recording is removed afterwards: no command is named that reads it again.
	transient bool
	// elsewhere is of a recording of other hosts; nil: it is of this one, or given by its name.
	elsewhere *elsewhere
	// otlp is where the verdict is sent; nil: this command sends none.
	otlp *otlpFlags
}

func (f *showFlags) register(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.json, "json", false, "the verdict as JSON on standard output (docs/json.md)")
	cmd.Flags().StringVar(&f.html, "html", "", "also write the verdict as one HTML page to this file; - is standard output, and the text goes to standard error (docs/page.md)")
	cmd.Flags().StringVar(&f.baseline, "baseline", "", "compare with this recording of a good time or a good host, or with a file that snag read takes")
	cmd.Flags().DurationVar(&f.slo, "slo", 0, "how long an answer may take, as 50ms: who takes longer for one request in a hundred is looked into; of the target, or of every service")
	registerShared(cmd)
	cmd.Flags().BoolVarP(&f.verbose, "verbose", "v", false, "everything: all evidence, and what was cleared")
}

// registerShared is for commands that write what tells of a whole host.
func registerShared(cmd *cobra.Command) {
	cmd.Flags().BoolFunc("shared", "let every user of this host read what is written; only you can without it", func(string) error {
		private.Share()
		return nil
	})
}

func judgeCommand() *cobra.Command {
	f := showFlags{otlp: &otlpFlags{}}
	cmd := &cobra.Command{
		Use:   "judge DIR",
		Short: "Judge a recording again, with this version's rules",
		Long: `Judge a recording again: one made by another version, or on another machine.
DIR is the folder that snag find kept, or a packed recording. Exit codes as of find.`,
		Example: `  snag judge /tmp/snag-20261121-045359-2871936418`,
		Args:    cli.UsageArgs(cobra.ExactArgs(1), "the folder that snag find kept, or a packed recording"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return judgeStranger(cmd.Context(), args[0], f)
		},
	}
	f.register(cmd)
	f.otlp.register(cmd, "the verdict as a log record")
	cmd.Flags().StringArrayVar(&f.symptoms, "symptom", nil, "what was seen, in your words, with a time of day; may be given more than once")
	return cmd
}

// judgeStranger judges a recording that somebody else may have made: within bounds, and without privileges.
func judgeStranger(ctx context.Context, path string, f showFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	to, err := newPageWriter(f.html)
	if err != nil {
		return err
	}
	defer to.close()
	bound(path)
	earlier, err := recording.EarlierFiles(path)
	if err != nil {
		return err
	}
	s, err := ready(append(earlier, path, f.baseline)...)
	if err != nil {
		return err
	}
	defer s.close()
	f.from, f.to = s, to
	return judgeAndShow(ctx, path, f)
}

func (f *showFlags) check() error {
	if f.slo < 0 {
		return cli.Usage("--slo %s: how long an answer may take is more than 0", f.slo)
	}
	if err := checkSymptoms(f.symptoms); err != nil {
		return err
	}
	if f.json && f.html == "-" {
		return cli.Usage("--json and --html -: both go to standard output; give the page a file")
	}
	return f.otlp.check()
}

func judgeAndShow(ctx context.Context, dir string, f showFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	if f.to == nil {
		f.to = &pageWriter{file: f.html}
	}
	r, err := f.from.openAs(f.own, dir)
	if err != nil {
		return err
	}
	if f.baseline != "" {
		if r.Baseline, err = f.from.load(ctx, f.baseline, time.Local); err != nil {
			return fmt.Errorf("--baseline: %w", err)
		}
	}
	if err := f.openEarlier(r, dir); err != nil {
		return err
	}
	if f.slo > 0 {
		r.Manifest.Target.Objective = f.slo.Seconds()
	}
	r.Manifest.Symptoms = append(r.Manifest.Symptoms, f.symptoms...)
	v := verdict.Judge(r)
	switch {
	case f.transient:
		r.Dir = ""
	case f.elsewhere != nil:
		r.Dir = f.elsewhere.kept
	}
	if f.ready != nil {
		f.ready()
	}
	if f.json {
		err = report.WriteJSON(os.Stdout, v)
	} else {
		err = f.writeText(v, dir)
	}
	if err != nil {
		return err
	}
	if f.html != "" { // after the text: an unwritable file must not cost the answer
		if err := f.to.write(v); err != nil {
			return err
		}
	}
	if err := f.otlp.sendVerdict(ctx, v); err != nil {
		return fmt.Errorf("--otlp: %w", err)
	}
	return exitOf(v)
}

// exitOf is the exit code of a verdict.
func exitOf(v *verdict.Verdict) error {
	switch v.Standing() {
	case verdict.Found:
		return &cli.Exit{Code: cli.ExitCulprit}
	case verdict.Well:
		return nil
	default:
		return &cli.Exit{Code: cli.ExitCantTell}
	}
}

// writeText shows the verdict on the recording in dir to a person.
func (f *showFlags) writeText(v *verdict.Verdict, dir string) error {
	out := textBeside(f.html)
	o := report.Options{Color: isTerminal(out) && os.Getenv("NO_COLOR") == "", Verbose: f.verbose, Width: columns(), Height: rows()}
	if f.elsewhere != nil {
		o.Height = f.elsewhere.rows
	}
	if report.HasPlan(v) && o.Height > 0 && !f.transient {
		o.Height-- // the line about it
	}
	if f.spent != nil {
		o.CPU = f.spent()
	}
	if err := report.WriteText(out, v, o); err != nil {
		return err
	}
	if err := report.WriteFound(out, v.Recording); err != nil {
		return err
	}
	if f.transient || f.elsewhere != nil {
		return nil // a plan is made on the host that it is for
	}
	return report.WritePlanHint(out, v, dir)
}

// openEarlier opens the recordings of earlier times that were kept beside one.
func (f *showFlags) openEarlier(r *recording.Recording, dir string) error {
	files, err := recording.EarlierFiles(dir)
	if err != nil {
		return err
	}
	for _, file := range files {
		one, err := f.from.openAs(f.own, file)
		if err != nil { // the recording itself can be judged without it
			fmt.Fprintf(shown.To(os.Stderr), "snag: %v\n", err)
			continue
		}
		r.Earlier = append(r.Earlier, one)
	}
	return nil
}
