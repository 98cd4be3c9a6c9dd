package pcap

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"snag/readers/reader"
)

func TestNamesOfRings(t *testing.T) {
	for name, want := range map[string]string{
		"/d/x.pcap0": "/d/x.pcap", "/d/x.pcap12": "/d/x.pcap", "x.cap3": "x.cap", "x.pcapng1": "x.pcapng",
		"x_00001_20261127221501.pcapng": "x.pcapng", "x_00012_20261127221501.pcap": "x.pcap",
		"client1.pcap": "", "client2.pcap": "", "x.pcap": "", "x.1": "", "x_00001.pcap": "",
	} {
		if got := Ring(name); got != want {
			t.Errorf("%s is of %q, want %q", name, got, want)
		}
	}
}

// A connection goes on from file to file, whatever the order of their names.
func TestARingIsOneCapture(t *testing.T) {
	w := newWire()
	header := len(w.b)
	c, s := connection(w, "10.0.0.7:40112", "10.0.0.1:80")
	c.open(20)
	c.send(100)
	first := len(w.b)
	w.ms(4000)
	s.ack = c.seq
	s.send(1448)
	c.acks()
	c.close()
	dir := t.TempDir()
	write := func(name string, b []byte) *reader.Input {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		in, err := reader.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = in.Close() })
		return in
	}
	later := write("x.pcap0", append(append([]byte{}, w.b[:header]...), w.b[first:]...))
	earlier := write("x.pcap1", w.b[:first])
	out := &sink{}
	told, err := Format.ReadSet(context.Background(), []*reader.Input{later, earlier}, make([]reader.Options, 2), out)
	if err != nil {
		t.Fatal(err)
	}
	f := one(t, &out.Recording)
	if f.Closed != "fin" || f.Silence == nil || f.Up.Missed+f.Down.Missed != 0 || told.Lines != 9 {
		t.Fatalf("%+v, %d packets", f, told.Lines)
	}
	about(t, "the wait over both files", &f.Silence.Length, 4)
}
