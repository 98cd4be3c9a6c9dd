package page

import (
	"fmt"
	"strings"
	"testing"

	"snag/recording"
	"snag/recording/rectest"
	"snag/verdict"
)

const profiled = `A service whose threads queue for a lock, profiled.
-- manifest --
{"seconds": 10, "netns": 1}
-- processes --
{"t": 0, "pid": 812, "comm": "api", "state": "S", "threads": 25, "netns": 1}
-- stacks --
{"id": 1048577, "frames": ["finish_task_switch", "read", "query", "handle", "main"], "objects": ["", "/lib/libc.so.6", "/srv/api", "/srv/api", "/srv/api"], "kernel": 1}
{"id": 1048578, "frames": ["spin", "handle", "main"], "objects": ["/srv/api", "/srv/api", "/srv/api"]}
{"id": 1048579, "frames": ["memcpy"], "objects": ["/lib/libc.so.6"], "cut": "no frame pointer"}
-- oncpu --
{"t": 1, "pid": 812, "tid": 813, "comm": "worker-1", "stack": 1048578, "n": 60, "hz": 99}
{"t": 2, "pid": 812, "tid": 813, "comm": "worker-1", "stack": 1048578, "n": 30, "hz": 99}
{"t": 2, "pid": 812, "tid": 812, "comm": "api", "stack": 1048579, "n": 10, "hz": 99}
-- offcpu --
{"t": 1, "pid": 812, "tid": 814, "comm": "worker-2", "reason": "socket", "stack": 1048577, "n": 4, "sum": 3.5, "max": 1}
-- lock_waits --
{"t": 1, "pid": 812, "comm": "api", "address": 140000, "kind": "mutex", "waiters": 23, "n": 40, "sum": 20, "max": 0.6, "owner": 814, "owner_by": "word", "owner_comm": "worker-2", "owner_stack": 1048577, "owner_call": "read", "owner_fd": 3}
{"t": 2, "pid": 812, "comm": "api", "address": 140000, "kind": "mutex", "waiters": 22, "n": 30, "sum": 18, "max": 0.9}
-- calls --
{"t": 1, "pid": 812, "tid": 814, "comm": "worker-2", "call": "read", "fd": 3, "n": 4, "errors": {"EAGAIN": 1}, "asked_bytes": 4096, "done_bytes": 100, "sum": 3.5, "max": 1, "max_at": 1.5}
-- fds --
{"t": 1, "pid": 812, "fd": 3, "kind": "socket", "name": "socket:[4711]", "proto": "tcp", "local": "127.0.0.1:41180", "remote": "127.0.0.1:5432", "peer_pid": 90, "peer_comm": "postgres"}
`

func profiledVerdict(t *testing.T) *verdict.Verdict {
	t.Helper()
	c, err := rectest.Parse([]byte(profiled))
	if err != nil {
		t.Fatal(err)
	}
	return verdict.Judge(c.Recording)
}

// lines writes a flame's nodes as indented text.
func lines(f Flame) string {
	depth := make([]int, len(f.Parent))
	var out strings.Builder
	for i, p := range f.Parent {
		name := "all"
		if p >= 0 {
			depth[i] = depth[p] + 1
			name = f.Frames[f.Frame[i]] + " " + f.Kinds[f.Frame[i]]
		}
		fmt.Fprintf(&out, "%s%s %g\n", strings.Repeat(" ", depth[i]), name, f.Value[i])
	}
	return out.String()
}

func TestFlames(t *testing.T) {
	d := New(profiledVerdict(t), limits[0])
	if len(d.Flames) != 2 {
		t.Fatalf("%d flames", len(d.Flames))
	}
	on, off := d.Flames[0], d.Flames[1]
	want := `all 100
 api[812] process 100
  worker-1 thread 90
   main user 90
    handle user 90
     spin user 90
  [cut: no frame pointer] user 10
   memcpy user 10
`
	if got := lines(on); got != want {
		t.Errorf("on the CPU:\n%s\nwant\n%s", got, want)
	}
	if on.Note != "10 % of it has a stack that is cut short" || on.Unit != "samples" {
		t.Errorf("note %q, unit %q", on.Note, on.Unit)
	}
	want = `all 3.5
 api[812] process 3.5
  worker-2 thread 3.5
   main user 3.5
    handle user 3.5
     query user 3.5
      read user 3.5
       finish_task_switch kernel 3.5
        waits: socket reason 3.5
`
	if got := lines(off); got != want || off.Unit != "s" {
		t.Errorf("off the CPU:\n%s\nwant\n%s", got, want)
	}
}

