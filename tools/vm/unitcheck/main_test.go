package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

const ring = `incidents
20261129T175846.576Z-20261129T175946.722Z-1s.snag
20261129T175746.115Z-20261129T175846.628Z-1s.snag
20261129T175947.000Z-open
recorder.lock`

func TestPieces(t *testing.T) {
	t.Parallel()
	all := pieces(ring)
	if len(all) != 3 || !all[2].end.IsZero() || all[0].start.Format(time.TimeOnly) != "17:57:46" {
		t.Errorf("%v", all)
	}
	at := all[1].end.Add(1500 * time.Millisecond)
	if lost, err := lostAt(ring, at); err != nil || lost != 1.5 {
		t.Errorf("lost %v, %v", lost, err)
	}
	if _, err := lostAt("recorder.lock", at); err == nil {
		t.Error("nothing is lost of an empty ring")
	}
}

// written makes a life of files.
func written(t *testing.T, files map[string]string) life {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return life{dir}
}

func TestSteps(t *testing.T) {
	t.Parallel()
	l := written(t, map[string]string{"stop.exit": "0\n", "start.exit": "5\n", "start.err": "no such unit\n"})
	if err := l.exit("stop", 0); err != nil {
		t.Error(err)
	}
	if err := l.exit("start", 0); err == nil || !strings.Contains(err.Error(), "no such unit") {
		t.Errorf("a step that failed: %v", err)
	}
	if err := l.exit("reload", 0); err == nil || !strings.Contains(err.Error(), "was not reached") {
		t.Errorf("a step that was not reached: %v", err)
	}
}

// A machine that printed nothing holds no claim.
func TestAnEmptyLifeFailsAll(t *testing.T) {
	t.Parallel()
	l := life{t.TempDir()}
	all := slices.Concat(started(l), incident(l), killed(l), suspended(l, "mem"), suspended(l, "freeze"), full(l), ordered(l), rebooted(l, l))
	var out bytes.Buffer
	if failed := judge(&out, all); failed != len(all) || len(all) < 30 {
		t.Errorf("%d of %d fail:\n%s", failed, len(all), out.String())
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	failed := judge(&out, []check{
		{"it stops", func() (string, error) { return "in 2 s", nil }},
		{"it starts", func() (string, error) { return "", errors.New("it does not") }},
	})
	if failed != 1 || out.String() != "ok      it stops: in 2 s\nFAILED  it starts: it does not\n" {
		t.Errorf("%d:\n%s", failed, out.String())
	}
}

// Readings of the time asleep would be a burst, or hide it.
func TestReadings(t *testing.T) {
	t.Parallel()
	series := func(steps ...string) string {
		return `{"Name":"x","Points":[{"T":` + strings.Join(steps, `,"V":1},{"T":`) + `,"V":1}]}`
	}
	var good, filled, burst []string
	for i := range 60 {
		at := time.Unix(1_800_000_000+int64(i), 0)
		ns := func(d time.Duration) string { return strconv.FormatInt(at.Add(d).UnixNano(), 10) }
		filled = append(filled, ns(0))
		if i < 20 || i >= 40 {
			good, burst = append(good, ns(0)), append(burst, ns(0))
		}
		if i == 40 {
			for k := range 20 {
				burst = append(burst, ns(time.Duration(k+1)*10*time.Millisecond))
			}
		}
	}
	for name, c := range map[string]struct {
		steps []string
		holds bool
	}{"a gap": {good, true}, "no gap": {filled, false}, "a burst": {burst, false}, "none": {nil, false}} {
		l := written(t, map[string]string{"mem-samples": series(c.steps...)})
		if text, err := readings(l, "mem"); (err == nil) != c.holds {
			t.Errorf("%s: %s, %v", name, text, err)
		}
	}
}

func TestLostDatagrams(t *testing.T) {
	t.Parallel()
	const culprit, seen = `"culprits":[{"name":"udp-receive-buffer-full","subject":"rtp-sink[7]","text":"lost 9"}]`, `"symptoms":[{"name":"datagrams-lost","subject":"rtp-sink[7] udp","text":"9 of 10"}]`
	for text, holds := range map[string]bool{
		`{"id":1,"noticed":"packets dropped at the receive buffer",` + culprit + `,` + seen + `}`:                                                                 true,
		`{"id":1,"noticed":"packets dropped at the receive buffer",` + strings.Replace(culprit, "udp-receive-buffer-full", "observer", 1) + `,` + seen + `}`:      true,
		`{"id":1,"noticed":"packets dropped at the receive buffer",` + strings.Replace(culprit, "udp-receive-buffer-full", "cpu-saturated", 1) + `,` + seen + `}`: false,
		`{"id":1,"noticed":"packets dropped at the receive buffer",` + culprit + `}`:                                                                              false,
		`{"id":1,"noticed":"",` + culprit + `,` + seen + `}`:                                                                                                      false,
		`{"id":1,"noticed":"packets dropped at the receive buffer",` + seen + `}`:                                                                                 false,
		"": false,
	} {
		if said, err := lostDatagrams(text); (err == nil) != holds {
			t.Errorf("%s: %s, %v", text, said, err)
		}
	}
}
