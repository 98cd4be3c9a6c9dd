package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/klauspost/compress/zstd"

	"snag/internal/built"
	"snag/recording"
)

// strangersMemory, bytes, is what judge, show and report may take of any recording.
const strangersMemory = 1 << 30

// mostSeconds of CPU time are what they may take.
const mostSeconds = 20

const bareManifest = `{"version":1,"snag":"x","host":"h","kernel":"6.1","cpus":2,"start":1790000000000000000,"end":1790000060000000000}`

// aBomb is a packed recording that is small, and what of it is more than is read.
type aBomb struct {
	name, file string
	says       string // of the error; "" where it is within the bounds
	write      func(w io.Writer, parts int) (size int64)
	manifest   string
}

// lines writes n lines, or one part of so many of them, each made of its number.
func lines(n int, line func(b []byte, i int) []byte) func(io.Writer, int) int64 {
	return func(w io.Writer, parts int) (size int64) {
		n := max(n/parts, 1)
		var b []byte
		for i := range n {
			if b = append(line(b, i), '\n'); len(b) > 1<<20 || i == n-1 {
				size += int64(len(b))
				_, _ = w.Write(b)
				b = b[:0]
			}
		}
		return size
	}
}

func socketLine(b []byte, i int) []byte {
	return fmt.Appendf(b, `{"t":%d,"netns":1,"inode":%d,"cookie":%d,"proto":"tcp","state":"ESTABLISHED","local":"10.0.0.1:80","remote":"10.%d.%d.%d:%d","owners":[{"pid":10,"comm":"x","fd":%d}],"recv_q":5,"send_q":7,"tcp":{"rtt":0.1,"cwnd":10}}`,
		1790000000000000000+i%60*1000000000, i+1, i+1, i>>16&255, i>>8&255, i&255, i%60000, i)
}

func valuesLine(n int) func([]byte, int) []byte {
	return func(b []byte, i int) []byte {
		b = fmt.Appendf(b, `{"name":"a%d","t_ms":[1790000000000%s],"v":[0%s]}`, i, strings.Repeat(",1", n), strings.Repeat(",1", n))
		return b
	}
}

// flood is so many of one byte.
func flood(n int64, c byte) func(io.Writer, int) int64 {
	return func(w io.Writer, parts int) int64 {
		n, _ := io.Copy(w, io.LimitReader(same(c), n/int64(parts)))
		return n
	}
}

var manyPairs = func() string {
	var b strings.Builder
	for i := range 60_000 {
		fmt.Fprintf(&b, `"a%d":"",`, i)
	}
	return strings.TrimSuffix(b.String(), ",")
}()

func same1(line string) func([]byte, int) []byte {
	return func(b []byte, _ int) []byte { return append(b, line...) }
}

