package actor

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

var findStopper = Actor{
	Name:  "find-stopper",
	About: "waits for the snag find of its own stage, stops it for a while in the middle, and lets it go on",
	Main: func(ctx context.Context, f *flag.FlagSet, parse func() error) error {
		after := f.Duration("after", 3*time.Second, "how long it runs first")
		stop := f.Duration("stop", 4*time.Second, "how long it is stopped")
		if err := parse(); err != nil {
			return err
		}
		stage := os.Getenv("SNAG_LAB_STAGE")
		if stage == "" {
			return errors.New("not started by a stage: SNAG_LAB_STAGE is not set")
		}
		ready()
		pid := 0
		for pid == 0 {
			if !sleep(ctx, 100*time.Millisecond) {
				return nil
			}
			pid = findOf(stage)
		}
		if !sleep(ctx, *after) {
			return nil
		}
		// Never leave it stopped behind.
		defer syscall.Kill(pid, syscall.SIGCONT)
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			return fmt.Errorf("stop snag find, process %d: %w", pid, err)
		}
		fmt.Printf("stopped %d\n", pid)
		sleep(ctx, *stop)
		return nil
	},
}

// findOf returns the process of a stage that runs snag find; 0 for none.
func findOf(stage string) int {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		argv, err := os.ReadFile(filepath.Join(dir, "cmdline"))
		if err != nil {
			continue
		}
		words := bytes.Split(argv, []byte{0})
		if len(words) < 2 || string(words[1]) != "find" {
			continue
		}
		env, err := os.ReadFile(filepath.Join(dir, "environ"))
		if err != nil || !bytes.Contains(env, []byte("SNAG_LAB_STAGE="+stage+"\x00")) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(dir)); err == nil {
			return pid
		}
	}
	return 0
}
