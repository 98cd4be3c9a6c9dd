package units

import "testing"

func TestSizes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{"2GB": 2 << 30, "64MiB": 64 << 20, "1.5g": 3 << 29, "100": 100} {
		if got, err := ParseBytes(text); err != nil || got != want {
			t.Errorf("%s: %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "much", "-1GB", "1e30GB"} {
		if got, err := ParseBytes(text); err == nil {
			t.Errorf("%q is %d", text, got)
		}
	}
}
