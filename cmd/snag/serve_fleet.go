package main

import (
	"github.com/spf13/cobra"

	"snag/fleet/fetch"
	"snag/internal/cli"
	"snag/serve/pages"
)

// servedFleetFlags are --fleet of snag serve and what belongs to it.
type servedFleetFlags struct {
	storeFlags

	links string
}

func (f *servedFleetFlags) register(cmd *cobra.Command) {
	f.storeFlags.register(cmd, "also serve a page of many hosts, at /fleet: those whose snag record --remote-write sends to this Prometheus, Thanos or Mimir, as http://127.0.0.1:9090")
	cmd.Flags().StringVar(&f.links, "links", "", "with --fleet: where snag serve is on those hosts, as 'https://{address}:9849' or 'https://{host}:9849'; hosts on the page are links then")
}

// page is what the page of many hosts is made of; nil: there is none. The store is first asked when somebody reads.
func (f *servedFleetFlags) page() (*pages.Fleet, error) {
	if err := f.alone(); err != nil {
		return nil, err
	}
	if f.store == "" {
		if f.links != "" {
			return nil, cli.Usage("--links: with --fleet")
		}
		return nil, nil
	}
	store, err := f.open()
	if err != nil {
		return nil, err
	}
	out := &pages.Fleet{Store: f.store, Read: store.read, Of: store, Chosen: store.chosen}
	if f.links != "" {
		if out.Links, err = fetch.ParseLinks(f.links); err != nil {
			return nil, cli.Usage("--links: %v", err)
		}
	}
	return out, nil
}
