package rtp

import (
	"errors"
	"strconv"
	"strings"
)

// ParseBitrate reads bits per second, as 800k, 4M or 1.5G.
func ParseBitrate(text string) (float64, error) {
	number, times := text, 1.0
	for suffix, n := range map[string]float64{"k": 1e3, "M": 1e6, "G": 1e9} {
		if rest, ok := strings.CutSuffix(text, suffix); ok {
			number, times = rest, n
		}
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || !(v > 0) {
		return 0, errors.New("bits per second, as 800k or 4M")
	}
	return v * times, nil
}
