package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"snag/fleet/objects"
	"snag/internal/cli"
	"snag/internal/units"
	"snag/recorder"
	"snag/recording"
)

// incidentFlags are --incidents-to and what belongs to it.
type incidentFlags struct {
	to, rate string
	where    objectFlags
	sender   *objects.Sender // nil: nothing is sent
}

// objectFlags say how an object store is reached.
type objectFlags struct{ endpoint, region, credentials string }

func (f *incidentFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.to, "incidents-to", "", "also keep incidents and their recordings in this folder or object store, as file:///srv/incidents or s3://BUCKET/PREFIX; snag incidents --from reads them")
	flags.StringVar(&f.rate, "incidents-rate", "4MB", "how much of them is sent per second")
	f.where.register(cmd, false)
}

// register adds the flags to a command, and if below to those below it too.
func (f *objectFlags) register(cmd *cobra.Command, below bool) {
	flags := cmd.Flags()
	if below {
		flags = cmd.PersistentFlags()
	}
	flags.StringVar(&f.endpoint, "incidents-endpoint", "", "the URL of an S3 server other than Amazon's, as https://minio.example:9000")
	flags.StringVar(&f.region, "incidents-region", "", "the region of the bucket; without it that of AWS_REGION, or us-east-1")
	flags.StringVar(&f.credentials, "incidents-credentials", "", "a file with the credentials, as ~/.aws/credentials; without it those of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
}

func (f *objectFlags) given() bool { return f.endpoint != "" || f.region != "" || f.credentials != "" }

// open opens the store that a flag names.
func (f *objectFlags) open(flag, url string, rate int64) (objects.Store, error) {
	s, err := objects.Open(objects.Where{URL: url, Endpoint: f.endpoint, Region: f.region, Credentials: f.credentials, Env: os.Getenv, Rate: rate})
	if err != nil {
		return nil, cli.Usage("%s: %v", flag, err)
	}
	return s, nil
}

const leastRate = 16 << 10 // bytes per second

// check makes the sender. quiet: no incidents are kept.
func (f *incidentFlags) check(ring string, quiet bool, health *recorder.Health, note func(string)) error {
	if f.to == "" {
		if f.where.given() {
			return cli.Usage("--incidents-endpoint, --incidents-region, --incidents-credentials: with --incidents-to")
		}
		return nil
	}
	if quiet {
		return cli.Usage("--incidents-to: not with --no-incidents")
	}
	rate, err := units.ParseBytes(f.rate)
	if err != nil || rate < leastRate {
		return cli.Usage("--incidents-rate %s: a number and KB or MB, from 16KB on", f.rate)
	}
	store, err := f.where.open("--incidents-to", f.to, rate)
	if err != nil {
		return err
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	f.sender = objects.NewSender(objects.Plan{
		Store: store, Ring: recorder.Ring{Dir: ring}, Host: host, Snag: cli.Version, Note: note, Pack: packInChild,
		Current: func() int { return health.Now().Incident.ID },
	})
	return nil
}

// wake: an incident began or ended.
func (f *incidentFlags) wake() {
	if f.sender != nil {
		f.sender.Wake()
	}
}

// mostEnd is how long a recorder that ends waits for the store: a folder of a server that is gone may never answer.
const mostEnd = 3 * time.Second

// start sends until ctx ends; end waits for that.
func (f *incidentFlags) start(ctx context.Context) (end func()) {
	if f.sender == nil {
		return func() {}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.sender.Run(ctx)
	}()
	return func() {
		select {
		case <-done:
		case <-time.After(mostEnd):
		}
	}
}

// counted are the counters of the sender; nil without one.
func (f *incidentFlags) counted() []measured {
	if f.sender == nil {
		return nil
	}
	c := f.sender.Counts()
	return []measured{
		{name: "snag_incidents_sent_total", help: "Incidents that the store of --incidents-to took, each time that it did.", counter: true, value: float64(c.Sent)},
		{name: "snag_incidents_sent_bytes_total", help: "Bytes of these.", counter: true, value: float64(c.Bytes)},
		{name: "snag_incidents_failed_sends_total", help: "Tries to send an incident that failed; it is tried again.", counter: true, value: float64(c.Failed)},
		{name: "snag_incidents_refused_total", help: "Files of incidents that the store refused for good.", counter: true, value: float64(c.Refused)},
		{name: "snag_incidents_lost_total", help: "Incidents that were removed from the ring before the store had them.", counter: true, value: float64(c.Lost)},
		{name: "snag_incidents_waiting", help: "Incidents that wait to be sent.", value: float64(c.Waiting)},
	}
}

// A closer look is a folder. It is packed by a process of its own, as it is read whole for that.
const packName = "pack-recording"

func packInChild(ctx context.Context, folder, file string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	out, err := exec.CommandContext(ctx, self, packName, folder, file).CombinedOutput()
	if err == nil {
		return nil
	}
	if text := strings.TrimPrefix(strings.TrimSpace(string(out)), "snag: "); text != "" {
		return errors.New(text)
	}
	return fmt.Errorf("pack %s: %w", folder, err)
}

// packCommand is that process.
func packCommand() *cobra.Command {
	cmd := &cobra.Command{Use: packName + " FOLDER FILE", Hidden: true, Args: cobra.ExactArgs(2), RunE: func(cmd *cobra.Command, args []string) error {
		stayLean(cmd.Context()) // the unit's MemoryMax is of both processes
		r, err := recording.OpenOwn(args[0])
		if err != nil {
			return err
		}
		return r.PackTo(args[1])
	}}
	registerShared(cmd)
	return cmd
}
