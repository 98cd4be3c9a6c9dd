package picture

import (
	"math/rand"
	"testing"
	"time"

	"snag/recording"
)

// made is a picture by its points.
func made(at func(x, y int) int) Grey {
	g := make(Grey, 0, fullPoints)
	for y := range Height {
		for x := range Width {
			g = append(g, byte(min(max(at(x, y), 0), 255)))
		}
	}
	return g
}

func flat(v int) Grey { return made(func(int, int) int { return v }) }

// noisy is g with noise of at most so much.
func noisy(g Grey, most int, r *rand.Rand) Grey {
	return made(func(x, y int) int { return int(g[y*Width+x]) + r.Intn(2*most+1) - most })
}

var scene = made(func(x, y int) int { return 40 + 2*x + y })

func TestPictures(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	logo := made(func(x, y int) int {
		if x < 5 && y < 4 {
			return 200
		}
		return 2
	})
	for name, c := range map[string]struct {
		g            Grey
		black, plain bool
	}{
		"black":                    {flat(0), true, false},
		"black with noise":         {noisy(flat(4), 4, r), true, false},
		"black, with a small logo": {logo, true, false},
		"a dark room":              {made(func(x, _ int) int { return x / 2 }), false, false},
		"one grey":                 {noisy(flat(120), 2, r), false, true},
		"white":                    {flat(255), false, true},
		"a scene":                  {scene, false, false},
		"a scene in fog":           {made(func(x, _ int) int { return 120 + x/4 }), false, false},
		"nothing":                  {nil, false, false},
	} {
		if c.g.Black() != c.black || c.g.Plain() != c.plain {
			t.Errorf("%s: black %v, plain %v", name, c.g.Black(), c.g.Plain())
		}
	}
}

func TestAlike(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	clock := noisy(scene, 0, r)
	clock[5*Width+5] += 12
	brighter := made(func(x, y int) int { return 42 + 2*x + y })
	for name, c := range map[string]struct {
		g    Grey
		want bool
	}{
		"the same":              {scene, true},
		"the same, coded again": {noisy(scene, 1, r), true},
		"a clock in it":         {clock, false},
		"a bit brighter":        {brighter, false},
		"much noise":            {noisy(scene, 3, r), false},
		"another size":          {scene[1:], false},
	} {
		if got := Alike(scene, c.g); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// What begins and ends of a row of pictures, ten seconds apart.
func TestJudge(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	moving := func(i int) Grey { return made(func(x, y int) int { return 40 + (x*3+y*5+i*37)%150 }) }
	pictures := map[byte]func(i int) Picture{
		'm': func(i int) Picture { return Picture{Grey: moving(i)} }, 'b': func(int) Picture { return Picture{Grey: flat(0)} },
		'g': func(int) Picture { return Picture{Grey: flat(90)} }, 's': func(int) Picture { return Picture{Grey: noisy(scene, 1, r)} },
		'x': func(i int) Picture { return Picture{Grey: moving(i), Garbled: true} }, 'X': func(int) Picture { return Picture{Grey: flat(0), Garbled: true} },
	}
	for row, want := range map[string]string{
		"mmmmmmmm": "",
		"mbmmbmm":  "",
		"mmbbbmm":  "+black@2 -black@5",
		"mmbbbggm": "+black@2 -black@5 +plain@5 -plain@7",
		"mmsssmm":  "",
		"mssssssm": "+frozen@1 -frozen@7",
		"mssssbbm": "+frozen@1 -frozen@5 +black@5 -black@7",
		"bbbbbb":   "+black@0",
		"mmxmxmm":  "",
		"mmxxxmm":  "+garbled@2 -garbled@5",
		"mbXXbbm":  "+garbled@2 -garbled@4 +black@4 -black@6",
		"sssXssss": "+frozen@4",
		"mbXbmm":   "",
	} {
		got := ""
		var j Judge
		for i := range len(row) {
			for _, c := range j.Next(int64(i+1)*int64(10*time.Second), pictures[row[i]](i)) {
				name := map[string]string{recording.EventStreamGarbled: "garbled", recording.EventStreamBlack: "black", recording.EventStreamPlain: "plain", recording.EventStreamStill: "frozen"}[c.Kind]
				sign, at := "+", c.Start
				if c.Ended {
					sign, at = "-", c.End
				}
				if got != "" {
					got += " "
				}
				got += sign + name + "@" + string(rune('0'+at/int64(10*time.Second)-1))
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", row, got, want)
		}
	}
}

// A picture each second is the same for half a minute until that is told; a stream that begins anew
// ends what stood.
func TestJudgeTakesItsTime(t *testing.T) {
	var j Judge
	for s := int64(1); s <= 40; s++ {
		for _, c := range j.Next(s*int64(time.Second), Picture{Grey: scene}) {
			if s != 31 || c.Kind != recording.EventStreamStill || c.N != 31 || c.Start != int64(time.Second) {
				t.Errorf("after %d s: %+v", s, c)
			}
		}
	}
	if j.Stands() != recording.EventStreamStill {
		t.Errorf("it stands: %q", j.Stands())
	}
	if c := j.Forget(50 * int64(time.Second)); len(c) != 1 || !c[0].Ended || c[0].N != 40 || c[0].End != 50*int64(time.Second) {
		t.Errorf("%+v", c)
	}
	if c := j.Forget(51 * int64(time.Second)); len(c) != 0 || j.Stands() != "" {
		t.Errorf("%+v", c)
	}
}
