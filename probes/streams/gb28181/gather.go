package gb28181

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"snag/probes/streams/stream"
	"snag/probes/streams/wire"
)

// part is one answer to a query, or one that could not be read.
type part struct {
	document document
	err      error
}

// Catalogue asks for the cameras that the platform or device at a knows. It registers
// where that was not done before. The list may not be whole: what came within the
// timeout, counted from the last part of it.
func Catalogue(ctx context.Context, a Address, o stream.Options) (List, error) {
	o = wire.Defaults(o)
	p, release, err := peers.acquire(ctx, a, o)
	if err != nil {
		return List{}, err
	}
	defer release(ctx)
	l, err := p.catalogue(ctx)
	if a.Register && denied(err) { // it may have begun anew since, and forgotten snag
		if err := p.register(ctx, expires); err != nil {
			return List{}, err
		}
		return p.catalogue(ctx)
	}
	return l, err
}

func (p *peer) catalogue(ctx context.Context) (List, error) {
	sn := strconv.FormatUint(p.number(), 10)
	parts := make(chan part, 4096)
	p.mu.Lock()
	p.parts[sn] = parts
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		delete(p.parts, sn)
		p.mu.Unlock()
	}()
	answer, err := p.tell(ctx, p.address.Device, catalogueQuery(p.address.Device, sn))
	switch {
	case err != nil:
		return List{}, err
	case answer.status >= 300:
		return List{}, p.refuses("the query for its catalogue (MESSAGE)", answer)
	}
	return gather(ctx, parts, p.gone, p.timeout)
}

// gather takes parts until all came that was announced, or none for a while.
func gather(ctx context.Context, parts <-chan part, gone <-chan struct{}, patience time.Duration) (List, error) {
	var l List
	var torn error
	over := time.NewTimer(patience)
	defer over.Stop()
	for begun := false; !begun || !l.Whole(); {
		select {
		case x := <-parts:
			over.Reset(patience)
			if x.err != nil {
				l.Torn, torn = l.Torn+1, x.err
				continue
			}
			if err := l.add(x.document); err != nil {
				return List{}, err
			}
			begun = true
		case <-over.C:
			return ended(l, begun, torn, patience)
		case <-gone:
			return List{}, errors.New("the SIP connection ended before its catalogue came")
		case <-ctx.Done():
			return ended(l, begun, torn, patience)
		}
	}
	return l, nil
}

// ended is what came of a catalogue of which not all did.
func ended(l List, begun bool, torn error, patience time.Duration) (List, error) {
	switch {
	case begun:
		return l, nil
	case torn != nil:
		return List{}, fmt.Errorf("it sent a catalogue, and %w", torn)
	}
	return List{}, fmt.Errorf("it took the query for its catalogue (200 OK), and sent none within %s (is the id that of the device or platform, and can it reach snag's SIP port?)", patience)
}
