package drops

import (
	"encoding/hex"
	"os"
	"reflect"
	"strings"
	"testing"

	"snag/internal/kernel"
	"snag/recording"
)

// fixture reads entries as kernel 6.18 gave them: a key and a value a line, hex.
func fixture(t testing.TB) (keys, values [][]byte) {
	t.Helper()
	b, err := os.ReadFile("testdata/entries-6.18.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		k, v, _ := strings.Cut(line, " ")
		key, err1 := hex.DecodeString(k)
		value, err2 := hex.DecodeString(v)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		keys, values = append(keys, key), append(values, value)
	}
	return keys, values
}

const someSymbols = `ffffffff81e641f0 T __dev_queue_xmit
ffffffff82046f00 t __udp4_lib_rcv
ffffffff82107900 t __udp6_lib_rcv
ffffffff83000000 T end
`

func TestDecode(t *testing.T) {
	symbols, err := kernel.ParseSymbols(strings.NewReader(someSymbols))
	if err != nil {
		t.Fatal(err)
	}
	nm := names{symbols: symbols, reasons: map[uint64]string{
		3: "SKB_DROP_REASON_NO_SOCKET", 64: "SKB_DROP_REASON_QDISC_DROP",
	}}
	anchor := recording.Anchor{Wall: 1_000_000_000_000, Monotonic: 2_017_000_000_000}
	keys, values := fixture(t)
	var got []recording.Drop
	for i := range keys {
		e, err := decode(keys[i], values[i])
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, nm.row(e, anchor, 1_000_000_000_000, 1_000_900_000_000))
	}
	const ns = 4026532318
	want := []recording.Drop{
		{T: 1_000_881_956_588, Reason: "QDISC_DROP", Place: "__dev_queue_xmit", Netns: ns, Proto: "udp", Src: "127.0.0.1:52090", Dst: "127.0.0.1:5010", Device: "lo", N: 90, Inode: 40618, Sent: true, Stack: 1210},
		{T: 1_000_879_213_933, Reason: "NO_SOCKET", Place: "__udp4_lib_rcv", Netns: ns, Proto: "udp", Src: "127.0.0.1:49691", Dst: "127.0.0.1:5004", Device: "lo", N: 2, Stack: 50},
		{T: 1_000_879_609_924, Reason: "NO_SOCKET", Place: "__udp6_lib_rcv", Netns: ns, Proto: "udp", Src: "[::1]:52409", Dst: "[::1]:5004", Device: "lo", N: 2, Stack: 309},
		{T: 1_000_881_889_227, Reason: "NO_SOCKET", Place: "__udp4_lib_rcv", Netns: ns, Proto: "udp", Src: "127.0.0.1:52090", Dst: "127.0.0.1:5010", Device: "lo", N: 4, Stack: 1752},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	// A first drop outside of the second it was counted in is moved to its edge.
	e, _ := decode(keys[0], values[0])
	if d := nm.row(e, anchor, 1_000_890_000_000, 1_000_900_000_000); d.T != 1_000_890_000_000 {
		t.Errorf("time %d, want the second's begin", d.T)
	}
}

func TestDecodeWrong(t *testing.T) {
	keys, values := fixture(t)
	if _, err := decode(keys[0][:31], values[0]); err == nil {
		t.Error("a short key gave no error")
	}
	if _, err := decode(keys[0], append(values[0], 0)); err == nil {
		t.Error("a long value gave no error")
	}
	bad := append([]byte(nil), keys[0]...)
	bad[29] = 5
	if _, err := decode(bad, values[0]); err == nil {
		t.Error("IP version 5 gave no error")
	}
}

func TestNames(t *testing.T) {
	nm := names{reasons: map[uint64]string{6: "SKB_DROP_REASON_SOCKET_RCVBUFF", 1: "SKB_CONSUMED"}}
	for r, want := range map[uint32]string{6: "SOCKET_RCVBUFF", 1: "SKB_CONSUMED", 0x10007: "SUBSYS_1_7", 900: "REASON_900"} {
		if got := nm.reason(r); got != want {
			t.Errorf("reason(%#x) = %q, want %q", r, got, want)
		}
	}
	if got := (names{}).reason(6); got != "" {
		t.Errorf("without reasons: %q, want none", got)
	}
	symbols, err := kernel.ParseSymbols(strings.NewReader("ffffffff81000000 T bpf_trace_run4\nffffffff81000100 T sk_skb_reason_drop\nffffffff81000200 T bpf_sk_lookup\n"))
	if err != nil {
		t.Fatal(err)
	}
	nm.symbols = symbols
	got := nm.frames([]uint64{0xffffffff81000010, 0xffffffff81000110, 0xffffffff81000210, 0, 0xffffffff81000110})
	if want := []string{"sk_skb_reason_drop", "bpf_sk_lookup"}; !reflect.DeepEqual(got, want) {
		t.Errorf("frames %q, want %q", got, want)
	}
}

func TestBenign(t *testing.T) {
	for _, c := range []struct {
		reason, place string
		want          bool
	}{
		{"IP_INNOROUTES", "ip6_pkt_discard", false}, // to anywhere but ff02::
		{"QUEUE_PURGE", "anywhere", true},
		{"TCP_OLD_DATA", "tcp_data_queue", true},
		{"NOT_SPECIFIED", "ip6_mc_input", true},
		{"NOT_SPECIFIED", "tcp_v4_rcv", true},
		{"NO_SOCKET", "tcp_v4_rcv", false},
		{"NOT_SPECIFIED", "nf_hook_slow", false},
		{"", "tcp_v4_rcv", false},
		{"", "ip6_mc_input", true}, // kernels without reasons
		{"", "__udp4_lib_rcv", false},
		{"SOCKET_RCVBUFF", "udp_queue_rcv_one_skb", false},
		{"NETFILTER_DROP", "ip6_mc_input", false},
	} {
		if got := Benign(recording.Drop{Reason: c.reason, Place: c.place}); got != c.want {
			t.Errorf("%s at %s: benign %v", c.reason, c.place, got)
		}
	}
	if !Benign(recording.Drop{Reason: "IP_INNOROUTES", Place: "ip6_pkt_discard", Dst: "ff02::16"}) {
		t.Error("a multicast report without a route is not benign")
	}
	for _, b := range benign {
		if b.why == "" {
			t.Errorf("%s is benign for no reason", b.reason)
		}
	}
}

func FuzzDecode(f *testing.F) {
	keys, values := fixture(f)
	for i := range keys {
		f.Add(keys[i], values[i])
	}
	f.Add([]byte{}, []byte{})
	f.Fuzz(func(t *testing.T, key, value []byte) {
		e, err := decode(key, value)
		if err != nil {
			return
		}
		d := names{}.row(e, recording.Anchor{}, 10, 20)
		if d.T < 10 || d.T > 20 || d.Stack < 0 || len(d.Device) > 16 || (d.Sent && d.Inode == 0) {
			t.Errorf("%+v", d)
		}
		if (d.Src == "") != (e.family == 0) {
			t.Errorf("family %d gave source %q", e.family, d.Src)
		}
	})
}
