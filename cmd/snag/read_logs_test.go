package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"snag/readers"
	"snag/recording"
	"snag/verdict"
)

// Sets of files as services write them: for each cause one that shows it, one of a
// healthy service, and one that looks like it and is something else.

var logsBegin = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// written is a log's lines by their time, s from its beginning.
type written struct {
	at   []float64
	text []string
}

func (w *written) add(at float64, format string, args ...any) {
	w.at = append(w.at, at)
	w.text = append(w.text, fmt.Sprintf(format, args...))
}

func (w *written) file(stamp func(at float64) string) string {
	order := make([]int, len(w.at))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(a, b int) bool { return w.at[order[a]] < w.at[order[b]] })
	var b strings.Builder
	for _, i := range order {
		b.WriteString(strings.Replace(w.text[i], "@", stamp(w.at[i]), 1) + "\n")
	}
	return b.String()
}

func in(layout string) func(float64) string {
	return func(at float64) string {
		return logsBegin.Add(time.Duration(at * 1e9)).Format(layout)
	}
}

const (
	accessLayout = "02/Jan/2006:15:04:05 -0700"
	nginxLayout  = "2006/01/02 15:04:05"
	javaLayout   = "2006-01-02 15:04:05.000"
	jvmLayout    = "2006-01-02T15:04:05.000-0700"
)

func gcLog(pauses []float64) string {
	var w written
	w.add(0, "[@][info][gc] Using G1")
	for at := 4.0; at < 3600; at += 9 {
		w.add(at, "[@][info][gc] GC(1) Pause Young (Normal) (G1 Evacuation Pause) 240M->100M(256M) %.3fms", 5+float64(int(at)%17))
	}
	for _, p := range pauses {
		w.add(p+2.2, "[@][info][gc] GC(2) Pause Full (G1 Compaction Pause) 255M->250M(256M) 2200.000ms")
	}
	return w.file(in(jvmLayout))
}

// transcoder writes when its input stood still for 2.1 s.
func transcoder(freezes []float64) string {
	var w written
	for at := 0.0; at < 3600; at += 7 {
		w.add(at, "@ INFO segment written")
	}
	for _, f := range freezes {
		w.add(f+2.1, "@ WARN no frames of live/cam1 for 2.1 s")
	}
	return w.file(in(javaLayout))
}

// central is the log of three transcoders on one syslog server.
func central(freezes []float64) string {
	var w written
	for at := 0.0; at < 3600; at += 11 {
		w.add(at, "@+00:00 tr-%d transcoder[9]: segment written", int(at)%3)
	}
	for i, f := range freezes {
		w.add(f+2.1, "@+00:00 tr-%d transcoder[9]: no frames of live/cam%d for 2.1 s", i%3, i%3)
	}
	return w.file(in("2006-01-02T15:04:05.000"))
}

// apart are n times of an hour, none of which are regular.
func apart(r *rand.Rand, n int) (all []float64) {
	for at := 60.0; len(all) < n; at += 100 + 150*r.Float64() {
		all = append(all, at)
	}
	return all
}

func moved(all []float64, by func() float64) (out []float64) {
	for _, at := range all {
		out = append(out, at+by())
	}
	return out
}

// access is two minutes of an access log: 20 requests per second, whose time is the
// upstream's and what their clients take.
func access(took func(at float64) (upstream, client float64)) string {
	var w written
	for i := range 2400 {
		at := float64(i) / 20
		up, client := took(at)
		if up < 0 {
			continue
		}
		w.add(at+up+client, `10.0.0.%d - - [@] "GET /a HTTP/1.1" 200 512 "-" "curl" rt=%.3f upstream=10.1.0.5:8080 urt=%.3f`, 2+i%100, up+client, up)
	}
	return w.file(in(accessLayout))
}

func sessions(short func(at int) int, bytesOut int) string {
	var w written
	for i := range 8 {
		w.add(100+float64(i), `10.2.0.%d [@] PUBLISH "live" "cam%d" "" - 25000000 4000 "" "FMLE/3.0" (1m 3%ds)`, i, i, i)
	}
	for at := range 100 {
		for i := range short(at) {
			w.add(float64(at)+float64(i)/1000, `10.3.0.%d [@] NONE "live" "" "" - 3073 %d "" "" (0s)`, i%3, bytesOut)
		}
	}
	return w.file(in(accessLayout))
}

func nginxErrors(n int, every float64, what, peer string) string {
	var w written
	for i := range n {
		w.add(float64(i)*every, "@ [error] 12#12: *%d %s while reading response header from upstream, client: 10.0.0.7, server: _, request: \"GET / HTTP/1.1\", upstream: \"http://%s/\", host: \"x\"", i, what, strings.Replace(peer, "N", fmt.Sprint(i%250), 1))
	}
	return w.file(in(nginxLayout))
}

const (
	freezeMap = "freeze no frames of %{NOTSPACE:stream} for %{NUMBER:seconds} s\n"
	resetText = "recv() failed (104: Connection reset by peer)"
)

