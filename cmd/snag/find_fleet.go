package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"snag/fleet/fetch"
	"snag/fleet/hosts"
	"snag/internal/cli"
	"snag/internal/shown"
	"snag/recording"
)

// fleetFlags are --fleet of snag find and what belongs to it.
type fleetFlags struct {
	storeFlags

	recordings, recordingsToken, recordingsCA, recordingsCert, recordingsKey string
}

func (f *fleetFlags) register(cmd *cobra.Command) {
	f.storeFlags.register(cmd, "judge the hosts whose snag record --remote-write sends to this Prometheus, Thanos or Mimir, as http://127.0.0.1:9090; of hosts with node_exporter only it shows signs (docs/fleet.md)")
	flags := cmd.Flags()
	flags.StringVar(&f.recordings, "recordings", "", "with --fleet: also judge what the hosts that matter recorded, together: the URL of snag serve on each, as 'https://{address}:9849', or the folder of each ring, as '/srv/rings/{host}'")
	flags.StringVar(&f.recordingsToken, "recordings-token-file", "", "with --recordings: the file with the token of snag serve on those hosts")
	flags.StringVar(&f.recordingsCA, "recordings-ca", "", "with --recordings: the authority of those hosts' certificates (PEM; default: the system's)")
	flags.StringVar(&f.recordingsCert, "recordings-cert", "", "with --recordings: a certificate (PEM) that snag serve --client-ca on those hosts accepts, instead of the token")
	flags.StringVar(&f.recordingsKey, "recordings-key", "", "the key of --recordings-cert (PEM)")
}

// withFleet are the flags of find that --fleet goes with.
var withFleet = map[string]bool{"fleet": true, "hosts": true, "hosts-from": true, "fleet-header": true, "at": true, "json": true, "quiet": true, "verbose": true,
	"recordings": true, "recordings-token-file": true, "recordings-ca": true, "recordings-cert": true, "recordings-key": true, "out": true}

// mostFleet is how long the store may take.
const mostFleet = time.Minute

// findFleet says which host holds up which. It measures nothing here.
func findFleet(cmd *cobra.Command, f *findFlags) error {
	var wrong []string
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		if !withFleet[flag.Name] {
			wrong = append(wrong, "--"+flag.Name)
		}
	})
	if len(wrong) > 0 {
		return cli.Usage("%s: not with --fleet, which asks a store and measures nothing here", strings.Join(wrong, ", "))
	}
	store, err := f.fleet.open()
	if err != nil {
		return err
	}
	at, err := fleetTime(f.past.at, time.Now())
	if err != nil {
		return err
	}
	from, err := f.fleet.source()
	if err != nil {
		return err
	}
	if err := f.checkOut(from); err != nil {
		return err
	}
	all, err := readFleet(cmd.Context(), store, at, mostFleet)
	if err != nil {
		return err
	}
	return f.judgeFleet(cmd.Context(), store, all, from)
}

// readFleet asks the store within a time.
func readFleet(ctx context.Context, store *fleetStore, at time.Time, within time.Duration) (*hosts.Fleet, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	all, err := store.read(ctx, at)
	switch {
	case errors.As(err, new(errList)):
		return nil, fmt.Errorf("find %w", err)
	case errors.Is(err, context.DeadlineExceeded):
		return nil, fmt.Errorf("find --fleet: the store has not answered all queries within %s: name fewer hosts with --hosts, or look at the store: %w", within, err)
	case err != nil:
		return nil, fmt.Errorf("find --fleet: %w", err)
	}
	return all, nil
}

// judgeFleet shows what holds up which hosts, and chooses the exit code. from is where their recordings are; nil: none
// are asked for. The store's answer does not wait for them.
func (f *findFlags) judgeFleet(ctx context.Context, store hosts.Querier, all *hosts.Fleet, from *fetch.Source) error {
	causes := all.Causes()
	standing := all.Standing(causes)
	if !f.show.json {
		if err := all.WriteText(shown.To(os.Stdout), f.fleet.store, causes); err != nil {
			return err
		}
	}
	var more *together
	if from != nil {
		more = f.joined(ctx, store, from, all, causes)
	}
	var err error
	switch {
	case f.show.json:
		err = writeFleetJSON(all, causes, more)
	case more != nil:
		err = more.write(os.Stdout)
	}
	switch {
	case err != nil:
		return err
	case standing == hosts.Found || more != nil && more.code == cli.ExitCulprit:
		return &cli.Exit{Code: cli.ExitCulprit}
	case standing != hosts.Well:
		return &cli.Exit{Code: cli.ExitCantTell}
	}
	return nil
}

func writeFleetJSON(all *hosts.Fleet, causes []hosts.Cause, more *together) error {
	d := all.Document(causes)
	if more != nil {
		more.document(&d)
	}
	enc := json.NewEncoder(shown.JSON(os.Stdout))
	enc.SetIndent("", "  ")
	return enc.Encode(d)
}

// fleetTime is the time that --at names; now without it.
func fleetTime(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return now, nil
	}
	_, offset := now.Zone()
	t, err := recording.ParseSince(text, recording.Time(now.UnixNano()), offset)
	if err != nil {
		return now, cli.Usage("--at: %v", err)
	}
	return t.Wall(), nil
}
