package kernel

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

const kallsyms = `ffffffff81000000 T _stext
ffffffff81000000 T _text
ffffffff81000010 T __entry_text_start
ffffffff819a1b40 t tcp_v4_rcv.cold
ffffffff819a1b00 t __udp_queue_rcv_skb.constprop.0
ffffffff819a1c00 d tcp_prot
ffffffff8fffffff B some_data
ffffffffc0202010 t nft_do_chain	[nf_tables]
ffffffffc0200000 t bpf_prog_6deef7357e7b4530_kfree_skb	[bpf]
short line
zzzz T not_hex
`

func TestSymbols(t *testing.T) {
	s, err := ParseSymbols(strings.NewReader(kallsyms))
	if err != nil {
		t.Fatal(err)
	}
	for addr, want := range map[uint64]string{
		0xffffffff81000000: "_stext",
		0xffffffff81000005: "_stext",
		0xffffffff819a1b3f: "__udp_queue_rcv_skb",
		0xffffffff819a1b40: "tcp_v4_rcv",
		0xffffffffc0202015: "nft_do_chain",
		0xffffffffc0300000: "nft_do_chain",
		0xffffffff80000000: "0xffffffff80000000", // before the first
		0xffffffffd0000000: "0xffffffffd0000000", // far beyond the last
	} {
		if got := s.Name(addr); got != want {
			t.Errorf("Name(%#x) = %q, want %q", addr, got, want)
		}
	}
	if _, offset, _ := s.Lookup(0xffffffff819a1b08); offset != 8 {
		t.Errorf("offset = %d, want 8", offset)
	}
	var none *Symbols
	if got := none.Name(0xff); got != "0xff" {
		t.Errorf("without symbols: %q", got)
	}
}

func TestSymbolsHidden(t *testing.T) {
	_, err := ParseSymbols(strings.NewReader("0000000000000000 T _stext\n0000000000000000 t foo\n"))
	if !errors.Is(err, ErrHidden) {
		t.Errorf("all zero: %v, want ErrHidden", err)
	}
	var l *Lack
	if _, err := ParseSymbols(strings.NewReader("")); !errors.As(err, &l) || errors.Is(err, ErrHidden) {
		t.Errorf("empty: %v, want another Lack", err)
	}
}

func FuzzParseSymbols(f *testing.F) {
	f.Add([]byte(kallsyms), uint64(0xffffffff819a1b40))
	f.Add([]byte("0 T a\n1 t \n"), uint64(0))
	f.Fuzz(func(t *testing.T, b []byte, addr uint64) {
		s, err := ParseSymbols(strings.NewReader(string(b)))
		if err != nil {
			return
		}
		name, offset, ok := s.Lookup(addr)
		if ok && (offset > addr || strings.ContainsAny(name, "\x00\n")) {
			t.Errorf("Lookup(%#x) = %q +%d", addr, name, offset)
		}
	})
}

func TestCapabilities(t *testing.T) {
	c, err := parseCaps([]byte("Name:\tcat\nCapPrm:\t000001ffffffffff\nCapEff:\t0000008000000000\n"))
	if err != nil || !c.Has(39) || c.Has(38) {
		t.Errorf("caps = %x, %v", c, err)
	}
	if _, err := parseCaps([]byte("Name:\tcat\n")); err == nil {
		t.Error("a status without CapEff gave no error")
	}
}

// root makes a procfs and sysfs of the given capabilities, lockdown and BTF.
func root(t *testing.T, caps, lockdown string, types bool) (proc, sys string) {
	t.Helper()
	dir := t.TempDir()
	write := func(path, text string) {
		p := filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("proc/self/status", "CapEff:\t"+caps+"\n")
	if lockdown != "" {
		write("sys/kernel/security/lockdown", lockdown+"\n")
	}
	if types {
		write("sys"+BTFPath, "BTF")
	}
	return filepath.Join(dir, "proc"), filepath.Join(dir, "sys")
}

func TestCanLoad(t *testing.T) {
	for _, c := range []struct {
		name, caps, lockdown string
		types                bool
		want                 string // in Why; "" can load
	}{
		{"root", "000001ffffffffff", "", true, ""},
		{"bpf and perfmon", "000000c000000000", "[none] integrity confidentiality", true, ""},
		{"bpf alone", "0000008000000000", "", true, "CAP_PERFMON"},
		{"nobody", "0000000000000000", "", true, "CAP_BPF"},
		{"no BTF", "000001ffffffffff", "", false, "btf/vmlinux"},
		{"locked", "000001ffffffffff", "none integrity [confidentiality]", true, "confidentiality"},
		{"locked less", "000001ffffffffff", "none [integrity] confidentiality", true, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := CanLoad(root(t, c.caps, c.lockdown, c.types))
			if (l == nil) != (c.want == "") {
				t.Fatalf("CanLoad = %v, want %q", l, c.want)
			}
			if l != nil && (!strings.Contains(l.Why, c.want) || l.Cure == "") {
				t.Errorf("CanLoad = %+v, want %q and a cure", l, c.want)
			}
		})
	}
}

// TestRunningKernel asks the kernel that runs the test.
func TestRunningKernel(t *testing.T) {
	types, err := Types()
	if err != nil {
		t.Skip("no BTF here: ", err)
	}
	args, err := TracepointArgs(types, "kfree_skb")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"struct sk_buff *", "void *", "enum skb_drop_reason", "struct sock *"}
	if len(args) < 2 || len(args) > len(want) || !reflect.DeepEqual(args, want[:len(args)]) {
		t.Errorf("arguments of kfree_skb = %q, want a beginning of %q", args, want)
	}
	var l *Lack
	if _, err := TracepointArgs(types, "no_such_tracepoint"); !errors.As(err, &l) {
		t.Errorf("no such tracepoint: %v, want a Lack", err)
	}
	if len(args) > 2 {
		reasons, err := Enum(types, "skb_drop_reason")
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, name := range reasons {
			found = found || name == "SKB_DROP_REASON_NO_SOCKET"
		}
		if !found {
			t.Errorf("%d reasons, none of them NO_SOCKET", len(reasons))
		}
	}
	if _, err := Enum(types, "no_such_enum"); err == nil {
		t.Error("no such enum gave no error")
	}
	s, err := LoadSymbols("/proc")
	if errors.Is(err, ErrHidden) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(s.addrs) < 10_000 {
		t.Errorf("only %d functions", len(s.addrs))
	}
}

// The log of a program that is refused before it is looked at holds its statistics alone.
func TestExplainOfAProgramThatIsRefusedUnread(t *testing.T) {
	l := Explain("iterating over sockets", &ebpf.VerifierError{Cause: unix.EPERM, Log: []string{"processed 0 insns (limit 1000000)"}})
	if want := "iterating over sockets: " + unix.EPERM.Error(); l.Why != want {
		t.Errorf("%q, want %q", l.Why, want)
	}
	l = Explain("drops", &ebpf.VerifierError{Cause: unix.EINVAL, Log: []string{"R0 !read_ok", "processed 1 insns"}})
	if want := "drops: the kernel refused it: R0 !read_ok"; l.Why != want {
		t.Errorf("%q, want %q", l.Why, want)
	}
}
