package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// figures are what one contender came to in one round, by name.
type figures map[string]float64

func (f figures) String() string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(f)) {
		out = append(out, fmt.Sprintf("%s %.4g", name, f[name]))
	}
	return strings.Join(out, ", ")
}

// report is all that was measured.
type report struct {
	Machine  string                          `json:"machine"`
	Began    time.Time                       `json:"began"`
	Versions map[string]string               `json:"versions"`
	Contests map[string]map[string][]figures `json:"contests"` // by contest and contender, a round each
	Missing  map[string]string               `json:"missing"`  // what could not be measured, and why
	Checks   map[string][]checked            `json:"checks"`
}

// checked is what came of a check in one round.
type checked struct {
	// Value is beside what it should be; of a check that is right or wrong 1 or 0.
	Value  float64 `json:"value"`
	Detail string  `json:"detail"`
}

// contest is something that snag and others do alike, measured in turn.
type contest struct {
	name       string
	server     func(context.Context, *bench) (*server, error)
	contenders []contender
}

type contender struct {
	name    string
	measure func(context.Context, *bench, *server) (figures, error)
}

// check is something that only snag does, whose right answer is known.
type check struct {
	name string
	// is the goal in words; within: the value is to be within that of 1, in each round; 0: it is to be 1.
	is     string
	within float64
	run    func(context.Context, *bench) (checked, error)
}
