package drain

import (
	"errors"
	"fmt"
	"time"

	"snag/fleet/drain/health"
	"snag/fleet/drain/journal"
	"snag/fleet/drain/plan"
)

// Progress is how far a drain has come, by its journal.
type Progress struct {
	Begun, Finished bool
	At              time.Time   // when it was begun
	Plan            string      // the checksum of its plan
	Peers           []plan.Peer // that a discovery listed then; nil: the plan lists them
	// Unsure is an action that had begun and is not known to have ended; nil: none.
	Unsure *journal.Record
	// Batch was begun last, when the hosts were as Base; Stopped: the drain was stopped after that.
	Batch   int
	BatchAt time.Time
	Base    health.Baseline
	Stopped bool
	peers   map[string]*peerState
}

// peerState is what was done with one peer.
type peerState struct {
	done    map[plan.Phase]int  // actions that ended
	started map[plan.Phase]bool // an action was begun
	passed  map[plan.Phase]bool // what was waited for
	back    bool                // it was restarted and is in service again
	early   bool                // it is being returned before its restart
}

func newPeer() *peerState {
	return &peerState{done: map[plan.Phase]int{}, started: map[plan.Phase]bool{}, passed: map[plan.Phase]bool{}}
}

// out reports whether something was done with it that was not taken back.
func (p *peerState) out() bool { return len(p.started) > 0 && !p.back }

func (g *Progress) peer(name string) *peerState {
	if g.peers[name] == nil {
		g.peers[name] = newPeer()
	}
	return g.peers[name]
}

// ProgressOf reads records.
func ProgressOf(all []journal.Record) *Progress {
	g := &Progress{peers: map[string]*peerState{}}
	for _, r := range all {
		g.take(r)
	}
	return g
}

func (g *Progress) take(r journal.Record) {
	switch r.Step {
	case journal.Begun:
		*g = Progress{Begun: true, At: r.At, Plan: r.Plan, Peers: r.Peers, peers: map[string]*peerState{}}
	case journal.Batch:
		g.Batch, g.BatchAt, g.Base, g.Stopped = r.N, r.At, r.Base, false
	case journal.Will:
		p := g.peer(r.Peer)
		p.started[r.Phase] = true
		p.early = p.early || r.Early
		g.Unsure = &r
	case journal.Did:
		g.peer(r.Peer).done[r.Phase] = r.N
		g.Unsure = nil
	case journal.Failed:
		g.Unsure = nil
	case journal.Passed:
		g.peer(r.Peer).passed[r.Phase] = true
	case journal.Back:
		p := newPeer()
		p.back = !r.Early
		g.peers[r.Peer] = p
	case journal.Resumed:
		g.resume(r.Text)
	case journal.Stopped:
		g.Stopped = true
	case journal.Done:
		g.Finished = true
	}
}

// Answers to what is not known to have ended.
const (
	Again = "again"
	Skip  = "skip"
)

func (g *Progress) resume(answer string) {
	if g.Unsure != nil && answer == Skip {
		g.peer(g.Unsure.Peer).done[g.Unsure.Phase] = g.Unsure.N
	}
	g.Unsure = nil
	for name, p := range g.peers {
		if p.early { // it may be in service, and was not restarted: it is drained again
			g.peers[name] = newPeer()
		}
	}
}

// How says how a drain is begun.
type How struct {
	Resume, StartOver bool
	Answer            string // Again, Skip or ""
}

// May says why a drain must not be begun so.
func (g *Progress) May(how How, sum string) error {
	open := g.Begun && !g.Finished
	since := g.At.UTC().Format("2006-01-02 15:04:05 UTC")
	switch {
	case how.Answer != "" && !how.Resume:
		return fmt.Errorf("--%s answers for an action of a drain that was interrupted: give it with --resume", how.Answer)
	case how.Resume && !open:
		return errors.New("--resume: no drain of this plan was interrupted: leave it out")
	case how.Resume && g.Plan != sum:
		return fmt.Errorf("--resume: the plan was changed since the drain began at %s: put back the plan of that time, or begin again from the first peer with --start-over", since)
	case how.Resume && g.Unsure != nil && how.Answer == "":
		return fmt.Errorf("--resume: it is not known whether this ended: %s, %s %d: %s; check %s, then add --again to run it again, or --skip to go on after it",
			g.Unsure.Peer, g.Unsure.Phase, g.Unsure.N, g.Unsure.Text, g.Unsure.Peer)
	case how.Resume && g.Unsure == nil && how.Answer != "":
		return fmt.Errorf("--%s: every action that was begun is known to have ended: leave it out", how.Answer)
	case open && !how.Resume && !how.StartOver:
		return fmt.Errorf("a drain of this plan began at %s and was not finished: go on with --resume, or begin again from the first peer with --start-over", since)
	}
	return nil
}
