package objects

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"snag/recorder"
)

// shelf is a store in memory. fails says what goes wrong.
type shelf struct {
	mu    sync.Mutex
	has   map[string]string
	order []string
	fails func(name string) error
}

func (s *shelf) String() string { return "s3://shelf" }

func (s *shelf) Put(_ context.Context, name string, r io.ReadSeeker, size int64) error {
	s.mu.Lock()
	fails := s.fails
	s.mu.Unlock()
	if fails != nil {
		if err := fails(name); err != nil {
			return err
		}
	}
	b, err := io.ReadAll(r)
	if err != nil || int64(len(b)) != size {
		return fmt.Errorf("%d bytes of %d: %w", len(b), size, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.has == nil {
		s.has = map[string]string{}
	}
	s.has[name] = string(b)
	s.order = append(s.order, name)
	return nil
}

func (s *shelf) Get(_ context.Context, name string) (io.ReadCloser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text, is := s.has[name]
	if !is {
		return nil, &Failed{Store: s.String(), Doing: "read " + name, Err: fs.ErrNotExist}
	}
	return io.NopCloser(strings.NewReader(text)), nil
}

func (s *shelf) List(_ context.Context, prefix string, each func(string) bool) error {
	for _, name := range slices.Sorted(maps.Keys(s.has)) {
		if strings.HasPrefix(name, prefix) && !each(name) {
			return nil
		}
	}
	return nil
}

func (s *shelf) document(t *testing.T, name string) (d Document) {
	t.Helper()
	d, err := Read(t.Context(), s, name)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func (s *shelf) failing(f func(string) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fails = f
}

// aRing is a ring whose incidents are made by keep.
type aRing struct {
	recorder.Ring
	t *testing.T
}

func newRing(t *testing.T) aRing {
	t.Helper()
	r := aRing{recorder.Ring{Dir: t.TempDir()}, t}
	if err := os.MkdirAll(filepath.Join(r.Dir, "incidents"), 0o700); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r aRing) keep(i recorder.Incident, recording string) {
	r.t.Helper()
	folder := filepath.Dir(r.Recording(i.ID))
	b, err := json.Marshal(i)
	err = errors.Join(err, os.MkdirAll(folder, 0o700), os.WriteFile(r.Recording(i.ID), []byte(recording), 0o600))
	if err = errors.Join(err, os.WriteFile(filepath.Join(folder, "incident.json"), b, 0o600)); err != nil {
		r.t.Fatal(err)
	}
}

func (r aRing) remove(id int) {
	r.t.Helper()
	if err := os.RemoveAll(filepath.Dir(r.Recording(id))); err != nil {
		r.t.Fatal(err)
	}
}

// notes are the lines of the journal.
type notes struct {
	mu  sync.Mutex
	all []string
}

func (n *notes) add(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all = append(n.all, text)
}

func (n *notes) said() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.all)
}

func aSender(store Store, r aRing, change func(*Plan)) (*Sender, *notes) {
	n := &notes{}
	p := Plan{
		Store: store, Ring: r.Ring, Host: "web1", Snag: "1.2.3", Note: n.add, Current: func() int { return 0 },
		Pack: func(_ context.Context, folder, file string) error {
			return os.WriteFile(file, []byte("packed "+filepath.Base(folder)), 0o600)
		},
		every: 10 * time.Millisecond, between: time.Millisecond, first: 5 * time.Millisecond,
	}
	if change != nil {
		change(&p)
	}
	return NewSender(p), n
}

// running runs a sender until stop.
func running(t *testing.T, s *Sender) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); s.Run(ctx) }()
	stop = sync.OnceFunc(func() { cancel(); <-done })
	t.Cleanup(stop)
	return stop
}

func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !is(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited 20 s for: %s", what)
		}
	}
}

