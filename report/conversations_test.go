package report

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"snag/recording"
	"snag/verdict"
)

// What a capture holds stands in the answer, the connection on which somebody waited first.
func TestConversations(t *testing.T) {
	start := recording.Time(1_700_000_000e9)
	r := &recording.Recording{Manifest: recording.Manifest{Start: start, End: start + 20e9, Host: "files", Files: []recording.File{{Name: "x.pcap", Format: "pcap"}}}}
	took := 0.02
	for i, server := range []string{"192.0.2.1:443", "192.0.2.2:80", "[2001:db8:1234:5678:9abc:def0:1234:5678]:8443"} {
		f := recording.Flow{T: start + recording.Time(i)*1e9, End: start + 9e9, Netns: 1 << 33, Proto: "tcp", Client: "10.0.0.7:40112", Server: server, Closed: "fin", Handshake: &took, SYNs: 1, SYNACKs: 1,
			Asked: 4, WaitSum: 0.4, WaitMax: 0.25, Up: recording.FlowWay{Packets: 9, Bytes: 900, Segments: 9}, Down: recording.FlowWay{Packets: 9, Bytes: 9000, Segments: 9}}
		if i == 1 {
			f.Silent, f.SilentSum, f.Closed = 1, 7, "open"
			f.Silence = &recording.Silence{After: 1, Length: 7, Begins: "an HTTP request", Open: true}
			f.Down.Resent = 1
		}
		r.Add(f)
	}
	r.Add(recording.Flow{T: start, End: start + 1e9, Netns: 1 << 33, Proto: "udp", Client: "10.0.0.7:5353", Server: "10.0.0.53:53", Closed: "open", Up: recording.FlowWay{Packets: 1, Bytes: 40}, Down: recording.FlowWay{Packets: 1, Bytes: 90}})
	for _, width := range []int{80, 120} {
		var b bytes.Buffer
		if err := WriteText(&b, verdict.Judge(r), Options{Width: width}); err != nil {
			t.Fatal(err)
		}
		_, text, ok := strings.Cut(b.String(), "in the capture")
		if !ok {
			t.Fatalf("no word of the capture:\n%s", b.String())
		}
		sum, table, _ := strings.Cut(text, "connection  ")
		if sum = strings.Join(strings.Fields(sum), " "); !strings.Contains(sum, "3 TCP connections between 5 hosts, 56 packets") || !strings.Contains(sum, "1 flow of UDP") || !strings.Contains(sum, "on 1 somebody waited in vain") {
			t.Errorf("width %d: %s", width, sum)
		}
		lines := strings.Split(table, "\n")
		first := strings.Fields(lines[1])
		if first[2] != "192.0.2.2:80" || !strings.Contains(lines[1], ">7") || !strings.Contains(lines[1], "133 ms") || !strings.Contains(table, "…]:8443") {
			t.Errorf("width %d: %s", width, lines[1])
		}
		for _, line := range strings.Split(b.String(), "\n") {
			if n := utf8.RuneCountInString(line); n > width && !strings.HasPrefix(line, "recording") {
				t.Errorf("width %d: %d columns: %s", width, n, line)
			}
		}
	}
}
