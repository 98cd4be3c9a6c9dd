package pcap

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"snag/readers/reader"
	"snag/recording"
)

// fixture reads a capture of testdata, and unpacks it for others to read.
func fixture(t *testing.T, name string) (*recording.Recording, string) {
	t.Helper()
	packed, err := os.ReadFile(filepath.Join("testdata", name+".pcap.zst"))
	if err != nil {
		t.Fatal(err)
	}
	z, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	b, err := z.DecodeAll(packed, nil)
	if err != nil {
		t.Fatal(err)
	}
	plain := filepath.Join(t.TempDir(), name+".pcap")
	if err := os.WriteFile(plain, b, 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := reader.Open(plain)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out := &sink{}
	if _, err := Format.Read(context.Background(), in, reader.Options{}, out); err != nil {
		t.Fatal(err)
	}
	return &out.Recording, plain
}

// program finds a program that make setup installs.
func program(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		if os.Getuid() == 0 {
			t.Fatalf("%s is missing: make setup", name)
		}
		t.Skipf("%s is missing, which make setup installs", name)
	}
	return path
}

// tshark counts packets that match a filter, one count for each.
func tshark(t *testing.T, file string, filters ...string) map[string]int {
	t.Helper()
	out := map[string]int{}
	// One pass: the frames' analysis flags as fields.
	args := []string{"-r", file, "-o", "tcp.relative_sequence_numbers:FALSE", "-T", "fields", "-E", "separator=;", "-Y", "tcp"}
	for _, f := range filters {
		args = append(args, "-e", f)
	}
	text, err := exec.Command(program(t, "tshark"), args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		for i, v := range strings.Split(line, ";") {
			if v != "" && v != "0" && v != "False" {
				out[filters[i]]++
			}
		}
	}
	return out
}

// sums adds up the flows of a recording.
func sums(r *recording.Recording) (w recording.FlowWay, flows int) {
	for _, f := range r.Flows {
		if f.Proto != "tcp" {
			continue
		}
		flows++
		for _, o := range []recording.FlowWay{f.Up, f.Down} {
			w.Packets += o.Packets
			w.Bytes += o.Bytes
			w.Resent += o.Resent
			w.Needless += o.Needless
			w.Reordered += o.Reordered
			w.DupAcks += o.DupAcks
			w.ZeroWindows += o.ZeroWindows
			w.Copies += o.Copies
		}
	}
	return w, flows
}

// What is sent again and what is overtaken: tshark's counts together are ours. It tells
// the two apart by 3 ms and the handshake's round trip; here the sender's own order
// does, so that each alone may differ.
func TestSameAsTshark(t *testing.T) {
	const (
		again  = "tcp.analysis.retransmission"
		late   = "tcp.analysis.out_of_order"
		twice  = "tcp.analysis.spurious_retransmission"
		resets = "tcp.flags.reset"
	)
	for _, name := range []string{"packet-loss-sick", "packet-reordering-sick", "packet-reordering-distractor", "listen-overflow-sick", "peer-reset-sick", "nagle-delayed-ack-sick", "slow-consumer-sick", "bufferbloat-sick"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, file := fixture(t, name)
			want := tshark(t, file, again, late, twice, resets)
			w, _ := sums(r)
			var rst, syns uint64
			for _, row := range r.Resets {
				rst += row.N
			}
			for _, f := range r.Flows {
				syns += uint64(max(0, f.SYNs-1) + max(0, f.SYNACKs-1))
			}
			// tshark counts SYNs sent again among the retransmissions; zero window probes
			// of one byte as well.
			if ours, theirs := w.Resent+w.Reordered+syns, uint64(want[again]+want[late]); !near(ours, theirs, 0.02, 2) {
				t.Errorf("%d sent again, %d overtaken, %d SYNs again; tshark %d and %d", w.Resent, w.Reordered, syns, want[again], want[late])
			}
			// Spurious is there what had been acknowledged before; here what the receiver
			// reported, and what the order and the times show, is needless as well.
			if w.Needless < uint64(want[twice]) {
				t.Errorf("%d sent again needlessly, tshark has %d that were acknowledged before", w.Needless, want[twice])
			}
			// Those that came for a connection that was over are not told again.
			if rst > uint64(want[resets]) || want[resets] > 0 && rst == 0 {
				t.Errorf("%d resets, tshark %d", rst, want[resets])
			}
		})
	}
}

