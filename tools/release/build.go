package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// build links the program of one architecture.
func (r *release) build(ctx context.Context, arch, to string) error {
	flags := fmt.Sprintf("-s -w -X snag/internal/cli.Version=%s -X snag/internal/cli.Commit=%s -X snag/internal/cli.Date=%s",
		r.Version, r.Commit, r.Date.Format(time.RFC3339))
	cmd := exec.CommandContext(ctx, "go", "build", "-ldflags", flags, "-o", to, "./cmd/snag")
	cmd.Dir = r.Root
	cmd.Env = environment(arch)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build snag for %s: %w\n%s", arch, err, out)
	}
	return nil
}

// environment is what go is run in, for an architecture: what changes the bytes of a program is set here, not by the
// caller.
func environment(arch string) []string {
	return append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false -trimpath", "GOOS=linux", "GOARCH="+arch,
		"GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=", "GOWORK=off")
}