// All files of an incident are there before its document, which says what they are.
func TestAnIncidentIsSent(t *testing.T) {
	t.Parallel()
	r, store := newRing(t), &shelf{}
	i := anIncident(7, "runtime-pause")
	i.Looked = true
	r.keep(i, "the recording")
	if err := errors.Join(os.Mkdir(r.Recording(7)+".earlier", 0o700), os.WriteFile(r.Recording(7)+".earlier/1.snag", []byte("earlier"), 0o600), os.Mkdir(r.Look(7), 0o700)); err != nil {
		t.Fatal(err)
	}
	s, n := aSender(store, r, nil)
	stop := running(t, s)
	await(t, "an incident", func() bool { return s.Counts().Sent == 1 })
	stop()
	const name = "web1/20261128T142428Z-7"
	want := []string{name + "/recording.snag", name + "/recording.snag.earlier/1.snag", name + "/look.snag", name + "/incident.json"}
	if !slices.Equal(store.order, want) {
		t.Errorf("%q", store.order)
	}
	d := store.document(t, name)
	if d.Host != "web1" || d.Snag != "1.2.3" || d.ID != 7 || !d.End.Equal(i.End) || d.Culprits[0].Name != "runtime-pause" || !slices.Equal(d.Files, []string{"recording.snag", "recording.snag.earlier/1.snag", "look.snag"}) || d.LeftOut != nil {
		t.Errorf("%+v", d)
	}
	if store.has[want[0]] != "the recording" || store.has[want[2]] != "packed look" {
		t.Errorf("%q", store.has)
	}
	if c := s.Counts(); c.Waiting != 0 || c.Bytes != int64(len("the recording"+"earlier"+"packed look"+store.has[want[3]])) || len(n.said()) > 0 {
		t.Errorf("%+v, %q", c, n.said())
	}
	if _, err := os.Stat(filepath.Join(r.Dir, packedLook)); err == nil {
		t.Error("the packed look is left in the ring")
	}
	dir := t.TempDir()
	file, err := Fetch(t.Context(), store, d, dir)
	if err != nil || file != filepath.Join(dir, "look.snag") {
		t.Fatal(file, err)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "recording.snag.earlier/1.snag")); err != nil || string(b) != "earlier" {
		t.Errorf("%q, %v", b, err)
	}
}

// A restart sends nothing twice; another verdict and another store are sent to.
func TestWhatWasSentIsKnownAfterARestart(t *testing.T) {
	t.Parallel()
	r, store := newRing(t), &shelf{}
	r.keep(anIncident(1, ""), "a")
	r.keep(anIncident(2, "packet-loss"), "b")
	run := func(to Store, want int64) {
		t.Helper()
		s, _ := aSender(to, r, nil)
		stop := running(t, s)
		await(t, fmt.Sprintf("%d incidents", want), func() bool { return s.Counts().Sent >= want })
		time.Sleep(50 * time.Millisecond) // some rounds more
		stop()
		if c := s.Counts(); c.Sent != want || c.Waiting != 0 || c.Lost != 0 {
			t.Errorf("%+v, want %d", c, want)
		}
	}
	run(store, 2)
	run(store, 0)
	r.keep(anIncident(1, "runtime-pause"), "a2")
	run(store, 1)
	if d := store.document(t, "web1/20261128T141828Z-1"); len(d.Culprits) != 1 || store.has[d.Name+"/recording.snag"] != "a2" {
		t.Errorf("%+v", d)
	}
	other := &otherShelf{}
	run(other, 2)
	if err := os.WriteFile(filepath.Join(r.Dir, sentFile), []byte("{torn"), 0o600); err != nil {
		t.Fatal(err)
	}
	run(other, 2)
}

type otherShelf struct{ shelf }

func (*otherShelf) String() string { return "s3://other" }

// What goes on is sent after five minutes, with a new verdict, and with its end.
func TestAnIncidentThatGoesOn(t *testing.T) {
	t.Parallel()
	r, store := newRing(t), &shelf{}
	i := anIncident(1, "")
	i.Start, i.End = time.Now().Add(-time.Minute), time.Time{}
	r.keep(i, "a")
	var current atomic.Int64
	current.Store(1)
	s, _ := aSender(store, r, func(p *Plan) {
		p.Current = func() int { return int(current.Load()) }
	})
	stop := running(t, s)
	time.Sleep(50 * time.Millisecond)
	if c := s.Counts(); c.Sent != 0 {
		t.Errorf("after a minute: %+v", c)
	}
	r.remove(1)
	await(t, "that it is lost", func() bool { return s.Counts().Lost == 1 })
	i.ID, i.Start = 2, time.Now().Add(-longIncident)
	current.Store(2)
	for n := range int64(mostSends + 2) {
		i.Culprits = []recorder.Named{{Name: "packet-loss", Subject: fmt.Sprint(n)}}
		r.keep(i, "a")
		if n < mostSends-1 {
			await(t, "another verdict", func() bool { return s.Counts().Sent == n+1 })
		}
	}
	time.Sleep(50 * time.Millisecond)
	if c := s.Counts(); c.Sent != mostSends-1 {
		t.Errorf("before its end: %+v", c)
	}
	i.End = time.Now()
	r.keep(i, "a")
	await(t, "its end", func() bool { return s.Counts().Sent == mostSends })
	current.Store(0)
	stop()
	if d := store.document(t, nameOf("web1", i)); d.End.IsZero() || d.Culprits[0].Subject != fmt.Sprint(mostSends+1) {
		t.Errorf("%+v", d)
	}
}