// TestFlamesAreBounded: of a thousand branches the heaviest stay, and the page says
// that the rest was left out; those that weigh the same go together.
func TestFlamesAreBounded(t *testing.T) {
	v := profiledVerdict(t)
	v.Recording.OnCPU = nil
	for i := range 1000 {
		id := 2_000_000 + i
		v.Recording.Stacks = append(v.Recording.Stacks, recording.Stack{ID: id, Frames: []string{fmt.Sprintf("f%d", i), "main"}})
		v.Recording.OnCPU = append(v.Recording.OnCPU, recording.OnCPU{T: rectest.Start, PID: 812, Comm: "api", Stack: id, N: uint64(1 + i/10), Hz: 99})
	}
	l := limits[0]
	l.Flame = 55
	d := New(v, l)
	f := d.Flames[0]
	if n := len(f.Parent) - 1; n > 55 || n < 45 {
		t.Errorf("%d nodes", n)
	}
	if f.Value[0] != 50500 || f.Total != 50500 {
		t.Errorf("the whole is %g of 50500", f.Value[0])
	}
	if !strings.Contains(strings.Join(d.LeftOut, ";"), "smallest branches") {
		t.Errorf("left out: %v", d.LeftOut)
	}
}

func TestTablesOfACloserLook(t *testing.T) {
	d := New(profiledVerdict(t), limits[0])
	found := map[string]Table{}
	for _, table := range d.Tables {
		found[table.Name] = table
	}
	locks, calls := found["locks"], found["calls"]
	if len(locks.Rows) != 1 || len(calls.Rows) != 1 {
		t.Fatalf("%d locks, %d calls", len(locks.Rows), len(calls.Rows))
	}
	if got, want := fmt.Sprint(locks.Rows[0]), "[api[812] 0x222e0 mutex 23 70 38 0.9 1 2  thread 814 worker-2 word read on descriptor 3 tcp 127.0.0.1:41180 → 127.0.0.1:5432 (postgres[90]) finish_task_switch\nread\nquery\nhandle\nmain]"; got != want {
		t.Errorf("locks %s\nwant  %s", got, want)
	}
	if got, want := fmt.Sprint(calls.Rows[0]), "[api[812] read 3 tcp 127.0.0.1:41180 → 127.0.0.1:5432 (postgres[90]) 4 1 4096 100 3.5 1 1.5]"; got != want {
		t.Errorf("calls %s\nwant  %s", got, want)
	}
}

// beside is profiledVerdict with a baseline in which the service only copied.
func beside(t *testing.T) *verdict.Verdict {
	t.Helper()
	c, err := rectest.Parse([]byte(profiled))
	if err != nil {
		t.Fatal(err)
	}
	well, err := rectest.Parse([]byte(strings.ReplaceAll(strings.ReplaceAll(profiled, "812", "4711"), `"stack": 1048578`, `"stack": 1048579`)))
	if err != nil {
		t.Fatal(err)
	}
	c.Recording.Baseline = well.Recording
	return verdict.Judge(c.Recording)
}

