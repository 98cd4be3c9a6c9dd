package scene

import (
	"testing"

	"snag/recording"
)

func TestOverDatagrams(t *testing.T) {
	for url, want := range map[string]bool{
		"gb28181://10.0.0.1:5060/1/2":                   true,
		"gb28181://10.0.0.1:5060/1/2?transport=…":       true,
		"gb28181://10.0.0.1:5060/1/2?media=…&setup=…":   false,
		"ps+udp://:30000":                               true,
		"ps+tcp://:30000":                               false,
		"rtsp://10.0.0.1/cam":                           false,
		"gb28181://10.0.0.1:5060/1/2?id=…&media=…":      false,
		"gb28181://10.0.0.1:5060/1/2?id=…&transport=…":  true,
		"gb28181://10.0.0.1:5060/1/2?register=…&media=": false,
	} {
		if got := overDatagrams(recording.Stream{URL: url, Protocol: "ps"}); got != want {
			t.Errorf("%s: %v", url, got)
		}
	}
}
