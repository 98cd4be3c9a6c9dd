package ps

import (
	"context"
	"net"
	"time"

	"snag/probes/streams/stream"
	"snag/probes/streams/wire"
)

// Agreed is how a device's packets come, as SIP agreed on it: one of the three.
// Receive closes it.
type Agreed struct {
	Socket   *wire.UDP    // the device sends to it
	Listener net.Listener // the device connects to it
	Conn     net.Conn     // it leads to the device
	// Silence ends what comes over UDP, where nothing else reports that the device is
	// gone; 0: it does not.
	Silence time.Duration
}

// Receive reads what comes until ctx ends, which is nil, or the stream does: a
// *stream.Ended without a URL, or what failed.
func Receive(ctx context.Context, a Agreed, sink stream.Sink, o stream.Options) error {
	o = wire.Defaults(o)
	r := newReceiver(sink)
	r.handOn(o)
	err := a.receive(ctx, r, o)
	r.demux.End()
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func (a Agreed) receive(ctx context.Context, r *receiver, o stream.Options) error {
	switch {
	case a.Listener != nil:
		return fromListener(ctx, a.Listener, r, o)
	case a.Conn != nil:
		return fromConnection(ctx, a.Conn, r, o)
	}
	defer a.Socket.Close()
	return fromSocket(ctx, a.Socket, r, o, a.Silence)
}
