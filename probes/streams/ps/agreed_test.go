package ps

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"snag/probes/streams/stream"
	"snag/probes/streams/wire"
)

// Over UDP nobody says that a device is gone: where SIP can bring it back, silence ends
// the stream. Before the first packet it is nobody who sent.
func TestSilence(t *testing.T) {
	for _, sends := range []bool{true, false} {
		socket, err := wire.ListenUDP("", netip.MustParseAddrPort("127.0.0.1:0"), wire.Monotonic)
		if err != nil {
			t.Fatal(err)
		}
		want := "nobody sent to UDP port"
		if sends {
			want = "ended: no packet for 300ms"
			device, err := net.Dial("udp", socket.LocalAddr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer device.Close()
			if _, err := device.Write(packetize(make([]byte, 100), 100)[0]); err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		begin := time.Now()
		err = Receive(ctx, Agreed{Socket: socket, Silence: 300 * time.Millisecond}, &taken{}, stream.Options{Timeout: 500 * time.Millisecond})
		cancel()
		var ended *stream.Ended
		if err == nil || !strings.Contains(err.Error(), want) || errors.As(err, &ended) != sends || time.Since(begin) > time.Second {
			t.Errorf("sends %v: %v after %s", sends, err, time.Since(begin))
		}
	}
}
