package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"slices"
	"strings"
)

// output is what a command printed. One that printed something has answered, whatever its
// exit code: that of snag find reports what was found.
func output(ctx context.Context, dir string, argv []string) ([]byte, error) {
	if strings.HasPrefix(argv[0], "http://") {
		return get(ctx, argv[0])
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env, cmd.Dir = append(cmd.Environ(), "LC_ALL=C"), dir
	out, err := cmd.Output()
	if exit, failed := errors.AsType[*exec.ExitError](err); failed && ctx.Err() == nil {
		if len(out) > 0 {
			return out, nil
		}
		err = fmt.Errorf("%w: %s", err, tail(string(exit.Stderr), 300))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", strings.Join(argv[:min(4, len(argv))], " "), err)
	}
	return out, nil
}

func get(ctx context.Context, address string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode/100 != 2 && !slices.Contains(noData, res.StatusCode) {
		err = fmt.Errorf("%s: %s: %s", address, res.Status, tail(string(b), 200))
	}
	return b, err
}

// noData is how netdata answers for a chart that has nothing of that time.
var noData = []int{http.StatusBadRequest, http.StatusNotFound}