var bombs = []aBomb{
	{name: "2 million sockets", file: "tables/sockets.jsonl", says: "MB of", write: lines(2_000_000, socketLine)},
	{name: "2 million short rows", file: "tables/sockets.jsonl", says: "memory", write: lines(2_000_000, func(b []byte, i int) []byte { return fmt.Appendf(b, `{"cookie":%d}`, i+1) })},
	{name: "5 million events", file: "tables/events.jsonl", says: "memory", write: lines(3_000_000, same1(`{"kind":"x","attrs":{"a":"b"}}`))},
	{name: "30 million values", file: "samples.jsonl", says: "memory", write: lines(3000, valuesLine(10_000))},
	{name: "half a million series", file: "samples.jsonl", says: "series, the bound", write: lines(500_000, func(b []byte, i int) []byte {
		return fmt.Appendf(b, `{"name":"node_disk_io_now","labels":{"device":"d%d"},"t_ms":[1790000000000],"v":[1]}`, i)
	})},
	{name: "empty rows", file: "tables/facts.jsonl", says: "rows in the table facts", write: lines(10_000_000, same1(`{}`))},
	{name: "a gigabyte of nothing", file: "anything", says: "MB of", write: flood(1<<30, 0)},
	{name: "gigabytes of spaces", file: "tables/sockets.jsonl", says: "MB of", write: flood(1<<30, ' ')},
	{name: "a long manifest", file: "manifest.json", says: "MB of", write: flood(1<<30, ' '), manifest: "-"},
	{name: "pairs in rows", file: "tables/processes.jsonl", says: "memory", write: lines(200, same1(`{"cgroups":{`+manyPairs+`}}`))},
	{name: "many labels", file: "samples.jsonl", says: "labels", write: lines(200, same1(`{"name":"a","labels":{`+manyPairs+`},"t_ms":[1],"v":[1]}`))},
	{name: "many streams", file: "tables/streams.jsonl", write: lines(300_000, func(b []byte, i int) []byte {
		return fmt.Appendf(b, `{"t":1790000000000000000,"name":"s%d"}`, i)
	})},
	{name: "requests of years", file: "tables/turns.jsonl", write: lines(100_000, func(b []byte, i int) []byte {
		return fmt.Appendf(b, `{"t":%d,"role":"serve","proto":"tcp","pid":%d,"local":"10.0.0.1:80","n":1,"sum":3e7,"max":2e8,"oldest":2e8,"open":1,"hist":[1]}`, 1790000000000000000+int64(i)*2500*1e9, i%100+1)
	}), manifest: strings.Replace(bareManifest, `"end":1790000060`, `"end":2073000000`, 1)},
	{name: "a window of ages", file: "x", says: "has a window of over 3660 days", write: lines(1, same1("")), manifest: strings.Replace(bareManifest, `"end":1790000060`, `"end":3790000060`, 1)},
	{name: "lists in lists", file: "tables/stacks.jsonl", write: lines(200, same1(`{"id":1,"frames":`+strings.Repeat("[", 400_000)+strings.Repeat("]", 400_000)+`}`))},
	{name: "long texts", file: "tables/processes.jsonl", write: lines(200, same1(`{"pid":1,"comm":"`+strings.Repeat("x", 900_000)+`"}`))},
	{name: "many frames", file: "tables/stacks.jsonl", says: "memory", write: lines(200, same1(`{"id":1,"frames":[""`+strings.Repeat(`,""`, 300_000)+`]}`))},
	{name: "much damage", file: "damage.txt", write: lines(20_000_000, same1(`x`))},
	{name: "many parts", file: "x", says: "parts", write: lines(1, same1("")), manifest: strings.TrimSuffix(bareManifest, "}") + `,"parts":[{}` + strings.Repeat(`,{"keys":[1]}`, 60_000) + `]}`},
	{name: "parts in parts", file: "x", says: "inside each other", write: lines(1, same1("")), manifest: strings.TrimSuffix(bareManifest, "}") + strings.Repeat(`,"parts":[{"manifest":{"host":"x"`, 1000) + strings.Repeat("}}]", 1000) + `}`},
	// Honest ones.
	{name: "40,000 sockets for 60 s", file: "tables/sockets.jsonl", write: lines(120_000, func(b []byte, i int) []byte { return socketLine(b, i%40_000) })},
	{name: "a day of watch", file: "samples.jsonl", write: lines(100*9, func(b []byte, i int) []byte {
		return fmt.Appendf(b, `{"name":"snag_stream_frames_total","labels":{"stream":"cam%d","kind":"video"},"t_ms":[%d%s],"v":[%d%s]}`,
			i/9, 1790000000000+i%9*10_000_000, strings.Repeat(",1000", 9600), i, strings.Repeat(",25", 9600))
	})},
}

