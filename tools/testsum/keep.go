package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// flakesFolder is where failed runs are kept, each in a file of its own that nothing
// overwrites, and a line of each run in runs.txt. It is outside of the tree: the runs of
// a clone that is gone count too.
func flakesFolder() (string, error) {
	if dir := os.Getenv("SNAG_FLAKES"); dir != "" {
		return dir, nil
	}
	dir, err := os.UserCacheDir()
	return filepath.Join(dir, "snag", "flakes"), err
}

// passedAlone is the outcome of a flaky test.
const passedAlone = "passed alone"

// A keeper keeps the failures of one run.
type keeper struct {
	dir, date, commit string
}

// newKeeper is for the run that begins now, of the commit that is checked out now.
func newKeeper(dir string) *keeper {
	k := &keeper{dir: dir, date: os.Getenv("CHECK_BEGUN"), commit: "unknown"} // tools/check.sh counts its score to the same run
	if k.date == "" {
		k.date = time.Now().UTC().Format("20060102T150405Z")
	}
	if out, err := exec.Command("git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*").Output(); err == nil {
		k.commit = strings.TrimSpace(string(out))
	}
	return k
}

// failure keeps both runs of a failed test whole. That it can't is said, and the run goes on.
func (k *keeper) failure(t test, outcome, second string) {
	name := strings.ReplaceAll(t.pkg, "/", "-") + "-" + strings.ReplaceAll(t.what(), " ", "-") + "-" + k.date + "-" + k.commit
	load, _ := os.ReadFile("/proc/loadavg") // empty where it can't be read
	text := fmt.Sprintf("test: %s %s\noutcome: %s\nrun begun: %s\ncommit: %s\nload after the second run: %s\n\nThe run that failed:\n%s",
		t.pkg, t.what(), outcome, k.date, k.commit, strings.TrimSpace(string(load)), strings.Join(t.output, ""))
	if second != "" {
		text += "\nThe second run, alone:\n" + second
	}
	for i := 1; ; i++ {
		to := filepath.Join(k.dir, fmt.Sprintf("%s-%d.txt", name, i))
		err := k.create(to, text)
		if os.IsExist(err) {
			continue
		}
		if err != nil {
			fmt.Println("keep a failed run:", err)
		}
		return
	}
}

// what names it in a line.
func (t test) what() string {
	if t.name == "" {
		return "whole package, which crashed"
	}
	return t.name
}

func (k *keeper) create(path, text string) error {
	if err := os.MkdirAll(k.dir, 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if c := f.Close(); err == nil {
		err = c
	}
	return err
}

// run adds the run's own line, by which the table knows how many there were.
func (k *keeper) run(closing string) {
	err := os.MkdirAll(k.dir, 0o755)
	if err == nil {
		var f *os.File
		if f, err = os.OpenFile(filepath.Join(k.dir, runs), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644); err == nil {
			_, err = fmt.Fprintf(f, "%s %s %s\n", k.date, k.commit, closing)
			if c := f.Close(); err == nil {
				err = c
			}
		}
	}
	if err != nil {
		fmt.Println("keep that this run was:", err)
	}
}

const runs = "runs.txt"
