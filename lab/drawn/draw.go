// Package drawn makes incidents whose sizes nobody chose. A family is a kind of service
// with its clients and the faults that it can have; a draw is a seed, from which every
// size of it follows. The same draw is run once healthy and once faulty, and what the
// clients themselves measured (package referee) says whether there was an incident.
package drawn

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"time"
)

// Draw gives the random values of one family by their names. A value depends on the seed,
// the family and the name alone: it is the same in the healthy and in the faulty run, and
// in whatever order values are asked for.
type Draw struct {
	Seed   uint64
	Family string
	// Values are those that were asked for, as they are kept with the recording.
	Values map[string]any
}

// NewDraw is the draw of a family by that seed.
func NewDraw(seed uint64, family string) *Draw {
	return &Draw{Seed: seed, Family: family, Values: map[string]any{}}
}

func (d *Draw) random(name string) *rand.Rand {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s/%s", d.Family, name)
	return rand.New(rand.NewPCG(d.Seed, h.Sum64()))
}

func draw[T any](d *Draw, name string, v T) T {
	d.Values[name] = v
	return v
}

// Uniform is a number between lo and hi.
func (d *Draw) Uniform(name string, lo, hi float64) float64 {
	return draw(d, name, lo+(hi-lo)*d.random(name).Float64())
}

// LogUniform is a number between lo and hi, both above 0, each factor of which is as likely as
// another.
func (d *Draw) LogUniform(name string, lo, hi float64) float64 {
	return draw(d, name, math.Exp(math.Log(lo)+(math.Log(hi)-math.Log(lo))*d.random(name).Float64()))
}

// Int is a whole number from lo to hi, by its factor as with LogUniform.
func (d *Draw) Int(name string, lo, hi int) int {
	v := math.Exp(math.Log(float64(lo)) + (math.Log(float64(hi)+1)-math.Log(float64(lo)))*d.random(name).Float64())
	return draw(d, name, max(lo, min(hi, int(v))))
}

// Duration is a time from lo to hi, by its factor as with LogUniform. It is kept in seconds.
func (d *Draw) Duration(name string, lo, hi time.Duration) time.Duration {
	v := d.LogUniform(name, lo.Seconds(), hi.Seconds())
	return time.Duration(v * float64(time.Second)).Round(10 * time.Microsecond)
}

// Pick is one of the choices, each as likely as another.
func Pick[T any](d *Draw, name string, choices ...T) T {
	return draw(d, name, choices[d.random(name).IntN(len(choices))])
}

// Chance is true with that probability.
func (d *Draw) Chance(name string, p float64) bool {
	return draw(d, name, d.random(name).Float64() < p)
}
