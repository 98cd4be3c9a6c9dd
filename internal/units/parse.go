package units

import (
	"fmt"
	"strconv"
	"strings"
)

// ParseBytes reads a size: "2GB", "500MB", "64MiB", "100". Prefixes are powers of 1024.
func ParseBytes(text string) (int64, error) {
	number := strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(text), "b"), "i")
	unit := 1.0
	for suffix, n := range map[string]float64{"k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40} {
		if rest, ok := strings.CutSuffix(number, suffix); ok {
			number, unit = rest, n
			break
		}
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || !(v >= 0) || v*unit > 1<<60 {
		return 0, fmt.Errorf("%q is not a size", text)
	}
	return int64(v * unit), nil
}
