package load

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// ParseRates reads a rate such as 100, 1.5k or 2M, "max" (0), or a range such as 10..40k.
func ParseRates(text string) (from, to float64, err error) {
	if text == "max" {
		return 0, 0, nil
	}
	low, high, ranged := strings.Cut(text, "..")
	if from, err = parseRate(low); err != nil {
		return 0, 0, err
	}
	if !ranged {
		return from, from, nil
	}
	if to, err = parseRate(high); err != nil {
		return 0, 0, err
	}
	if to <= from {
		return 0, 0, fmt.Errorf("%s is not more than %s", high, low)
	}
	return from, to, nil
}

func parseRate(text string) (float64, error) {
	number, times := text, 1.0
	for suffix, n := range map[string]float64{"k": 1e3, "M": 1e6} {
		if rest, ok := strings.CutSuffix(text, suffix); ok {
			number, times = rest, n
		}
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || !(v > 0) || v*times > mostRate {
		return 0, errors.New("a number of requests a second, as 100 or 1.5k, a range as 10..40k, or max")
	}
	return v * times, nil
}

// ParseConns reads a number of connections, or a range such as 1..64, of which each is double the one before.
func ParseConns(text string) (out []int, err error) {
	low, high, ranged := strings.Cut(text, "..")
	from, err := strconv.Atoi(low)
	if err != nil {
		return nil, fmt.Errorf("%q is not a number of connections, or a range as 1..64", text)
	}
	to := from
	if ranged {
		if to, err = strconv.Atoi(high); err != nil || to <= from {
			return nil, fmt.Errorf("%q is not a range of connections, as 1..64", text)
		}
	}
	if from < 1 || to > MostConns {
		return nil, fmt.Errorf("%s connections: from 1 to %d", text, MostConns)
	}
	steps := max(1, int(math.Round(math.Log2(float64(to)/float64(from)))))
	for i := range steps + 1 {
		n := int(math.Round(float64(from) * math.Pow(float64(to)/float64(from), float64(i)/float64(steps))))
		if len(out) == 0 || n > out[len(out)-1] {
			out = append(out, n)
		}
	}
	return out, nil
}
