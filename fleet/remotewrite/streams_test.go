package remotewrite

import (
	"fmt"
	"testing"
	"time"

	"snag/recording"
)

// Of a host's connections those are streams on which bytes come one way and for some seconds, the greatest first.
func TestWhoSendsStreams(t *testing.T) {
	socket := func(n int, second, received, sent uint64) recording.Socket {
		return recording.Socket{T: at.Add(time.Duration(second) * time.Second), Netns: 7, Cookie: uint64(n), Proto: "tcp", Local: fmt.Sprintf("10.0.0.1:%d", 5000+n), Remote: "10.0.0.9:1935",
			Owners: []recording.FDRef{{PID: 3, Comm: "nginx"}}, TCP: &recording.TCPInfo{BytesReceived: received, BytesAcked: sent}}
	}
	table := newTable(DefaultSeries)
	for second := range uint64(20) {
		table.Append(socket(1, second, 100_000+second*50_000, 500))    // a stream
		table.Append(socket(2, second, 100_000+second*50_000, 90_000)) // requests and their answers
		table.Append(socket(3, second, 100_000+second*100, 500))       // a download that is over
		if second > 15 {
			table.Append(socket(4, second, 100_000+second*50_000, 500)) // has only begun
		}
		table.Append(recording.Socket{T: at, Cookie: 5, Proto: "udp", Owners: []recording.FDRef{{PID: 3}}, Remote: "10.0.0.9:1"})
	}
	got := table.streams.measured(at.Add(20 * time.Second))
	want := Measured{"snag_stream_received_bytes_total", recording.Labels{"process": "nginx", "from": "10.0.0.9:1935", "at": "10.0.0.1:5001", "netns": "7"}, 1_050_000}
	if len(got) != 1 || fmt.Sprint(got[0]) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
	for n := range 2 * mostLooked {
		for _, second := range []uint64{0, 20} {
			table.Append(socket(100+n, second, 100_000+second*50_000, 0))
		}
	}
	if got := table.streams.measured(at.Add(20 * time.Second)); len(got) != mostStreams || len(table.streams.all) > mostLooked {
		t.Errorf("%d streams of %d connections", len(got), len(table.streams.all))
	}
	if got := table.streams.measured(at.Add(time.Minute)); len(got) != 0 || len(table.streams.all) != 0 {
		t.Errorf("%d streams that have ended are kept", len(got))
	}
}
