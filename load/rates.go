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
		return 0, errors.New("a number of requests per second, as 100 or 1.5k, a range as 10..40k, or max")
	}
	return v * times, nil
}

// ParseConns reads a number of connections, or a range such as 1..64, of which each is double the one before.
func ParseConns(text string) ([]int, error) {
	return doubling(text, "connections", MostConns, strconv.Atoi)
}

// ParseSizes reads a number of bytes, such as 64 or 4k (4,096), or a range such as 1..64k.
func ParseSizes(text string) ([]int, error) {
	return doubling(text, "bytes", mostBytes, func(text string) (int, error) {
		number, thousands := strings.CutSuffix(text, "k")
		n, err := strconv.Atoi(number)
		if thousands {
			n <<= 10
		}
		return n, err
	})
}

func doubling(text, of string, most int, parse func(string) (int, error)) (out []int, err error) {
	low, high, ranged := strings.Cut(text, "..")
	from, err := parse(low)
	if err != nil {
		return nil, fmt.Errorf("%q is not a number of %s, or a range as 1..64", text, of)
	}
	to := from
	if ranged {
		if to, err = parse(high); err != nil || to <= from {
			return nil, fmt.Errorf("%q is not a range of %s, as 1..64", text, of)
		}
	}
	if from < 1 || to > most {
		return nil, fmt.Errorf("%s %s: from 1 to %d", text, of, most)
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
