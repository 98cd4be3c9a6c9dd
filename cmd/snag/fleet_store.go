package main

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"snag/fleet/discovery"
	"snag/fleet/hosts"
	"snag/fleet/prom"
	"snag/internal/cli"
	"snag/internal/post"
)

// storeFlags are --fleet and what says which hosts are asked for: of snag find and of snag serve.
type storeFlags struct {
	store, hosts, from string
	headers            []string
}

// register adds the flags; does is what --fleet is for.
func (f *storeFlags) register(cmd *cobra.Command, does string) {
	flags := cmd.Flags()
	flags.StringVar(&f.store, "fleet", "", does)
	flags.StringVar(&f.hosts, "hosts", "", "with --fleet: whose troubles are looked for, by labels of their recorder or node_exporter, as 'role=\"edge\"' (default: all)")
	flags.StringVar(&f.from, "hosts-from", "", "with --fleet: which hosts there are to be, by discovery: file:PATTERN, dns:NAME, consul:URL?service=NAME, kubernetes:node or static:HOST,HOST (docs/discovery.md); one that has no recorder is named as not seen")
	flags.StringArrayVar(&f.headers, "fleet-header", nil, "with --fleet: a header for the store, as 'X-Scope-OrgID: a', or @FILE, which has one in each line and keeps secrets out of the process list; may be given more than once")
}

// alone reports that there is no --fleet which these flags could go with.
func (f *storeFlags) alone() error {
	if f.store == "" && (f.hosts != "" || f.from != "" || len(f.headers) > 0) {
		return cli.Usage("--hosts, --hosts-from, --fleet-header: with --fleet")
	}
	return nil
}

// fleetStore is a store, and which hosts are asked for.
type fleetStore struct {
	*prom.Client
	chosen string
	source discovery.Source // nil: only the store says which hosts there are
}

// open reads the flags. It asks nobody yet.
func (f *storeFlags) open() (*fleetStore, error) {
	headers, err := post.Headers(f.headers)
	if err != nil {
		return nil, cli.Usage("--fleet-header: %v", err)
	}
	s := &fleetStore{chosen: f.hosts}
	if s.Client, err = prom.New(f.store, headers); err != nil {
		return nil, cli.Usage("--fleet: %v", err)
	}
	if f.from == "" {
		return s, nil
	}
	if s.source, err = discovery.Parse(f.from, nil); err != nil {
		return nil, cli.Usage("--hosts-from: %v", err)
	}
	if strings.HasPrefix(f.from, "kubernetes:service") {
		return nil, cli.Usage("--hosts-from: a service of Kubernetes is no host: write kubernetes:node")
	}
	return s, nil
}

// errList is why discovery gives no list.
type errList struct{ error }

func (e errList) Error() string { return "--hosts-from: " + e.error.Error() }
func (e errList) Unwrap() error { return e.error }

// read asks discovery and the store. Without the list nobody is judged, as a list that could not be read would pass for
// one that is complete.
func (s *fleetStore) read(ctx context.Context, at time.Time) (*hosts.Fleet, error) {
	var list discovery.List
	var err error
	if s.source != nil {
		if list, err = s.source.List(ctx); err != nil {
			return nil, errList{err}
		}
	}
	all, err := hosts.Read(ctx, s, s.chosen, at)
	if err == nil && s.source != nil {
		err = all.Expect(ctx, s, s.source.Name(), list)
	}
	if err != nil {
		return nil, err
	}
	return all, nil
}
