package net

import (
	"strings"
	"testing"

	"snag/recording"
	"snag/recording/rectest"
)

// Which setting a larger buffer takes hangs on whether the program asks for one.
func TestWhichSettingAFullBufferTakes(t *testing.T) {
	text := `A host.
-- manifest --
{"seconds": 30}
-- facts --
{"t": 0, "name": "net.core.rmem_max", "value": "MAX", "source": "x"}
{"t": 0, "name": "net.core.rmem_default", "value": "212992", "source": "x"}
`
	for name, c := range map[string]struct {
		most        string
		rb          float64
		setting     string
		value, call string
	}{
		"it never asked":           {"212992", 212992, "net.core.rmem_default", "4194304", "SO_RCVBUFFORCE, 2097152"},
		"never, and it may":        {"8388608", 212992, "net.core.rmem_default", "4194304", "SO_RCVBUF, 2097152"},
		"it asked and was cut":     {"212992", 425984, "net.core.rmem_max", "2097152", "SO_RCVBUF, 2097152"},
		"it asked for less":        {"8388608", 65536, "", "", "SO_RCVBUF, 2097152"},
		"asked, and may not more":  {"212992", 65536, "net.core.rmem_max", "2097152", "SO_RCVBUF, 2097152"},
		"twice max is the default": {"106496", 212992, "net.core.rmem_max", "2097152", "SO_RCVBUF, 2097152"},
	} {
		k, err := rectest.Parse([]byte(strings.ReplaceAll(text, "MAX", c.most)))
		if err != nil {
			t.Fatal(err)
		}
		set, calls := bufferSettings(k.Recording, recording.Subject{Comm: "relay", PID: 8, Netns: k.Recording.Manifest.Netns}, c.rb, nil)
		got, value := "", ""
		if len(set) == 1 {
			got, value = set[0].Name, set[0].Value
		}
		if len(set) > 1 || got != c.setting || value != c.value || len(calls) != 1 || !strings.Contains(calls[0].Do, c.call) {
			t.Errorf("%s: %+v %+v", name, set, calls)
		}
	}
}
