package routes

import (
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"snag/internal/procfile"
)

var update = flag.Bool("update", false, "write what the decoders say into testdata")

// replies reads a fixture: dumps of a real kernel, a length before each reply
// (capture_test.go).
func replies(t testing.TB, name string) (out [][]byte) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name+".bin"))
	if err != nil {
		t.Fatal(err)
	}
	for len(data) >= 4 {
		n := int(binary.LittleEndian.Uint32(data))
		out = append(out, data[4:4+n])
		data = data[4+n:]
	}
	if len(out) == 0 {
		t.Fatalf("testdata/%s.bin holds nothing", name)
	}
	return out
}

var decoders = map[string]func([]byte) (any, error){
	"routes":     func(b []byte) (any, error) { return decodeRoute(b) },
	"neighbours": func(b []byte) (any, error) { return decodeNeighbour(b) },
	"netconf": func(b []byte) (any, error) {
		c, err := decodeNetconf(b)
		return fmt.Sprint(c.Index, " rp_filter ", told(c.RPFilter), " forwarding ", told(c.Forwarding)), err
	},
	"chains": func(b []byte) (any, error) {
		c, err := decodeChain(b)
		return fmt.Sprint(c.Family, " ", c.Table, " ", c.Name, " ", c.Hook, " ", c.PolicyDrop, " ", c.Count), err
	},
	"rules": func(b []byte) (any, error) {
		r, err := decodeRule(b)
		return fmt.Sprint(r.Family, " ", r.Table, " ", r.Chain, " ", r.Handle, " ", r.Verdict, " ", r.Count, " ", r.Text), err
	},
}

func told(v *int) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprint(*v)
}

func TestDecode(t *testing.T) {
	for name, decode := range decoders {
		t.Run(name, func(t *testing.T) {
			var said strings.Builder
			for _, b := range replies(t, name) {
				v, err := decode(b)
				if err != nil {
					t.Error(err)
				}
				fmt.Fprintf(&said, "%+v\n", v)
			}
			golden := filepath.Join("testdata", name+".txt")
			if *update {
				if err := os.WriteFile(golden, []byte(said.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if said.String() != string(want) {
				t.Errorf("%s:\n%s\nwant:\n%s", name, said.String(), want)
			}
		})
	}
}

// TestTornReplies cuts every reply at every byte: an error or a part, no panic.
func TestTornReplies(t *testing.T) {
	for name, decode := range decoders {
		for _, b := range replies(t, name) {
			for n := range b {
				_, _ = decode(b[:n])
			}
			if _, err := decode(b[:2]); err == nil {
				t.Errorf("%s: two bytes were taken for a reply", name)
			}
		}
	}
}

func FuzzDecode(f *testing.F) {
	for name := range decoders {
		for _, b := range replies(f, name)[:1] {
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, decode := range decoders {
			_, _ = decode(data)
		}
		if r, err := decodeRule(data); err == nil && len(r.Text) > mostText+len("…") {
			t.Errorf("a text of %d bytes", len(r.Text))
		}
	})
}

// statFile is of a machine with two CPUs, Linux 6.18, after a router dropped
// connections at a full table.
const statFile = `entries  clashres found new invalid ignore delete chainlength insert insert_failed drop early_drop icmp_error  expect_new expect_create expect_delete search_restart
00000100  00000000 00000002 00000000 00000003 00000000 00000000 00000001 00000000 00000000 0000002a 00000001 00000000  00000000 00000000 00000000 00000000
00000100  00000000 00000001 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000010 00000000 00000000  00000000 00000000 00000000 0000000f
`

func TestParseStat(t *testing.T) {
	got, err := procfile.Statistics([]byte(statFile))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]float64{"entries": 256, "drop": 58, "early_drop": 1, "found": 3, "search_restart": 15} {
		if got[name] != want {
			t.Errorf("%s is %v, want %v", name, got[name], want)
		}
	}
	for _, bad := range []string{"", "entries\n", "entries drop\n0001\n", "entries\nxyz\n"} {
		if _, err := procfile.Statistics([]byte(bad)); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

func FuzzAddStats(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x00\x08\x00\x0a\x00\x00\x00\x00\x2a"))
	f.Fuzz(func(t *testing.T, data []byte) {
		sums := map[string]float64{}
		_ = addStats(sums, data)
		for name, v := range sums {
			if v < 0 {
				t.Errorf("%s is %v", name, v)
			}
		}
	})
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte(statFile))
	f.Fuzz(func(t *testing.T, data []byte) {
		values, err := procfile.Statistics(data)
		for name, v := range values {
			if err != nil || v < 0 {
				t.Errorf("%s is %v with the error %v", name, v, err)
			}
		}
	})
}
