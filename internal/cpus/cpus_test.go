package cpus

import (
	"slices"
	"testing"
)

func TestMasks(t *testing.T) {
	for text, want := range map[string][]int{
		"0": nil, "3": {0, 1}, "00000003\n": {0, 1}, "f0": {4, 5, 6, 7},
		"00000001,80000003": {0, 1, 31, 32},
		"80000000,00000000,00000000,00000000,00000000,00000000,00000000,00000001": {0, 255},
	} {
		got, err := ParseMask(text)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("ParseMask(%q) = %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "0x3", "g", "123456789", "1,,2", "-1", "+1", "1 2"} {
		if got, err := ParseMask(text); err == nil {
			t.Errorf("ParseMask(%q) = %v; want an error", text, got)
		}
	}
}

// The kernel wants hex groups of 8 with commas above 32 CPUs, and refuses CPUs
// that the host does not have.
func TestWrittenMasks(t *testing.T) {
	for _, c := range []struct {
		set  []int
		host int
		want string
	}{
		{[]int{0, 1}, 2, "3"}, {nil, 8, "0"}, {[]int{1, 9}, 8, "2"}, {[]int{31}, 32, "80000000"},
		{[]int{0, 32}, 64, "00000001,00000001"}, {[]int{63}, 48, "00000000,00000000"}, {[]int{255}, 256, "80000000,00000000,00000000,00000000,00000000,00000000,00000000,00000000"},
	} {
		if got := Mask(c.set, c.host); got != c.want {
			t.Errorf("Mask(%v, %d) = %q, want %q", c.set, c.host, got, c.want)
		}
	}
}

func TestLists(t *testing.T) {
	for text, want := range map[string][]int{"": nil, "\n": nil, "0": {0}, "0-3,8\n": {0, 1, 2, 3, 8}, "8,0-1": {0, 1, 8}} {
		got, err := ParseList(text)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("ParseList(%q) = %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"a", "3-1", "1-", "-1", "0-99999999"} {
		if _, err := ParseList(text); err == nil {
			t.Errorf("ParseList(%q) was taken", text)
		}
	}
	if got := List([]int{8, 0, 1, 2, 3, 3}); got != "0-3,8" {
		t.Errorf("List = %q", got)
	}
}

func FuzzSets(f *testing.F) {
	for _, s := range []string{"00000001,80000003", "0-3,8", "0x3", ",", "1-"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if set, err := ParseMask(text); err == nil {
			again, err := ParseMask(Mask(set, most))
			if err != nil || !slices.Equal(again, set) {
				t.Errorf("%q is %v, written and read again %v, %v", text, set, again, err)
			}
		}
		if set, err := ParseList(text); err == nil {
			again, err := ParseList(List(set))
			if err != nil || !slices.Equal(again, set) {
				t.Errorf("%q is %v, written and read again %v, %v", text, set, again, err)
			}
		}
	})
}
