package tail

import (
	"strings"
	"testing"
)

func TestTheEndIsKept(t *testing.T) {
	for _, size := range []int{1, 3, 7, 50} { // of a write
		b := Buffer{Most: 10}
		text := strings.Repeat("0123456789", 9) + "the end\n\xff"
		for at := 0; at < len(text); at += size {
			if n, err := b.Write([]byte(text[at:min(at+size, len(text))])); err != nil || n == 0 {
				t.Fatal(n, err)
			}
			if len(b.b) > 2*b.Most {
				t.Errorf("it holds %d bytes", len(b.b))
			}
		}
		if got := string(b.Bytes()); got != text[len(text)-10:] || !b.Cut() || b.String() != "9the end\n�" {
			t.Errorf("writes of %d: %q, %v, %q", size, got, b.Cut(), b.String())
		}
	}
	short := Buffer{Most: 10}
	_, _ = short.Write([]byte(" 12345678 "))
	if short.Cut() || short.String() != "12345678" {
		t.Errorf("%q %v", short.String(), short.Cut())
	}
}
