package pcap

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"

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

// framesOf is how many packets tcpdump lets through.
func framesOf(t *testing.T, tcpdump, path, filter string) (n uint64) {
	t.Helper()
	var out []byte
	var err error
	for range 3 { // beside the other live tests it has ended with 1 and said nothing
		if out, err = exec.Command(tcpdump, "-n", "-Z", "root", "-r", path, "-w", "-", filter).Output(); err == nil {
			break
		}
		t.Logf("tcpdump %s: %v", filter, err)
	}
	if err != nil {
		var said *exec.ExitError
		if errors.As(err, &said) {
			err = fmt.Errorf("%w: %s", err, said.Stderr)
		}
		t.Fatalf("%s: %v", filter, err)
	}
	r, err := capture.New(bytes.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	var f capture.Frame
	for {
		err := r.Next(&f)
		if errors.Is(err, io.EOF) {
			return n
		}
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
}