func TestFlamesBesideABaseline(t *testing.T) {
	d := New(beside(t), limits[0])
	on := d.Flames[0]
	// all, api, worker-1, main, handle, spin, [cut], memcpy: of the baseline's thread
	// worker-1 only the copy is known.
	want := []float64{1, 1, 0.9, 0, 0, 0, 0.1, 0.1}
	if fmt.Sprint(on.Before) != fmt.Sprint(want) {
		t.Errorf("shares before %v, want %v\n%s", on.Before, want, lines(on))
	}
	if alone := New(profiledVerdict(t), limits[0]); alone.Flames[0].Before != nil {
		t.Error("shares of a baseline that is not there")
	}
	c := browser(t)
	c.size(1280, 1200)
	html, err := render(beside(t))
	if err != nil {
		t.Fatal(err)
	}
	c.open(html)
	var more, after int
	const reds = `document.querySelectorAll('#flame-oncpu .more3').length`
	c.eval(reds, &more)
	c.eval(`document.querySelector('#flame-oncpu').parentElement.querySelector('[aria-pressed]').click()`, nil)
	c.settle()
	c.eval(reds, &after)
	if more != 3 || after != 0 {
		t.Errorf("%d frames take a lot more, %d without the comparison; want main, handle and spin, then none", more, after)
	}
	for _, table := range d.Tables {
		if table.Name != "functions-oncpu" {
			continue
		}
		if got, want := fmt.Sprint(table.Rows[0]), "[spin api 0.9 0.9 0 0 api[812] worker-1 ]"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		return
	}
	t.Error("no table of functions")
}