// coverageOfAll has every suspect look.
func coverageOfAll(t testing.TB) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	for _, m := range recording.Measures {
		if err := enc.Encode(recording.Coverage{Probe: m, State: recording.CoverageOK, Since: 1790000000000000000}); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

// lay puts a bomb, or one part of so many of it, into a file.
func (b aBomb) lay(t testing.TB, path string, parts int) {
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z, err := zstd.NewWriter(f, zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		t.Fatal(err)
	}
	out := tar.NewWriter(z)
	manifest := b.manifest
	if manifest == "" {
		manifest = bareManifest
	}
	head := func(name string, size int64) error {
		return out.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: size, Typeflag: tar.TypeReg})
	}
	if b.file != "manifest.json" {
		err = head("manifest.json", int64(len(manifest)))
		_, werr := io.WriteString(out, manifest)
		err = errors.Join(err, werr)
	}
	coverage := coverageOfAll(t)
	err = errors.Join(err, head("tables/coverage.jsonl", int64(len(coverage))))
	_, werr := out.Write(coverage)
	err = errors.Join(err, werr)
	size := b.write(io.Discard, parts)
	err = errors.Join(err, head(b.file, size))
	b.write(out, parts)
	if err := errors.Join(err, out.Close(), z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// child runs snag and gives what it said, its exit code, the most memory that it had and
// the CPU time that it took.
func child(t testing.TB, snag string, memory int64, args ...string) (said string, code int, rss int64, cpu float64) {
	t.Helper()
	cmd := exec.Command(snag, args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%dMB", recording.MemoryEnv, memory>>20))
	err := cmd.Run()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	use, _ := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	return out.String(), cmd.ProcessState.ExitCode(), use.Maxrss << 10, cmd.ProcessState.UserTime().Seconds() + cmd.ProcessState.SystemTime().Seconds()
}

// A small file makes nobody's memory full, and what was too much is named.
func TestBombs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	snag := filepath.Join(dir, "snag")
	built.Program(t, "snag", snag)
	// In a check, an eighth of each for an eighth of the memory, and of the time.
	commands, parts, memory, itself := []string{"judge"}, 8, int64(strangersMemory/8), int64(96<<20)
	if os.Getenv("SNAG_ATTACK") != "" {
		commands, parts, memory, itself = []string{"judge", "show", "report"}, 1, strangersMemory, 0
	}
	for _, b := range bombs {
		t.Run(b.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "bomb.snag")
			b.lay(t, path, parts)
			st, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, command := range commands {
				said, code, rss, cpu := child(t, snag, memory, command, path)
				t.Logf("%6d KB packed, %-6s %4d MB, %5.1f s of CPU, exit %d %.100s", st.Size()>>10, command, rss>>20, cpu, code, strings.ReplaceAll(strings.TrimPrefix(said, "snag: open "+path+": it "), "\n", " "))
				if rss > memory+itself {
					t.Errorf("%s: %d MB", command, rss>>20)
				}
				if most := mostSeconds / float64(parts); cpu > most+2 {
					t.Errorf("%s: %.1f s took longer than %.1f s", command, cpu, most)
				}
				switch {
				case b.says != "" && command == "judge" && (code != 1 || !strings.Contains(said, b.says) || !strings.Contains(said, recording.MemoryEnv) && b.manifest == ""):
					t.Errorf("%s: exit %d, %.300s", command, code, said)
				case b.says == "" && code == 1, code == 2, code < 0:
					t.Errorf("%s: exit %d, %.300s", command, code, said)
				}
			}
		})
	}
}

// Who knows a recording raises the bounds.
func TestTheBoundIsRaised(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	snag, path := filepath.Join(dir, "snag"), filepath.Join(dir, "rows.snag")
	built.Program(t, "snag", snag)
	aBomb{file: "tables/facts.jsonl", write: lines(150_000, same1(`{}`))}.lay(t, path, 1)
	for memory, want := range map[string]string{"64MB": "has over 125000 rows in the table facts", "": "facts", "64gib": "facts", "much": "SNAG_MAX_MEMORY=much: give a number and MB or GB"} {
		cmd := exec.Command(snag, "show", path)
		cmd.Env = append(os.Environ(), recording.MemoryEnv+"="+memory)
		out, _ := cmd.CombinedOutput() // exit 1 is wanted of some
		if !strings.Contains(string(out), want) || (want == "facts") == strings.Contains(string(out), recording.MemoryEnv) {
			t.Errorf("%q: %.300s", memory, out)
		}
	}
}
