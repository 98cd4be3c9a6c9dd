package compare

import (
	"testing"

	"snag/recording"
)

// A stream that stood still once, in B alone, is never as good: one standstill of seconds may be chance, and what
// its viewers saw is no noise.
func TestAStandstillIsNotAsGood(t *testing.T) {
	for _, name := range []string{"encoder-stall-hls", "reader-stall", "uplink-blackhole", "publisher-sends-less"} {
		of := func(variant string) *recording.Recording {
			r, err := recording.Open("../lab/recordings/" + name + "-" + variant + ".snag")
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		if got := Of(of("healthy"), of("sick")).Outcome(); got == AsGood {
			t.Errorf("%s: %s", name, got)
		}
		if c := Of(of("healthy"), of("healthy")); len(c.Felt) != 0 {
			t.Errorf("%s, healthy: %v", name, c.Felt)
		}
		if c := Of(of("sick"), of("sick")); len(c.Felt) != 0 {
			t.Errorf("%s stops in both: %v", name, c.Felt)
		}
	}
}
