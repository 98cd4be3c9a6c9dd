package host

import (
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "dump the netlink fixtures of a namespace made for it and write the wanted results")

// Fixtures of netlink are replies of a real kernel, each behind its length (32
// bits, little endian).
func replies(t testing.TB, name string) [][]byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var out [][]byte
	for len(data) >= 4 {
		n := int(binary.LittleEndian.Uint32(data))
		if n > len(data)-4 {
			t.Fatalf("%s is torn", name)
		}
		out = append(out, data[4:4+n])
		data = data[4+n:]
	}
	return out
}

// golden compares v as JSON with a file.
func golden(t *testing.T, name string, v any) {
	t.Helper()
	got, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("%s differs:\n%s", name, got)
	}
}

func TestDecodeQdiscsOfARealKernel(t *testing.T) {
	for _, name := range []string{"qdiscs", "classes"} {
		var all []tc
		for _, data := range replies(t, name+".bin") {
			q, err := decodeTC(data)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, q)
		}
		golden(t, name+".json", all)
	}
}

func TestDecodeLinksAndAddressesOfARealKernel(t *testing.T) {
	var links []link
	for _, data := range replies(t, "links.bin") {
		l, err := decodeLink(data)
		if err != nil {
			t.Fatal(err)
		}
		links = append(links, l)
	}
	golden(t, "links.json", links)
	var addrs []string
	for _, data := range replies(t, "addrs.bin") {
		a, err := decodeAddr(data)
		if err != nil {
			t.Fatal(err)
		}
		addrs = append(addrs, fmt.Sprint(a.Index, " ", a.Prefix))
	}
	golden(t, "addrs.json", addrs)
	if !slices.Contains(addrs, "3 10.9.0.1/32") || slices.Contains(addrs, "3 10.9.0.2/32") {
		t.Errorf("a point-to-point link's own address is wanted, not its peer's: %v", addrs)
	}
}

// attr is one netlink attribute.
func attr(kind uint16, data []byte) []byte {
	out := binary.NativeEndian.AppendUint16(nil, uint16(4+len(data)))
	out = binary.NativeEndian.AppendUint16(out, kind)
	out = append(out, data...)
	for len(out)%4 != 0 {
		out = append(out, 0)
	}
	return out
}

func u32(v ...uint32) []byte {
	var out []byte
	for _, x := range v {
		out = binary.NativeEndian.AppendUint32(out, x)
	}
	return out
}

// The kernel of the development machine has no fq, fq_codel and netem: these
// bytes are written after include/uapi/linux/pkt_sched.h.
func TestDecodeOptionsByTheHeader(t *testing.T) {
	netem := append(u32(0, 100, 1<<31, 0, 0, 0), attr(10, binary.NativeEndian.AppendUint64(nil, 80e6))...)
	for _, c := range []struct {
		kind string
		data []byte
		want string
	}{
		{"fq", append(attr(1, u32(10000)), append(attr(2, u32(100)), attr(7, u32(1<<32-1))...)...), "map[flow_limit:100p limit:10000p]"},
		{"fq", attr(7, u32(125000)), "map[maxrate:1000000bit]"},
		{"fq_codel", append(attr(1, u32(4999)), attr(2, u32(10240))...), "map[limit:10240p target:4.999ms]"},
		{"netem", netem, "map[delay:80ms limit:100p loss:0.5]"},
		{"netem", u32(0), "map[]"},
		{"pfifo", nil, "map[]"},
		{"unheard", u32(1), "map[]"},
	} {
		if got := fmt.Sprint(decodeOptions(c.kind, c.data)); got != c.want {
			t.Errorf("%s: %s, want %s", c.kind, got, c.want)
		}
	}
}

func TestFqFlowLimitIsRead(t *testing.T) {
	app := make([]byte, 88)
	binary.NativeEndian.PutUint64(app[32:], 690)
	stats := append(attr(tcaStatsQueue, u32(1, 2, 690, 4, 5)), attr(tcaStatsApp, app)...)
	s := decodeStats2("fq", stats)
	if s == nil || s.FlowLimit == nil || *s.FlowLimit != 690 || s.Drops != 690 || s.Requeues != 4 || s.Overlimits != 5 {
		t.Errorf("%+v", s)
	}
	if s := decodeStats2("pie", stats); s == nil || s.FlowLimit != nil {
		t.Errorf("another kind's statistics were taken for fq's: %+v", s)
	}
}

func TestCountersWithoutStatisticsAreNotZero(t *testing.T) {
	q, err := decodeTC(append(make([]byte, 20), attr(tcaKind, []byte("pie\x00"))...))
	if err != nil || q.Stats != nil {
		t.Errorf("%+v, %v: want no statistics", q.Stats, err)
	}
}

func TestHandleTextIsThatOfTc(t *testing.T) {
	for h, want := range map[uint32]string{0xffffffff: "root", 0x80010000: "8001:", 0x10010: "1:10", 2: ":2", 0: "0:", 0xfffffff1: "ffff:fff1"} {
		if got := handleText(h); got != want {
			t.Errorf("%#x: %s, want %s", h, got, want)
		}
	}
}

func FuzzDecodeTC(f *testing.F) {
	for _, data := range replies(f, "qdiscs.bin") {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		q, err := decodeTC(data)
		if err == nil && q.Kind == "" {
			t.Error("a queueing discipline without a kind")
		}
	})
}

func FuzzDecodeOptions(f *testing.F) {
	for _, kind := range []string{"tbf", "htb", "netem", "fq", "fq_codel", "pfifo"} {
		f.Add(kind, make([]byte, 40))
	}
	f.Fuzz(func(t *testing.T, kind string, data []byte) {
		for k, v := range decodeOptions(kind, data) {
			if k == "" || v == "" || strings.Contains(v, "-") && !strings.Contains(v, "e-") && !strings.HasPrefix(v, "-") {
				t.Errorf("%s: %q=%q", kind, k, v)
			}
		}
	})
}

func FuzzDecodeLink(f *testing.F) {
	for _, data := range replies(f, "links.bin") {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if l, err := decodeLink(data); err == nil && l.Kind != "veth" && l.Peer != 0 {
			t.Error("a peer of what is not a veth")
		}
	})
}

func FuzzDecodeAddr(f *testing.F) {
	for _, data := range replies(f, "addrs.bin") {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if a, err := decodeAddr(data); err == nil && !a.Prefix.IsValid() {
			t.Error("an invalid address")
		}
	})
}

// Of a long command line the addresses at its end are kept: where an encoder sends its stream.
func TestShortenedCommandLines(t *testing.T) {
	const to = "rtmp://origin/live/match"
	long := "ffmpeg -i " + strings.Repeat("a", 400) + " -f flv " + to
	for line, want := range map[string]string{
		"nginx: worker":     "nginx: worker",
		long:                long[:256] + " … " + to,
		long + " -t " + "5": long[:256] + " … " + to,
		long + " http://" + strings.Repeat("x", 300):     long[:256] + " … " + to,
		strings.Repeat("b", 250) + " " + to + " -t 5":    (strings.Repeat("b", 250) + " " + to)[:256],
		strings.Repeat("c", 255) + "é" + " -f flv " + to: strings.Repeat("c", 255) + "? … " + to,
	} {
		if got := shortened(line); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}
