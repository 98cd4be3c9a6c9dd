package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"snag/internal/cli"
	"snag/internal/private"
	"snag/load/elimination"
	"snag/load/trial"
	"snag/recording"
)

// packedName is how the name of a recording ends that is one file.
const packedName = ".snag"

// eliminateAndKeep runs the experiments of a plan, and keeps them as a recording where out names one.
func eliminateAndKeep(ctx context.Context, out string, plan trial.Plan, began func(elimination.Experiment)) (*elimination.Measures, error) {
	if out == "" {
		return trial.Run(ctx, plan, began)
	}
	if !strings.HasSuffix(out, packedName) {
		return eliminateInto(ctx, out, plan, began)
	}
	if _, err := os.Lstat(out); err == nil {
		return nil, cli.Usage("--out %s: it is there already: give another name", out)
	}
	dir, err := private.New(time.Now())
	if err != nil {
		return nil, err
	}
	m, err := eliminateInto(ctx, dir, plan, began)
	if err == nil {
		err = recording.PackFile(dir, out)
	}
	return m, errors.Join(err, os.RemoveAll(dir))
}

// eliminateInto writes the recording into a folder.
func eliminateInto(ctx context.Context, dir string, plan trial.Plan, began func(elimination.Experiment)) (*elimination.Measures, error) {
	k, err := keepIn(dir, "it is of experiments on "+plan.Target.Name+" alone: the host was not looked at (snag find --eliminate does both)")
	if err != nil {
		return nil, err
	}
	m, err := k.to.Eliminate(ctx, plan, began)
	if err := errors.Join(err, k.w.Close()); err != nil {
		return nil, fmt.Errorf("record the experiments: %w", err)
	}
	return m, nil
}