// What was waited for is a span of the timeline, seconds that follow one another one.
func TestLockWaitsAreOnTheTimeline(t *testing.T) {
	v := profiledVerdict(t)
	v.Recording.Coverage = append(v.Recording.Coverage, recording.Coverage{Probe: "locks.futex", State: recording.CoverageOK, Since: rectest.Start.Add(5e8)})
	later := v.Recording.LockWaits[1]
	later.T = rectest.Start.Add(7e9)
	v.Recording.LockWaits = append(v.Recording.LockWaits, later)
	var got []string
	for _, e := range New(v, limits[0]).Events {
		if e.Kind == "lock-wait" {
			got = append(got, fmt.Sprintf("%g-%g %s", e.T, *e.End, e.Text))
		}
	}
	if want := "1-3 api[812] · lock 0x222e0 · up to 23 threads wait · 2 s · from the first sample of locks on, or before · held by thread 814 worker-2\n7-8 api[812] · lock 0x222e0 · up to 22 threads wait · 1 s"; strings.Join(got, "\n") != want {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
}

func TestFlameGraphInABrowser(t *testing.T) {
	c := browser(t)
	c.size(1280, 2400)
	html, err := render(profiledVerdict(t))
	if err != nil {
		t.Fatal(err)
	}
	c.open(html)
	var seen struct {
		Frames         int
		Says, Matched  string
		Hits           int
		Disabled, Over bool
	}
	look := func() {
		t.Helper()
		c.settle()
		c.eval(`(() => { const b = document.getElementById('flame-oncpu'), p = b.parentElement;
		return {frames: b.querySelectorAll('g').length, says: p.querySelector('.says').textContent, matched: p.querySelector('.bar output').textContent,
		hits: b.querySelectorAll('.hit').length, disabled: p.querySelector('.bar button').disabled, over: b.scrollWidth > b.clientWidth + 1} })()`, &seen)
	}
	look()
	if seen.Frames != 8 || !seen.Disabled || seen.Over || seen.Says != "all: 100 samples, 100 % of all" {
		t.Fatalf("at first %+v", seen)
	}
	c.eval(`[...document.querySelectorAll('#flame-oncpu g')].find(g => g.textContent.startsWith('worker-1')).dispatchEvent(new MouseEvent('click', {bubbles: true}))`, nil)
	look()
	if seen.Frames != 6 || seen.Disabled || seen.Says != "worker-1: 90 samples, 90 % of all" {
		t.Errorf("zoomed into a thread: %+v", seen)
	}
	c.eval(`document.getElementById('flame-oncpu').focus()`, nil)
	for _, key := range []string{"Home", "ArrowDown", "ArrowDown", "ArrowDown", "ArrowDown", "ArrowDown"} {
		c.key(key, 0)
	}
	look()
	if seen.Says != "spin (/srv/api): 90 samples, 90 % of all" || !seen.Disabled {
		t.Errorf("walked to the heaviest: %+v", seen)
	}
	c.key("Enter", 0)
	look()
	if seen.Frames != 6 || seen.Disabled {
		t.Errorf("Enter zooms: %+v", seen)
	}
	c.eval(`(() => { const i = document.getElementById('flame-oncpu').parentElement.querySelector('input'); i.value = 'libc'; i.dispatchEvent(new Event('input')); document.getElementById('flame-oncpu').focus() })()`, nil)
	c.key("Home", 0)
	look()
	if seen.Hits != 1 || seen.Matched != "1 frames, 10 samples, 10 %" {
		t.Errorf("searched: %+v", seen)
	}
	// Enter in the search goes to what was found.
	c.eval(`document.getElementById('flame-oncpu').parentElement.querySelector('input').focus()`, nil)
	c.key("Enter", 0)
	look()
	if seen.Says != "memcpy (/lib/libc.so.6): 10 samples, 10 % of all" {
		t.Errorf("Enter in the search leads to %+v", seen)
	}
	// The link to the same in words opens its table.
	c.eval(`document.getElementById('flame-oncpu').parentElement.querySelector('h4 a').click()`, nil)
	c.settle()
	var rows int
	c.eval(`document.querySelectorAll('#table-functions-oncpu[open] tbody tr').length`, &rows)
	if rows != 4 {
		t.Errorf("%d functions in words", rows)
	}
	for _, complaint := range c.complaints() {
		t.Error(complaint)
	}
}

// Ten thousand frames: the page keeps the heaviest, draws what is wide enough to be
// seen, and a search and the keys reach what is not.
func TestAFlameOfTenThousandFrames(t *testing.T) {
	v := profiledVerdict(t)
	v.Recording.OnCPU = nil
	for i := range 1000 {
		s := recording.Stack{ID: 3_000_000 + i, Frames: []string{fmt.Sprintf("leaf%d", i)}}
		for depth := range 9 {
			s.Frames = append(s.Frames, fmt.Sprintf("f%d.%d", depth, i/(depth+1)))
		}
		v.Recording.Stacks = append(v.Recording.Stacks, s)
		v.Recording.OnCPU = append(v.Recording.OnCPU, recording.OnCPU{T: rectest.Start, PID: 812, Comm: "api", Stack: s.ID, N: uint64(1 + 3*(i%400)), Hz: 99})
	}
	d := New(v, limits[0])
	if n := len(d.Flames[0].Parent); n < 3000 || n > limits[0].Flame+1 {
		t.Fatalf("%d nodes on the page", n)
	}
	html, err := render(v)
	if err != nil {
		t.Fatal(err)
	}
	c := browser(t)
	c.size(1280, 2400)
	c.open(html)
	const boxes = `document.querySelectorAll('#flame-oncpu g').length`
	var drawn, found int
	c.eval(boxes, &drawn)
	if drawn < 20 || drawn > 12*800 {
		t.Errorf("%d boxes drawn", drawn)
	}
	c.eval(`(() => { const i = document.getElementById('flame-oncpu').parentElement.querySelector('input'); i.value = 'leaf399'; i.dispatchEvent(new Event('input')); i.focus() })()`, nil)
	c.key("Enter", 0)
	c.settle()
	var says string
	c.eval(`document.getElementById('flame-oncpu').parentElement.querySelector('.says').textContent`, &says)
	c.eval(`document.querySelectorAll('#flame-oncpu g.hit').length`, &found)
	if found != 1 || !strings.HasPrefix(says, "leaf399: 1,198 samples") {
		t.Errorf("%d boxes are what was searched for; %q", found, says)
	}
	t.Logf("%d nodes, %d bytes, %d boxes at first", len(d.Flames[0].Parent), len(html), drawn)
	for _, complaint := range c.complaints() {
		t.Error(complaint)
	}
}

func TestDoubtOfAFlameNamesOnlyWhatThereIs(t *testing.T) {
	for _, c := range []struct {
		d    flameDoubt
		want string
	}{
		{flameDoubt{}, ""},
		{flameDoubt{cut: 1}, "10 % of it has a stack that is cut short"},
		{flameDoubt{none: 2}, "20 % of it has no stack"},
		{flameDoubt{cut: 1, none: 2}, "10 % of it has a stack that is cut short, 20 % of it has no stack"},
	} {
		if got := c.d.note(10); got != c.want {
			t.Errorf("%+v: %q, want %q", c.d, got, c.want)
		}
	}
}
