package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"snag/internal/cli"
	"snag/internal/private"
	"snag/internal/shown"
	"snag/recording"
	"snag/report"
)

// baselines keeps recordings of good times by name.
type baselines struct{ dir string }

// defaultBaselines is the folder of baselines: of root, or of a user's own state (XDG Base Directory
// Specification).
func defaultBaselines() string {
	if os.Geteuid() == 0 {
		return "/var/lib/snag/baselines"
	}
	if state := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(state) {
		return filepath.Join(state, "snag", "baselines")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "" // --dir is asked for
	}
	return filepath.Join(home, ".local", "state", "snag", "baselines")
}

func baselineCommand() *cobra.Command {
	var b baselines
	cmd := &cobra.Command{
		Use:   "baseline",
		Short: "Keep a recording of a good time under a name, and check against it later",
		Long: `Record a good state under load before a release, and check against it afterwards,
by hand or in CI. A check records as long as the baseline is, compares (docs/compare.md)
and ends with 0 as good, 10 worse, 11 can't tell.`,
		Example: `  sudo snag baseline save before-release --for 60s
  sudo snag baseline check before-release`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.PersistentFlags().StringVar(&b.dir, "dir", defaultBaselines(), "the folder of the baselines")
	cmd.AddCommand(b.saveCommand(), b.listCommand(), b.checkCommand())
	return cmd
}

var baselineName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// file is where a baseline is kept.
func (b *baselines) file(name string) (string, error) {
	switch {
	case !baselineName.MatchString(name):
		return "", cli.Usage("baseline %q: a name of letters, digits, dots, dashes and underscores", name)
	case b.dir == "":
		return "", cli.Usage("--dir: name the folder of the baselines; there is no home directory")
	}
	return filepath.Join(b.dir, name+".snag"), nil
}

func (b *baselines) saveCommand() *cobra.Command {
	var window time.Duration
	var quiet, replace bool
	cmd := &cobra.Command{
		Use:     "save NAME",
		Short:   "Record this host now, as a good time",
		Example: `  sudo snag baseline save before-release --for 60s`,
		Args:    cli.UsageArgs(cobra.ExactArgs(1), "a name for the good time, as before-release"),
		RunE: func(cmd *cobra.Command, args []string) error {
			file, err := b.file(args[0])
			if err != nil {
				return err
			}
			if window < leastBaseline || window > time.Hour {
				return cli.Usage("--for %s: from %s to 1h", window, leastBaseline)
			}
			if _, err := os.Stat(file); err == nil && !replace {
				return cli.Usage("baseline %s exists already (%s): another name, or --replace", args[0], file)
			}
			if err := os.MkdirAll(b.dir, private.FolderMode()); err != nil {
				return fmt.Errorf("make the folder of the baselines: %w", err)
			}
			r, err := recordNow(cmd, window, quiet)
			if err != nil {
				return err
			}
			if err := r.PackTo(file); err != nil {
				return err
			}
			_, err = fmt.Fprintf(shown.To(os.Stdout), "baseline %s: %.0f s in %s\nsnag baseline check %s compares with it\n", args[0], r.Length().Seconds(), file, args[0])
			return err
		},
	}
	cmd.Flags().DurationVar(&window, "for", 60*time.Second, "how long to record, as 60s or 5m: longer shows smaller changes")
	cmd.Flags().BoolVarP(&quiet, "quiet", "q", false, "no progress")
	cmd.Flags().BoolVar(&replace, "replace", false, "replace a baseline of this name")
	return cmd
}

// A shorter recording has too few blocks to compare (package compare).
const leastBaseline = 10 * time.Second

// recordNow records the host into a folder that is removed again.
func recordNow(cmd *cobra.Command, window time.Duration, quiet bool) (*recording.Recording, error) {
	dir, err := private.New(time.Now())
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	ctx, over := untilAsked(cmd.Context(), keptIn(dir))
	defer over()
	f := findFlags{window: window, quiet: quiet}
	recorded, begun := f.record(ctx, dir, 0, nil, nil)
	if !begun {
		return nil, recorded
	}
	if recorded != nil {
		fmt.Fprintf(shown.To(os.Stderr), "snag: %v\n", recorded)
	}
	return recording.OpenOwn(dir)
}

func (b *baselines) listCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the baselines",
		Example: `  snag baseline list`,
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			all, broken := b.all()
			if broken != nil && all == nil {
				return broken
			}
			if asJSON {
				return errors.Join(broken, report.WriteValue(os.Stdout, all))
			}
			return errors.Join(broken, b.print(os.Stdout, all))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON (docs/json.md)")
	return cmd
}