// A store that is down is tried again; it is noted once for each cause, and what the ring loses meanwhile is counted.
func TestAStoreThatIsDown(t *testing.T) {
	t.Parallel()
	r, store := newRing(t), &shelf{}
	for id := range 3 {
		r.keep(anIncident(id+1, "packet-loss"), "a")
	}
	code := "NoAnswer"
	var mu sync.Mutex
	store.failing(func(name string) error {
		mu.Lock()
		defer mu.Unlock()
		return &Failed{Store: "s3://shelf", Doing: "write " + name, Why: "connection refused", Code: code}
	})
	s, n := aSender(store, r, nil)
	stop := running(t, s)
	await(t, "several tries", func() bool { return s.Counts().Failed > 3 })
	if said := n.said(); len(said) != 1 || !strings.Contains(said[0], "--incidents-to: s3://shelf: write web1/20261128T141828Z-1/recording.snag: connection refused; recording goes on, incidents wait in the ring") || s.Counts().Waiting != 3 {
		t.Errorf("%q, %+v", said, s.Counts())
	}
	r.remove(1)
	await(t, "what is lost", func() bool { return s.Counts().Lost == 1 })
	mu.Lock()
	code = "NoSuchBucket"
	mu.Unlock()
	await(t, "another cause", func() bool { return len(n.said()) == 3 })
	stop()
	// Another process begins where it was, and what went meanwhile is lost too.
	r.remove(2)
	store.failing(nil)
	s, n2 := aSender(store, r, nil)
	stop = running(t, s)
	await(t, "the last one", func() bool { return s.Counts().Sent == 1 })
	stop()
	if c := s.Counts(); c.Lost != 1 || c.Waiting != 0 || len(n2.said()) != 1 || !strings.Contains(n2.said()[0], "removed from the ring before the store had it: web1/20261128T141928Z-2; 1 in all") {
		t.Errorf("%+v, %q", c, n2.said())
	}
	if said := strings.Join(n.said(), "\n"); !strings.Contains(said, "removed from the ring before the store had it: web1/20261128T141828Z-1; 1 in all") {
		t.Error(said)
	}
}

// The note that a store works again comes with the first incident that it takes.
func TestAStoreThatWorksAgain(t *testing.T) {
	t.Parallel()
	r, store := newRing(t), &shelf{}
	r.keep(anIncident(1, ""), "a")
	store.failing(func(string) error { return &Failed{Store: "s3://shelf", Code: "Full", Why: "full"} })
	s, n := aSender(store, r, nil)
	stop := running(t, s)
	await(t, "a failure", func() bool { return s.Counts().Failed > 0 })
	store.failing(nil)
	await(t, "an incident", func() bool { return s.Counts().Sent == 1 })
	stop()
	if said := n.said(); len(said) != 2 || !strings.Contains(said[1], "s3://shelf works again") {
		t.Errorf("%q", said)
	}
}