func TestLogsNameTheirCulprit(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	pauses := apart(r, 12)
	quick := func() float64 { return 0.005 + 0.02*r.Float64() }
	slow := func(at float64) bool { return at >= 40 && at < 80 }
	for _, c := range []struct {
		name  string
		files map[string]string
		want  string // the culprits, one of which must be named; "": none
	}{
		{"pauses that the freezes follow", map[string]string{"gc.log": gcLog(pauses), "transcoder.log": transcoder(moved(pauses, r.Float64))}, "runtime-pause"},
		{"a healthy JVM beside freezes", map[string]string{"gc.log": gcLog(nil), "transcoder.log": transcoder(moved(pauses, r.Float64))}, ""},
		{"pauses, and freezes at other times", map[string]string{"gc.log": gcLog(pauses), "transcoder.log": transcoder(moved(pauses, func() float64 { return 30 + 40*r.Float64() }))}, ""},

		{"freezes on three hosts that pauses on a fourth explain", map[string]string{"gc.log": strings.ReplaceAll(gcLog(pauses), "][info]", "][origin-3][4711][info]"), "central.log": central(moved(pauses, r.Float64))}, "runtime-pause"},
		{"freezes on three hosts, and pauses at other times", map[string]string{"gc.log": strings.ReplaceAll(gcLog(pauses), "][info]", "][origin-3][4711][info]"), "central.log": central(moved(pauses, func() float64 { return 30 + 40*r.Float64() }))}, ""},

		{"an upstream that takes long", map[string]string{"access.log": access(func(at float64) (float64, float64) {
			if slow(at) {
				return 0.4 + 0.8*r.Float64(), 0.001
			}
			return quick(), 0.001
		})}, "slow-dependency"},
		{"a healthy service", map[string]string{"access.log": access(func(float64) (float64, float64) { return quick(), 0.001 })}, ""},
		{"clients that take long", map[string]string{"access.log": access(func(at float64) (float64, float64) {
			if slow(at) {
				return quick(), 0.4 + 0.8*r.Float64()
			}
			return quick(), 0.001
		})}, ""},
		{"requests that take long by design", map[string]string{"access.log": access(func(at float64) (float64, float64) {
			if int(at*20)%5 == 0 {
				return 25 + r.Float64(), 0.001
			}
			return quick(), 0.001
		})}, ""},

		{"reports among quick requests, all along", map[string]string{"access.log": access(func(at float64) (float64, float64) {
			if int(at*20)%37 == 5 {
				return 4 + 4*r.Float64(), 0.001
			}
			return quick(), 0.001
		})}, ""},
		{"a few reports at one time", map[string]string{"access.log": access(func(at float64) (float64, float64) {
			if slow(at) && int(at*20)%80 == 5 {
				return 4 + 4*r.Float64(), 0.001
			}
			return quick(), 0.001
		})}, ""},

		{"a log that is silent while an upstream does not answer", map[string]string{"access.log": access(func(at float64) (float64, float64) {
			if at >= 50 && at < 70 {
				return 70 - at + 0.5*r.Float64(), 0.001
			}
			return quick(), 0.001
		})}, "log-silence slow-dependency"},
		{"a log that is silent since nobody asks", map[string]string{"access.log": access(func(at float64) (float64, float64) {
			if at >= 50 && at < 70 {
				return -1, 0
			}
			return quick(), 0.001
		})}, ""},
		{"a log that was rotated", map[string]string{
			"access.log.1": access(func(at float64) (float64, float64) {
				if at >= 60 {
					return -1, 0
				}
				return quick(), 0.001
			}),
			"access.log": access(func(at float64) (float64, float64) {
				if at < 64 {
					return -1, 0
				}
				return quick(), 0.001
			}),
		}, ""},

		{"three peers that reconnect without pause", map[string]string{"rtmp.log": sessions(func(int) int { return 300 }, 3500)}, "reconnect-storm"},
		{"a few that come and go", map[string]string{"rtmp.log": sessions(func(at int) int { return at % 2 }, 3500)}, ""},
		{"a deploy: one burst", map[string]string{"rtmp.log": sessions(func(at int) int {
			if at == 50 || at == 51 {
				return 400
			}
			return 0
		}, 3500)}, ""},

		{"an upstream that resets", map[string]string{"error.log": nginxErrors(40, 2, resetText, "10.1.0.5:8080")}, "peer-reset"},
		{"clients that go away, in hours", map[string]string{"error.log": nginxErrors(40, 300, resetText, "10.0.0.N:80")}, ""},
		{"an upstream that closes early", map[string]string{"error.log": nginxErrors(40, 2, "upstream prematurely closed connection", "10.1.0.5:8080")}, ""},
		{"an upstream that is not there", map[string]string{"error.log": nginxErrors(40, 2, "connect() failed (111: Connection refused)", "10.1.0.5:8080")}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := judgeFiles(t, c.files)
			var got []string
			for _, e := range v.With(verdict.Culprit) {
				got = append(got, e.Suspect.Name)
			}
			named := slices.ContainsFunc(got, func(name string) bool { return slices.Contains(strings.Fields(c.want), name) })
			wrong := slices.ContainsFunc(got, func(name string) bool { return !slices.Contains(strings.Fields(c.want), name) })
			if c.want != "" && !named || wrong {
				t.Errorf("culprits %v, want %q; symptoms %+v", got, c.want, v.Symptoms)
			}
		})
	}
}

func judgeFiles(t *testing.T, files map[string]string) *verdict.Verdict {
	t.Helper()
	dir := t.TempDir()
	p := readers.Plan{Dir: filepath.Join(dir, "recording"), Zone: time.UTC, Snag: "test", Map: filepath.Join(dir, "map")}
	if err := os.WriteFile(p.Map, []byte(freezeMap), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		p.Files = append(p.Files, path)
	}
	slices.Sort(p.Files)
	if err := readers.Read(context.Background(), p); err != nil {
		t.Fatal(err)
	}
	rec, err := recording.Open(p.Dir)
	if err != nil {
		t.Fatal(err)
	}
	return verdict.Judge(rec)
}
