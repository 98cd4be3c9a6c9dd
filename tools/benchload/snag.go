package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

// times are of answers, in seconds.
type times struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
}

// loaded is what the bench needs of snag load --json.
type loaded struct {
	RateAsked float64 `json:"rate_asked"`
	Rate      float64 `json:"rate"`
	Answered  float64 `json:"answered"`
	SinceSent *times  `json:"since_sent"`
	OwnLag    *times  `json:"own_lag"`
	Growth    float64 `json:"growth"`
	Predicted float64 `json:"growth_predicted"`
	Bandwidth *struct {
		Acknowledged float64 `json:"acknowledged"`
	} `json:"bandwidth"`
	Reading *reading `json:"reading"`
}

// reading is what a sweep shows.
type reading struct {
	Sentences  []string        `json:"sentences"`
	Hump       json.RawMessage `json:"hump"`
	Cliff      json.RawMessage `json:"cliff"`
	Hysteresis json.RawMessage `json:"hysteresis"`
	Freed      string          `json:"freed_by"`
	Knee       *struct {
		Workers, Most float64
	} `json:"knee"`
}

// right reports whether a sweep found what it was to find: that freedBy frees the requests, or where that is "" nothing
// at all. limited: the service, or the generator, has a limit among the rates, which is no false finding.
func (r reading) right(freedBy string, limited bool) bool {
	if r.Freed != freedBy {
		return false
	}
	if freedBy != "" {
		return true
	}
	for _, found := range []json.RawMessage{r.Hump, r.Cliff, r.Hysteresis} {
		if len(found) > 0 && string(found) != "null" {
			return false
		}
	}
	return limited || r.Knee == nil
}

// load runs snag load, and reads what it printed.
func (b *bench) load(ctx context.Context, target string, flags ...string) (l loaded, r ran, err error) {
	r, err = b.program(ctx, b.clientCPU, append([]string{b.o.snag, "load", target, "--json"}, flags...)...)
	if err != nil {
		return l, r, err
	}
	if err := json.Unmarshal(r.out, &l); err != nil {
		return l, r, fmt.Errorf("read the JSON of snag load %s %s: %w", target, strings.Join(flags, " "), err)
	}
	return l, r, nil
}

func seconds(b *bench) string { return b.o.window.String() }
