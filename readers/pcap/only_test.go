package pcap

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/net/bpf"

	capture "snag/internal/pcap"
	"snag/readers/reader"
)

// Filters let through what tcpdump's do.
func TestOnly(t *testing.T) {
	tcpdump := program(t, "tcpdump")
	r, path := fixture(t, "reconnect-storm-sick")
	f := r.Flows[0]
	client, server, _ := strings.Cut(f.Client+" "+f.Server, " ")
	host, port, _ := strings.Cut(client, ":")
	at, service, _ := strings.Cut(server, ":")
	for _, filter := range []string{
		"tcp", "udp", "host " + host, "src host " + at, "port " + service, "dst port " + service, "src port " + port,
		"host " + host + " and port " + port, "not port " + service, "portrange 1-1935 and dst host " + at, "src and dst net 10", "net 10.79.1.0/28",
		"udp or tcp and port " + port, "port " + port + " or " + service, "not (host " + host + " or dst port " + service + ")", "ip proto 6 and src " + host, "ip6",
	} {
		in, err := reader.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		out := &sink{}
		_, err = Format.Read(context.Background(), in, reader.Options{Only: filter}, out)
		_ = in.Close()
		if err != nil {
			t.Fatal(err)
		}
		var got uint64
		for _, f := range out.Flows {
			got += f.Up.Packets + f.Down.Packets
		}
		if want := framesOf(t, tcpdump, path, "("+filter+") and (tcp or udp)"); got != want {
			t.Errorf("%s: %d packets, tcpdump has %d", filter, got, want)
		}
	}
}

// framesOf is how many packets tcpdump's filter lets through. tcpdump compiles it only: without
// capabilities root may not let it give up what it may.
func framesOf(t *testing.T, tcpdump, path, filter string) (n uint64) {
	t.Helper()
	out, err := exec.Command(tcpdump, "-ddd", "-r", path, filter).Output()
	if err != nil {
		t.Fatalf("%s: %v", filter, err)
	}
	var program []bpf.Instruction
	for i, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		var op bpf.RawInstruction
		if i == 0 { // how many there are
			continue
		}
		if _, err := fmt.Sscan(line, &op.Op, &op.Jt, &op.Jf, &op.K); err != nil {
			t.Fatalf("%s: %q: %v", filter, line, err)
		}
		program = append(program, op.Disassemble())
	}
	vm, err := bpf.NewVM(program)
	if err != nil {
		t.Fatalf("%s: %v", filter, err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r, err := capture.New(file)
	if err != nil {
		t.Fatal(err)
	}
	var f capture.Frame
	for {
		switch err := r.Next(&f); {
		case errors.Is(err, io.EOF):
			return n
		case err != nil:
			t.Fatal(err)
		}
		if let, err := vm.Run(f.Data); err != nil {
			t.Fatal(err)
		} else if let > 0 {
			n++
		}
	}
}
