package ps

import (
	"bytes"
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

// Key pictures and audio of what SIP agreed on are handed on too.
func TestAgreedHandsOn(t *testing.T) {
	device, here := net.Pipe()
	go func() {
		defer device.Close()
		for _, p := range packetize(bytes.Join(camera(60), nil), 1400) {
			if _, err := device.Write(append([]byte{byte(len(p) >> 8), byte(len(p))}, p...)); err != nil {
				return
			}
		}
	}()
	keys, sounds := &wanting{n: 1}, &listening{n: 1}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_ = Receive(ctx, Agreed{Conn: here}, &taken{}, stream.Options{Keys: keys, Sounds: sounds}) // it ends with the device
	if len(keys.got) != 1 || len(sounds.got) != 1 {
		t.Errorf("%d key pictures, %d seconds of audio", len(keys.got), len(sounds.got))
	}
}
