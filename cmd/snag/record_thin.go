package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"snag/internal/cli"
	"snag/recorder"
)

// Old pieces are downsampled by a process of its own, some seconds in ten minutes: it takes as much memory
// as the recorder itself, which would keep the most of it for long.
const thinName = "thin-pieces"

// mostThin is how long it may take on a busy host.
const mostThin = 5 * time.Minute

// thinInChild runs it. The recorder waits for it when it ends.
func thinInChild(ring string, pieces []string, step time.Duration) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), mostThin)
	defer cancel()
	out, err := exec.CommandContext(ctx, self, append([]string{thinName, ring, step.String()}, pieces...)...).CombinedOutput()
	if err == nil {
		return nil
	}
	if text := strings.TrimPrefix(strings.TrimSpace(string(out)), "snag: "); text != "" {
		return errors.New(text)
	}
	return fmt.Errorf("downsample old pieces: %w", err)
}

// thinCommand is that process.
func thinCommand() *cobra.Command {
	cmd := &cobra.Command{Use: thinName + " RING STEP PIECE...", Hidden: true, Args: cobra.MinimumNArgs(3), RunE: func(cmd *cobra.Command, args []string) error {
		step, err := time.ParseDuration(args[1])
		if err != nil || step <= 0 {
			return cli.Usage("%s: %q is not a step, as 10s", thinName, args[1])
		}
		stayLean(cmd.Context()) // the unit's MemoryMax is of both processes
		// It ends soon, and halfway there would be both the old pieces and the new one. Signals are taken and
		// dropped, not ignored: what a process ignores, all that it starts ignores too.
		dropped := make(chan os.Signal, 1)
		signal.Notify(dropped, enders()...)
		defer signal.Stop(dropped)
		return recorder.Ring{Dir: args[0]}.Thin(args[2:], step)
	}}
	registerShared(cmd)
	return cmd
}
