package kernel

import (
	"fmt"
	"strings"
	"testing"
)

// A kernel's 120,000 names stay in memory: nothing is kept beside them.
func TestSymbolsHaveNoRoomLeft(t *testing.T) {
	var text strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&text, "%x t function_%d\n", uint64(0xffffffff81000000)+uint64(i)*16, i)
	}
	s, err := ParseSymbols(strings.NewReader(text.String()))
	if err != nil {
		t.Fatal(err)
	}
	for what, room := range map[string]float64{
		"addresses": float64(cap(s.addrs)) / float64(len(s.addrs)), "places": float64(cap(s.names)) / float64(len(s.names)), "names": float64(cap(s.block)) / float64(len(s.block)),
	} {
		if room > 1.02 {
			t.Errorf("%s take %.2f times what they need", what, room)
		}
	}
	if name, _, ok := s.Lookup(0xffffffff81000000 + 99_999*16); !ok || name != "function_99999" {
		t.Errorf("the last one is %q", name)
	}
}
