package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"snag/internal/cli"
	"snag/internal/netns"
	"snag/probes"
	"snag/probes/probe"
	"snag/probes/streams"
	"snag/probes/streams/watch"
)

// listedFlags say which servers are asked which streams they carry: these are read while
// the host is recorded.
type listedFlags struct {
	servers     []string
	credentials string
	most        int
}

// Bounds of how many streams are read meanwhile.
const (
	defaultListed = 100
	maxListed     = watch.DefaultMost
)

func (f *listedFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVar(&f.servers, "discover", nil, discoverUsage("read all live streams that a server lists, as --stream does one"))
	flags.StringVar(&f.credentials, "discover-credentials", "", credentialsUsage)
	flags.IntVar(&f.most, "max-streams", defaultListed, "of --discover, read at most so many streams")
}

func (f *listedFlags) check(cmd *cobra.Command, layers string) error {
	changed := cmd.Flags().Changed
	switch {
	case len(f.servers) == 0 && (changed("discover-credentials") || changed("max-streams")):
		return cli.Usage("--discover-credentials and --max-streams are of --discover KIND:URL, which is missing")
	case len(f.servers) == 0 && watch.LayersOfEach(layers):
		return cli.Usage("--layers with {…} is for each stream of --discover, which is missing: give it, or write URLs")
	case f.most < 1 || f.most > maxListed:
		return cli.Usage("--max-streams %d: from 1 to %d", f.most, maxListed)
	}
	return nil
}

// ask asks the servers for their streams, from inside the namespace that is looked at
// ("": snag's own), and returns the probe that reads them; nil where no server is named.
// What is left out is noted.
func (f *listedFlags) ask(ctx context.Context, layers, inside string, notes io.Writer) (*probe.Probe, error) {
	if len(f.servers) == 0 {
		return nil, nil
	}
	var ns *netns.Handle
	if inside != "" {
		var err error
		if ns, err = probes.OpenNetns(inside); err != nil {
			return nil, cli.Usage("--netns: %v", err)
		}
		defer ns.Close()
	}
	of, err := layersOfEach(layers)
	if err != nil {
		return nil, err
	}
	servers, err := discoveries(f.servers, f.credentials, of, ns)
	if err != nil {
		return nil, err
	}
	var all []watch.Entry
	for _, d := range servers {
		entries, problems, err := d.Ask(ctx)
		if err != nil {
			return nil, err
		}
		for _, p := range problems {
			fmt.Fprintf(notes, "snag: %v\n", p)
		}
		all = append(all, entries...)
	}
	read, left := watch.FirstStreams(all, f.most)
	if left > 0 {
		fmt.Fprintf(notes, "snag: --discover: %d streams are listed and the first %d are read, which is the limit: --max-streams %d reads all\n", f.most+left, f.most, f.most+left)
	}
	for _, e := range read {
		if _, err := streams.Open(e.URL); err != nil {
			return nil, cli.Usage("--discover: %s: %v", watch.ShownURL(e.URL), err)
		}
	}
	return streams.Listed(read, left), nil
}
