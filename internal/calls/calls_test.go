package calls

import "testing"

// What one bit means another must say as well.
func TestKindsAgree(t *testing.T) {
	for name, k := range kinds {
		switch {
		case k&(Reads|Writes|Asks|Closes|Accepts|Names) != 0 && k&OnFD == 0:
			t.Errorf("%s works on a descriptor that is not its first argument", name)
		case k&(Polls|Sleeps|Children|Accepts) != 0 && k&Idles == 0:
			t.Errorf("%s waits, but nobody idles in it", name)
		case k&Reads != 0 && k&Writes != 0:
			t.Errorf("%s reads and writes the same descriptor", name)
		case k&Asks != 0 && k&(Reads|Writes) == 0:
			t.Errorf("%s asks for bytes and moves none", name)
		}
	}
	for name, want := range map[string]Kind{"sendto": OnFD | Writes, "futex": Locks, "close": OnFD | Closes, "getpid": 0} {
		if Of(name) != want {
			t.Errorf("%s: %b, want %b", name, Of(name), want)
		}
	}
}
