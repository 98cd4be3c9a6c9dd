package units

import "testing"

func TestBits(t *testing.T) {
	t.Parallel()
	for v, want := range map[float64]string{0: "0 bit/s", 64: "64 bit/s", 999.9: "1 kbit/s", 12_340: "12.3 kbit/s", 49.94e6: "49.9 Mbit/s", 2.5e9: "2.5 Gbit/s", 123.4e9: "123.4 Gbit/s"} {
		if got := Bits(v); got != want {
			t.Errorf("%g: %s, want %s", v, got, want)
		}
	}
}
