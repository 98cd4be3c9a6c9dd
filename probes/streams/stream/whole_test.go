package stream

import "testing"

type wanting bool

func (w wanting) Wanted() bool            { return bool(w) }
func (wanting) Key(string, []byte, int64) {}

func TestWholeIsBounded(t *testing.T) {
	var k Whole
	k.Begin(wanting(true))
	for range MostKey / 1000 {
		k.Add(make([]byte, 1000))
	}
	if b := k.Take(); len(b) != MostKey/1000*1000 {
		t.Errorf("a picture of %d bytes is kept as %d", MostKey/1000*1000, len(b))
	}
	k.Begin(wanting(true))
	for range MostKey/1000 + 1 {
		k.Add(make([]byte, 1000))
	}
	k.Add([]byte("its end"))
	if b := k.Take(); b != nil || k.On() {
		t.Errorf("one that is too large is kept as %d bytes", len(b))
	}
}

func TestWholeKeepsNothingUnwanted(t *testing.T) {
	for name, keys := range map[string]Keys{"nobody": nil, "not now": wanting(false)} {
		var k Whole
		k.Begin(keys)
		if k.Add([]byte("x")); k.On() || k.Take() != nil || k.b != nil {
			t.Errorf("%s: it is kept", name)
		}
	}
}
