package recorder

import (
	"slices"
	"testing"
	"time"

	"snag/recording"
)

const noon = recording.Time(1_700_049_600_000_000_000) // 2023-11-15 12:00 UTC

func minute(n int) recording.Time { return noon.Add(time.Duration(n) * time.Minute) }

func fullMinutes(from, to int) (all []Piece) {
	for i := from; i < to; i++ {
		all = append(all, Piece{Name: nameOf(minute(i), minute(i+1), time.Second), Start: minute(i), End: minute(i + 1), Step: time.Second, Size: 100})
	}
	return all
}

func TestNamesSayWhatIsInside(t *testing.T) {
	t.Parallel()
	p, ok := parse(nameOf(noon, minute(10), 10*time.Second))
	if !ok || p.Start != noon || p.End != minute(10) || p.Step != 10*time.Second || p.Open {
		t.Errorf("%+v %v", p, ok)
	}
	if p, ok = parse(openName(noon)); !ok || !p.Open || p.Start != noon {
		t.Errorf("%+v %v", p, ok)
	}
	for _, name := range []string{"", "recorder.lock", "x.snag", nameOf(minute(1), noon, time.Second), nameOf(noon, minute(1), 0), "-open", ".20231115T120000.000Z"} {
		if p, ok := parse(name); ok {
			t.Errorf("%q is a piece: %+v", name, p)
		}
	}
}

func TestOldPiecesGoAndBecomeThinner(t *testing.T) {
	t.Parallel()
	large := Limits{Keep: 24 * time.Hour, Size: 1 << 30}
	tests := []struct {
		name   string
		all    []Piece
		now    recording.Time
		limits Limits
		gone   int
		old    []int // minutes
		step   time.Duration
	}{
		{"an hour is kept whole", fullMinutes(0, 60), minute(60), large, 0, nil, 0},
		{"ten minutes at once, once all of them are an hour old", fullMinutes(0, 69), minute(69), large, 0, nil, 0},
		{"", fullMinutes(0, 70), minute(70), large, 0, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, 10 * time.Second},
		{"what was recorded of them", fullMinutes(7, 90), minute(90), large, 0, []int{7, 8, 9}, 10 * time.Second},
		{"too old", fullMinutes(0, 3), minute(62), Limits{Keep: time.Hour, Size: 1 << 30}, 1, nil, 0},
		{"too much", fullMinutes(0, 10), minute(10), Limits{Keep: time.Hour, Size: 750}, 3, nil, 0},
		{"the thinnest first", append([]Piece{
			{Start: minute(0), End: minute(10), Step: 10 * time.Second}, {Start: minute(10), End: minute(20), Step: 10 * time.Second},
			{Start: minute(60), End: minute(70), Step: 10 * time.Second},
		}, fullMinutes(70, 90)...), minute(421), large, 0, []int{0, 10}, time.Minute},
	}
	for _, tt := range tests {
		gone, m := due(tt.all, tt.now, tt.limits)
		var got []int
		for _, p := range m.pieces {
			got = append(got, int(p.Start.Sub(noon)/time.Minute))
		}
		if len(gone) != tt.gone || !slices.Equal(got, tt.old) || len(got) > 0 && m.step != tt.step {
			t.Errorf("%s: %d gone, old %v by %s", tt.name, len(gone), got, m.step)
		}
	}
	open := []Piece{{Start: noon, End: minute(1), Open: true, Size: 1 << 40}}
	if gone, _ := due(open, minute(9999), Limits{Keep: time.Minute, Size: 1}); len(gone) > 0 {
		t.Errorf("what is written goes: %v", gone)
	}
}
