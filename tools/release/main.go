// Command release makes what a release of snag consists of: static programs, packages for Debian and for rpm, images,
// lists of what is linked, and checksums. Two runs on one commit with one version of Go write the same bytes.
//
// It is a module of its own, so that nothing of what it needs is in snag's go.mod. nfpm is at 2.44: later ones need
// modules of go.digitalxero.dev, which the module proxy does not serve (403).
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
)

// release is what is released.
type release struct {
	Version string    // 1.2.0 or 1.2.0-rc1
	Commit  string    // in full
	Date    time.Time // of the commit: the time of every file
	Root    string    // snag's tree
	Out     string    // a folder, which is made new
}

// version is one that Debian, rpm and semantic versions sort the same way.
var version = regexp.MustCompile(`^\d+\.\d+\.\d+(-(rc|beta|alpha)\d+)?$`)

// arches are those that snag's BPF programs and tables of system calls know.
var arches = []string{"amd64", "arm64"}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	var r release
	flags := flag.NewFlagSet("release", flag.ExitOnError)
	flags.StringVar(&r.Version, "version", "", "the release, as 1.2.0 or 1.2.0-rc1")
	flags.StringVar(&r.Root, "root", ".", "snag's tree")
	flags.StringVar(&r.Out, "out", "dist", "the folder for what is made; what is in it is removed")
	only := flags.String("arch", strings.Join(arches, ","), "the architectures")
	_ = flags.Parse(args) // it exits
	if !version.MatchString(r.Version) {
		return fmt.Errorf("version %q: a release has a version such as 1.2.0 or 1.2.0-rc1: make release VERSION=1.2.0", r.Version)
	}
	wanted := strings.Split(*only, ",")
	for _, arch := range wanted {
		if !slices.Contains(arches, arch) {
			return fmt.Errorf("architecture %q: snag knows the system calls of %s", arch, strings.Join(arches, " and "))
		}
	}
	if err := r.ofGit(ctx); err != nil {
		return err
	}
	return r.make(ctx, wanted)
}

// ofGit reads the commit. What is not committed can't be built again, so it is no release.
func (r *release) ofGit(ctx context.Context) error {
	git := func(args ...string) (string, error) {
		out, err := exec.CommandContext(ctx, "git", append([]string{"-C", r.Root}, args...)...).Output()
		if err != nil {
			return "", fmt.Errorf("git %s: %w", args[0], err)
		}
		return strings.TrimSpace(string(out)), nil
	}
	changed, err := git("status", "--porcelain")
	if err != nil {
		return err
	}
	if changed != "" {
		return fmt.Errorf("the tree differs from its commit, so nobody could build this release again: commit or remove these first\n%s", changed)
	}
	if r.Commit, err = git("rev-parse", "HEAD"); err != nil {
		return err
	}
	date, err := git("log", "-1", "--format=%cI")
	if err != nil {
		return err
	}
	at, err := time.Parse(time.RFC3339, date)
	r.Date = at.UTC()
	return err
}

func (r *release) make(ctx context.Context, wanted []string) error {
	out, err := filepath.Abs(r.Out)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "snag-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if err := empty(out); err != nil {
		return err
	}
	host := filepath.Join(work, "snag")
	if err := r.build(ctx, runtime.GOARCH, host); err != nil {
		return err
	}
	for _, arch := range wanted {
		program := filepath.Join(out, fmt.Sprintf("snag-%s-linux-%s", r.Version, arch))
		if err := r.build(ctx, arch, program); err != nil {
			return err
		}
		modules, err := linked(ctx, r.Root, program, arch)
		if err != nil {
			return err
		}
		if err := os.WriteFile(program+".spdx.json", r.sbom(program, arch, modules), 0o644); err != nil {
			return err
		}
		files, err := r.contents(ctx, host, program, modules)
		if err != nil {
			return err
		}
		if err := r.packages(files, arch, out, filepath.Join(work, arch)); err != nil {
			return err
		}
		if err := r.image(files, arch, program+".oci.tar"); err != nil {
			return err
		}
	}
	return sums(out)
}

// empty makes the folder empty. It removes only what a release wrote: files of its names.
func empty(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	old, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, f := range old {
		if f.Name() != sumsFile && !strings.HasPrefix(f.Name(), "snag-") && !strings.HasPrefix(f.Name(), "snag_") {
			return fmt.Errorf("%s has %s, which is not of a release: name an empty folder", dir, f.Name())
		}
	}
	for _, f := range old {
		if err := os.Remove(filepath.Join(dir, f.Name())); err != nil {
			return err
		}
	}
	return nil
}