func near(a, b uint64, share float64, least uint64) bool {
	d := max(a, b) - min(a, b)
	return d <= least || float64(d) <= share*float64(max(a, b))
}

var (
	tcptracePackets    = regexp.MustCompile(`(\d+) TCP packets traced`)
	tcptraceConnection = regexp.MustCompile(`(?m)^ *\d+: .* - .* \(`)
)

// Packets and connections, as tcptrace counts them.
func TestSameAsTcptrace(t *testing.T) {
	for _, name := range []string{"packet-loss-sick", "peer-reset-sick", "listen-overflow-sick"} {
		r, file := fixture(t, name)
		// It reads the old link types only: Ethernet is put in front by editcap's own tool.
		eth := file + ".raw"
		if out, err := exec.Command(program(t, "tshark"), "-r", file, "-F", "pcap", "-w", eth, "-Y", "tcp").CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		raw(t, eth)
		text, err := exec.Command(program(t, "tcptrace"), "-n", eth).Output()
		if err != nil {
			t.Fatal(err)
		}
		var packets uint64
		if m := tcptracePackets.FindStringSubmatch(string(text)); m != nil {
			packets, _ = strconv.ParseUint(m[1], 10, 64)
		}
		connections := uint64(len(tcptraceConnection.FindAllString(string(text), -1)))
		w, flows := sums(r)
		if packets == 0 || connections == 0 {
			t.Fatalf("%s: tcptrace said %s", name, text)
		}
		if w.Packets != packets || uint64(flows) != connections {
			t.Errorf("%s: %d packets of %d connections, tcptrace %d of %d", name, w.Packets, flows, packets, connections)
		}
	}
}

// raw puts an Ethernet header in place of the cooked one, in a pcap file.
func raw(t *testing.T, name string) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	out := append([]byte{}, b[:24]...)
	out[20], out[21], out[22], out[23] = 1, 0, 0, 0
	for at := 24; at+16 <= len(b); {
		n := int(b[at+8]) | int(b[at+9])<<8 | int(b[at+10])<<16
		wire := int(b[at+12]) | int(b[at+13])<<8 | int(b[at+14])<<16
		d := b[at+16 : at+16+n]
		h := append([]byte{}, b[at:at+16]...)
		frame := append(append(make([]byte, 12), d[0], d[1]), d[20:]...)
		n, wire = n-6, wire-6
		h[8], h[9], h[10] = byte(n), byte(n>>8), byte(n>>16)
		h[12], h[13], h[14] = byte(wire), byte(wire>>8), byte(wire>>16)
		out = append(append(out, h...), frame...)
		at += 16 + len(d)
	}
	if err := os.WriteFile(name, out, 0o600); err != nil {
		t.Fatal(err)
	}
}

// The streams of a capture have the figures that snag watch --read gives them: nginx's
// publisher and reader, on a port of no name.
func TestStreams(t *testing.T) {
	in, err := reader.Open("../../probes/streams/passive/testdata/nginx.pcap")
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out := &sink{}
	told, err := Format.Read(context.Background(), in, reader.Options{}, out)
	if err != nil {
		t.Fatal(err)
	}
	sides := map[string]recording.Stream{}
	for _, row := range out.Streams {
		sides[row.Side] = row
	}
	for _, side := range []string{recording.StreamSidePublisher, recording.StreamSideConsumer} {
		if s := sides[side]; s.Video != "h264" || s.Width != 160 || s.Audio != "aac" || !strings.HasPrefix(s.Name, "live/cam1") || s.Protocol != "rtmp" {
			t.Errorf("%s: %+v", side, s)
		}
	}
	measured := map[string]bool{}
	for _, c := range told.Coverage {
		measured[c.Probe] = c.State == recording.CoverageOK
	}
	if !measured["streams.passive"] || !measured["streams.figures"] {
		t.Errorf("coverage %+v", told.Coverage)
	}
}
