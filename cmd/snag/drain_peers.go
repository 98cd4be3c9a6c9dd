package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"snag/fleet/discovery"
	"snag/fleet/drain"
	"snag/fleet/drain/journal"
	"snag/fleet/drain/plan"
)

// peers are those that a discovery lists. A drain that goes on keeps those with which it began: who has joined since
// is not in a batch, and who has left may be out of service.
func (f *drainFlags) peers(ctx context.Context, spec string) ([]plan.Peer, error) {
	if f.how.Resume && !f.dry {
		switch peers, err := peersOf(f.journal); {
		case err != nil || len(peers) > 0:
			return peers, err
		}
	}
	list, err := discovery.Targets(ctx, spec)
	switch {
	case err != nil:
		return nil, fmt.Errorf("peers_from: %w", err)
	case len(list.Problems) > 0: // a drain of a part would leave the rest with the old version
		return nil, fmt.Errorf("peers_from: not all peers are known: %w", list.Problems[0])
	case len(list.Targets) == 0:
		return nil, errors.New("peers_from: the list is empty: look at what it names")
	}
	return plan.Discovered(list.Targets), nil
}

// peersOf are the peers that a journal has of the drain that it is about; none without a journal.
func peersOf(path string) ([]plan.Peer, error) {
	records, err := journal.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return drain.ProgressOf(records).Peers, err
}
