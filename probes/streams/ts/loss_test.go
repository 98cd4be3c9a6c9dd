package ts

import (
	"math/rand/v2"
	"slices"
	"testing"

	"snag/probes/streams/stream"
)

// packetsOf cuts a file, and makes it long by its packets' counters going on.
func packetsOf(t testing.TB, name string) [][]byte {
	t.Helper()
	var all [][]byte
	for b := file(t, name); len(b) >= Size; b = b[Size:] {
		all = append(all, b[:Size:Size])
	}
	return all
}

func read(all [][]byte) *kept {
	k := &kept{}
	d := New(k)
	for _, p := range all {
		d.Datagram(p, 1)
	}
	d.Flush()
	return k
}

// gaps counts by hand: for each PID, runs of missing packets with payload.
func gaps(all [][]byte, missing map[int]bool) (n uint64) {
	hole, seen := map[uint16]int{}, map[uint16]bool{}
	for i, b := range all {
		var p packet
		if !p.parse(b) || p.payload == nil || p.pid == nullPID {
			continue
		}
		switch {
		case missing[i]:
			if seen[p.pid] {
				hole[p.pid]++
			}
		default:
			if hole[p.pid]%16 != 0 { // sixteen in a row can't be seen by a counter of four bits
				n++
			}
			hole[p.pid], seen[p.pid] = 0, true
		}
	}
	return n
}

func TestDroppedPacketsAreCounted(t *testing.T) {
	all := packetsOf(t, "h264-aac.ts")
	if k := read(all); k.counts[stream.ContinuityErrors] != 0 {
		t.Fatalf("%d continuity errors in a whole file", k.counts[stream.ContinuityErrors])
	}
	r := rand.New(rand.NewPCG(1, 2))
	some := false
	for range 200 {
		missing := map[int]bool{}
		for range 1 + r.IntN(20) {
			missing[3+r.IntN(len(all)-3)] = true // the first three are SDT, PAT, PMT
		}
		var left [][]byte
		for i, p := range all {
			if !missing[i] {
				left = append(left, p)
			}
		}
		want := gaps(all, missing)
		some = some || want > 3
		if got := read(left).counts[stream.ContinuityErrors]; got != want {
			t.Fatalf("without packets %v: %d continuity errors, want %d", missing, got, want)
		}
	}
	if !some {
		t.Error("nothing was tried")
	}
}

func TestRulesOfCounters(t *testing.T) {
	all := packetsOf(t, "h264-aac.ts")
	whole := read(all)
	video := slices.IndexFunc(all[10:], func(b []byte) bool { return b[3]&0x10 != 0 && b[3]&0x20 == 0 }) + 10
	with := func(at int, more ...[]byte) [][]byte { return slices.Insert(slices.Clone(all), at, more...) }

	if k := read(with(video+1, all[video])); k.counts[stream.ContinuityErrors] != 0 || len(k.frames) != len(whole.frames) {
		t.Errorf("a packet that comes twice: %d errors, %d frames of %d", k.counts[stream.ContinuityErrors], len(k.frames), len(whole.frames))
	}
	if k := read(with(video+1, all[video], all[video])); k.counts[stream.ContinuityErrors] != 1 {
		t.Errorf("a packet that comes thrice: %d errors, want 1", k.counts[stream.ContinuityErrors])
	}
	null := make([]byte, Size)
	copy(null, []byte{syncByte, 0x1f, 0xff, 0x17})
	if k := read(with(video, null, null)); k.counts[stream.ContinuityErrors] != 0 {
		t.Errorf("null packets: %d errors", k.counts[stream.ContinuityErrors])
	}

	// A packet is missing, and the next one of the PID says so.
	pid := func(b []byte) uint16 { return uint16(b[1]&31)<<8 | uint16(b[2]) }
	next := video + 1
	for pid(all[next]) != pid(all[video]) || all[next][3]&0x20 == 0 || all[next][4] == 0 {
		next++
		if pid(all[next]) == pid(all[video]) && all[next][3]&0x20 == 0 {
			video = next
		}
	}
	told := slices.Clone(all[next])
	told[5] |= 0x80
	announced := slices.Clone(all)
	announced[next] = told
	announced = slices.Delete(announced, video, video+1)
	if k := read(announced); k.counts[stream.ContinuityErrors] != 0 {
		t.Errorf("with discontinuity_indicator: %d errors", k.counts[stream.ContinuityErrors])
	}
	untold := slices.Delete(slices.Clone(all), video, video+1)
	if k := read(untold); k.counts[stream.ContinuityErrors] != 1 {
		t.Errorf("without it: %d errors, want 1", k.counts[stream.ContinuityErrors])
	}

	// The same, but the receiver lost it.
	k := &kept{}
	d := New(k)
	for i, p := range all {
		if i == video {
			d.Excuse()
			continue
		}
		d.Datagram(p, 1)
	}
	if k.counts[stream.ContinuityErrors] != 0 {
		t.Errorf("lost by the receiver: %d errors", k.counts[stream.ContinuityErrors])
	}
}

func TestScrambled(t *testing.T) {
	all := packetsOf(t, "h264-aac.ts")
	for i, b := range all {
		if p := (packet{}); p.parse(b) && p.pid >= 0x100 && p.pid < 0x200 {
			all[i] = slices.Clone(b)
			all[i][3] |= 0x80
		}
	}
	k := &kept{}
	d := New(k)
	for _, p := range all {
		d.Datagram(p, 1)
	}
	d.Flush()
	if len(k.frames) != 0 || d.Scrambled == 0 || k.counts[stream.ContinuityErrors] != 0 {
		t.Errorf("%d frames, %d scrambled packets, %d errors", len(k.frames), d.Scrambled, k.counts[stream.ContinuityErrors])
	}
}

func TestSyncIsFoundAgain(t *testing.T) {
	b := file(t, "h264-aac.ts")
	half := len(b) / 2 / Size * Size
	k := &kept{}
	d := New(k)
	for _, piece := range [][]byte{{0x47, 1, 2}, b[:half], []byte("rubbish G rubbish"), b[half:]} {
		d.Feed(piece, 1)
	}
	d.Flush()
	if n, _ := k.of(stream.Video); n != 25 {
		t.Errorf("%d pictures, want 25", n)
	}
	waste, lost := d.Wasted()
	if waste != 3+17 || lost != 1 {
		t.Errorf("%d bytes wasted, sync lost %d times; want 20 and 1", waste, lost)
	}
	if k.counts[stream.ContinuityErrors] != 0 {
		t.Errorf("%d errors", k.counts[stream.ContinuityErrors])
	}
}

func TestClocks(t *testing.T) {
	var p pcrClock
	const ms = int64(1e6)
	var last float64
	told := 0
	for i := range int64(200) { // every 40 ms, one of ten 7 ms late
		at := 40 * ms * i
		if i%10 == 5 {
			at += 7 * ms
		}
		v := uint64(300<<33-27_000_000) + uint64(40*27_000*i) // wraps after a second
		if j, ok := p.add(v%(300<<33), at); ok {
			last, told = j, told+1
		}
	}
	if last < 0.0069 || last > 0.0071 || told < 6 {
		t.Errorf("jitter %v s, told %d times; want 7 ms, each second", last, told)
	}
}