// A file that the store never takes holds up nothing: the document says that it is not there.
func TestAFileThatIsRefused(t *testing.T) {
	t.Parallel()
	r, store := newRing(t), &shelf{}
	r.keep(anIncident(1, ""), "too large")
	r.keep(anIncident(2, ""), "b")
	store.failing(func(name string) error {
		if strings.HasSuffix(name, "-1/recording.snag") {
			return &Failed{Store: "s3://shelf", Doing: "write", Code: "EntityTooLarge", Why: "EntityTooLarge", Refused: true}
		}
		return nil
	})
	s, _ := aSender(store, r, nil)
	stop := running(t, s)
	await(t, "both", func() bool { return s.Counts().Sent == 2 })
	stop()
	d := store.document(t, "web1/20261128T141828Z-1")
	if len(d.Files) != 0 || len(d.LeftOut) != 1 || !strings.Contains(d.LeftOut[0], "recording.snag: the store refused it: EntityTooLarge") || s.Counts().Refused != 1 {
		t.Errorf("%+v, %+v", d, s.Counts())
	}
	if _, err := Fetch(t.Context(), store, d, t.TempDir()); err == nil || !strings.Contains(err.Error(), "has no recording: recording.snag: the store refused it") {
		t.Errorf("%v", err)
	}
}

// A closer look that cannot be packed, or a recording that is gone, does not hold up the rest.
func TestFilesThatAreNotThere(t *testing.T) {
	t.Parallel()
	r, store := newRing(t), &shelf{}
	r.keep(anIncident(1, ""), "a")
	if err := errors.Join(os.Mkdir(r.Look(1), 0o700), os.Remove(r.Recording(1))); err != nil {
		t.Fatal(err)
	}
	s, _ := aSender(store, r, func(p *Plan) {
		p.Pack = func(context.Context, string, string) error { return errors.New("it is damaged") }
	})
	stop := running(t, s)
	await(t, "the document", func() bool { return s.Counts().Sent == 1 })
	stop()
	if d := store.document(t, "web1/20261128T141828Z-1"); len(d.Files) != 0 || len(d.LeftOut) != 2 || !strings.Contains(d.LeftOut[0], "look.snag: it is damaged") || !strings.Contains(d.LeftOut[1], "no such file") {
		t.Errorf("%+v", d)
	}
}

// Pauses grow to five minutes, differ, and are never less than what the store asked for.
func TestPauses(t *testing.T) {
	t.Parallel()
	none := errors.New("none")
	for _, c := range []struct {
		n      int
		err    error
		random float64
		want   time.Duration
	}{
		{1, none, 0, time.Second}, {1, none, 1, 2 * time.Second}, {4, none, 1, 16 * time.Second}, {90, none, 1, longestPause}, {90, none, 0, longestPause / 2},
		{1, &Failed{After: time.Minute}, 0, time.Minute}, {1, &Failed{After: 100 * time.Hour}, 0, time.Hour}, {90, &Failed{After: time.Second}, 1, longestPause},
	} {
		if got := pause(c.n, firstPause, c.err, c.random); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// What others wrote into the store is not taken for incidents, and leads nowhere else.
func TestStrangersObjects(t *testing.T) {
	t.Parallel()
	const name = "web1/20261128T141828Z-1"
	store := &shelf{has: map[string]string{
		name + "/incident.json": `{"version":1,"name":"` + name + `","files":["../../../etc/passwd"]}`, "web1/notes.txt": "x", "web1/20261128T141828Z-2/recording.snag": "x",
		"web2/20261128T141728Z-1/incident.json": `{"version":9}`, "web3/20261128T141728Z-1/incident.json": `{"version":1,"name":"` + name + `"}`, "web4/20261128T141728Z-1/incident.json": strings.Repeat(" ", mostDocument+1),
		"web5/20261128T141728Z-1/incident.json": "{",
	}}
	found, err := List(t.Context(), store, "")
	if err != nil || len(found) != 5 || found[4].Name != name {
		t.Fatalf("%+v, %v", found, err)
	}
	if found, err := List(t.Context(), store, "web2"); err != nil || len(found) != 1 || found[0].Host != "web2" {
		t.Errorf("%+v, %v", found, err)
	}
	for host, want := range map[string]string{"web2": "version 9", "web3": "another incident", "web4": "longer than 1 MB", "web5": "unexpected end"} {
		if d, err := Read(t.Context(), store, host+"/20261128T141728Z-1"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v", host, d, err)
		}
	}
	dir := t.TempDir()
	if _, err := Fetch(t.Context(), store, store.document(t, name), dir); err == nil || !strings.Contains(err.Error(), "not one of an incident's") {
		t.Errorf("%v", err)
	}
}
