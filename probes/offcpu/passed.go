package offcpu

import (
	"cmp"
	"slices"
)

// passedOn are the holders of locks whose words name nobody, by what passed on in one
// second. A lock without a word of its own has the address 0.
type passedOn map[lockID]*holding

// passed finds the locks that went from thread to thread in the second [from, to), and
// takes what their waiters waited on for one lock, where each parks on a word of its own.
// Of those it returns the long waits too: the kernel's side tells those at locks' words.
func (r *running) passed(f *futexes, hands []hand, now map[uint32]kernelThread, from, to uint64) (passedOn, []event) {
	// What became of those who were woken last is told by the second after.
	byWord, parking := sortHands(append(r.before, hands...))
	r.before = slices.Clone(hands)
	begin := from
	if r.had > 0 && r.had < from {
		begin = r.had
	}
	r.had = from
	until := to
	if len(hands) >= mostHands {
		until = slices.MaxFunc(hands, func(a, b hand) int { return cmp.Compare(a.key.At, b.key.At) }).key.At
	}
	out := passedOn{}
	var long []event
	for id, p := range byWord {
		h := p.holders()
		out[id] = &h
	}
	most := map[uint32]*passing{}
	for _, p := range parking {
		p.remember(r.homes[p.pid])
		if !p.isLock(begin, until) || p.turnsToWait() || r.stacks.ofGo(p.hands[0].place()) {
			continue
		}
		if best := most[p.pid]; best == nil || len(p.hands) > len(best.hands) {
			most[p.pid] = p // one of a process: without a word, rows can't tell two apart
		}
	}
	r.homes = map[uint32]map[uint32]parked{}
	for pid, p := range most {
		r.homes[pid] = p.home
		x := p.waits(from, to, now)
		f.oneLock(x, p.home)
		h := p.holders()
		out[x.lockID] = &h
		long = append(long, p.long(from)...)
	}
	return out, long
}

// longWait is long_lock of tables.h, ns.
const longWait = 100_000_000

// long are the waits that ended since from and are told by themselves.
func (p *passing) long(from uint64) (out []event) {
	for _, h := range p.hands {
		v := h.value
		if h.key.At < from || h.key.At < v.Began+longWait {
			continue
		}
		out = append(out, event{kernelLongKey{Begin: v.Began, Tid: v.To}, kernelLongValue{
			End: h.key.At, Tgid: v.Tgid, Comm: v.Comm, WakerTgid: v.Tgid, WakerTid: h.key.Tid, WakerComm: v.WakerComm,
			WakerKstack: v.WakerKstack, WakerUstack: v.WakerUstack, WakerSite: v.WakerSite,
		}})
	}
	return out
}

// remember adds the threads that waited for the lock in the last second, and may still.
func (p *passing) remember(home map[uint32]parked) {
	for tid, h := range home {
		if _, ok := p.home[tid]; !ok {
			p.home[tid] = h
		}
	}
}

// oneLock puts the lock that several threads wait for, each at a word of its own, in
// the place of those words.
func (f *futexes) oneLock(x *futex, home map[uint32]parked) {
	for id, word := range f.all {
		if id.lock || id.pid != x.pid || len(word.waiters) != 1 {
			continue
		}
		for tid := range word.waiters {
			if h, ok := home[tid]; ok && h.near(id.address) {
				delete(f.all, id)
			}
		}
	}
	if f.all == nil {
		f.all = map[lockID]*futex{}
	}
	f.all[x.lockID] = x
}
