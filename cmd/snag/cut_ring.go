package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"snag/internal/cli"
	"snag/recorder"
	"snag/recording"
)

// The ring of another host that is a folder here is cut by a process of its own, without privileges and with the bounds
// of judge.
const cutRingName = "cut-ring"

// cutInChild runs it.
func cutInChild(ctx context.Context, ring string, from, to time.Time, file string) error {
	at := func(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
	_, _, err := inChild(ctx, "", []string{cutRingName, ring, at(from), at(to), file})
	return err
}

// cutRingCommand is that process.
func cutRingCommand() *cobra.Command {
	return &cobra.Command{Use: cutRingName + " RING FROM TO FILE", Hidden: true, Args: cobra.ExactArgs(4), RunE: func(_ *cobra.Command, args []string) error {
		from, err := time.Parse(time.RFC3339Nano, args[1])
		to, err2 := time.Parse(time.RFC3339Nano, args[2])
		if err := errors.Join(err, err2); err != nil {
			return cli.Usage("%s: %v", cutRingName, err)
		}
		bound(args[0])
		if err := dropPrivileges(); err != nil {
			return err
		}
		r, err := recorder.Ring{Dir: args[0]}.Read(recording.Time(from.UnixNano()), recording.Time(to.UnixNano()))
		var none *recorder.NoneError
		switch {
		case errors.As(err, &none):
			return fmt.Errorf("%s holds no ring of snag record", args[0])
		case err != nil:
			return err
		}
		return r.PackTo(args[3])
	}}
}