// keptBaseline is one of the list (docs/json.md).
type keptBaseline struct {
	Name   string        `json:"name"`
	File   string        `json:"file"`
	Host   string        `json:"host"`
	Kernel string        `json:"kernel"`
	Window report.Window `json:"window"`
	start  time.Time
}

// all are the baselines that can be read; the error names the others. nil: not even their folder can be.
func (b *baselines) all() ([]keptBaseline, error) {
	out := []keptBaseline{}
	entries, err := os.ReadDir(b.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the baselines: %w", err)
	}
	var broken error
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".snag")
		if !ok {
			continue
		}
		file := filepath.Join(b.dir, e.Name())
		r, err := recording.Open(file)
		if err != nil {
			broken = errors.Join(broken, err)
			continue
		}
		m := r.Manifest
		out = append(out, keptBaseline{name, file, m.Host, m.Kernel, report.NewContents(r).Window, m.Start.Wall()})
	}
	return out, broken
}

func (b *baselines) print(out io.Writer, all []keptBaseline) error {
	if len(all) == 0 {
		_, err := fmt.Fprintf(shown.To(out), "no baselines in %s: snag baseline save NAME\n", b.dir)
		return err
	}
	w := tabwriter.NewWriter(shown.To(out), 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tRECORDED\tLENGTH\tHOST\tKERNEL")
	for _, one := range all {
		fmt.Fprintf(w, "%s\t%s\t%.0f s\t%s\t%s\n", one.Name, one.start.Local().Format("2006-01-02 15:04"), one.Window.Seconds, one.Host, one.Kernel)
	}
	return w.Flush()
}

func (b *baselines) checkCommand() *cobra.Command {
	var f compareFlags
	var window time.Duration
	var quiet bool
	cmd := &cobra.Command{
		Use:     "check NAME",
		Short:   "Record this host now and compare it with a baseline",
		Example: `  sudo snag baseline check before-release`,
		Args:    cli.UsageArgs(cobra.ExactArgs(1), "a name for the good time, as before-release"),
		RunE: func(cmd *cobra.Command, args []string) error {
			file, err := b.file(args[0])
			if err != nil {
				return err
			}
			if err := folderOf("html", f.html); err != nil {
				return err
			}
			if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("check against baseline %s: there is none; there are: %s", args[0], strings.Join(b.names(), ", "))
			}
			was, err := recording.Open(file)
			if err != nil {
				return err
			}
			to, err := newPageWriter(f.html)
			if err != nil {
				return err
			}
			defer to.close()
			if window == 0 {
				window = max(leastBaseline, was.Length().Round(time.Second))
			}
			now, err := recordNow(cmd, window, quiet)
			if err != nil {
				return err
			}
			return f.show(was, now, "baseline "+args[0], "now", to)
		},
	}
	cmd.Flags().DurationVar(&window, "for", 0, "how long to record (default: as long as the baseline)")
	cmd.Flags().BoolVarP(&quiet, "quiet", "q", false, "no progress, only the comparison")
	cmd.Flags().StringVar(&f.html, "html", "", "also write one HTML page of the time now, its flame graph beside the baseline's")
	cmd.Flags().BoolVar(&f.json, "json", false, "as JSON (docs/compare.md)")
	return cmd
}

// names are those of the baselines that there are.
func (b *baselines) names() (out []string) {
	files, _ := filepath.Glob(filepath.Join(b.dir, "*.snag")) // an error means a strange folder name: none
	for _, f := range files {
		out = append(out, strings.TrimSuffix(filepath.Base(f), ".snag"))
	}
	if len(out) == 0 {
		out = []string{"none (snag baseline save NAME)"}
	}
	slices.Sort(out)
	return out
}
