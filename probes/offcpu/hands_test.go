package offcpu

import (
	"encoding/binary"
	"testing"

	"golang.org/x/sys/unix"
)

const ms = 1_000_000

// passes makes one hand.
func passes(from, by, to uint32, got, at, began uint64) hand {
	return hand{
		key: kernelHandKey{At: at, Tid: by},
		value: kernelHandValue{
			Tgid: 60, To: to, Began: began, Address: 0x7f00_0000_0000 + 4096*uint64(to), Kstack: 10, Ustack: 4,
			WakerKstack: noStack, WakerUstack: noStack, Comm: comm("worker"), WakerComm: comm("worker"),
			Hold: kernelHold{Got: got, From: from, Nr: unix.SYS_READ, Object: 7, BusyAt: got + 1, Busy: (at - got) * 9 / 10, Kstack: 11, Ustack: 3},
		},
	}
}

// round is a lock that goes round among threads from first on, each of which has it
// for hold, from a time on.
func round(first, threads uint32, from, to, hold uint64) (out []hand) {
	got := from
	for i := uint32(0); got+hold <= to; i++ {
		a, b, c := first+i%threads, first+(i+1)%threads, first+(i+2)%threads
		out = append(out, passes(a, b, c, got, got+hold, got+hold-min(got, uint64(threads-1)*hold)))
		got += hold
	}
	return out
}

func TestLocksThatPassOn(t *testing.T) {
	const from, to = 5000 * ms, 6000 * ms
	var pool, line, barrier, rpc []hand
	for i := range uint64(100) {
		at := from + 10*ms*i
		// A consumer that was woken for work wakes another at once, and works then.
		pool = append(pool, passes(70, 71+uint32(i%8), 71+uint32((i+1)%8), at, at+ms/20, at-50*ms))
		// Stages of a line: each item takes 25 ms in each of five stages.
		line = append(line, passes(80, 81+uint32(i%5), 82+uint32(i%5), at, at+25*ms, at-5*ms))
		// Two threads wait for the third, which does the work.
		rpc = append(rpc, passes(92, 90, 91, at, at+ms, at-9*ms), passes(90, 91, 92, at+ms, at+9*ms, at), passes(91, 92, 90, at+9*ms, at+10*ms, at+ms))
		// Whoever comes last wakes all, of whom it had been one, though not the first.
		barrier = append(barrier, passes(99+uint32(i%6), 99+uint32((i+1)%6), 99+uint32((i+3)%6), at+ms/10, at+10*ms, at+5*ms))
	}
	lock := round(61, 8, from-50*ms, to, 20*ms)
	torn := append(round(61, 8, from, from+480*ms, 20*ms), round(61, 8, from+500*ms, to, 20*ms)...)
	rare := round(61, 8, from, from+400*ms, 20*ms)
	for i := range rare {
		late := uint64(i) * 30 * ms // it lies free between
		rare[i].key.At, rare[i].value.Hold.Got = rare[i].key.At+late, rare[i].value.Hold.Got+late
	}
	for _, c := range []struct {
		name  string
		hands []hand
		locks int
	}{
		{"a lock", lock, 1},
		{"its waiter found it taken once", torn, 1},
		{"two locks, each with threads of its own", append(round(61, 8, from, to, 20*ms), round(161, 5, from, to, 15*ms)...), 2},
		{"a lock that is mostly free", rare, 0},
		{"a pool that is woken for work", pool, 0},
		{"a line of stages", line, 0},
		{"two that wait for a third", rpc, 0},
		{"a barrier", barrier, 0},
		{"two threads that take turns", round(61, 2, from, to, 10*ms), 0},
		{"nothing", nil, 0},
	} {
		_, parking := sortHands(c.hands)
		locks := 0
		for _, p := range parking {
			if p.isLock(from, to) {
				locks++
			}
		}
		if locks != c.locks {
			t.Errorf("%s: %d of %d groups are locks, not %d", c.name, locks, len(parking), c.locks)
		}
	}
}

func TestWaitsForALockThatPassesOn(t *testing.T) {
	const from, to = 5000 * ms, 6000 * ms
	_, parking := sortHands(round(61, 8, from, to, 20*ms))
	p := parking[0]
	waiting := kernelThread{Start: to - 60*ms, Tgid: 60, Nr: nrFutex, Args: [3]uint64{0x7f00_0000_0000 + 4096*64 + 4, 128, 0}, How: howSleep, Kstack: 10, Ustack: 4}
	idle := waiting
	idle.Ustack = 5 // it waits for work, at the same word
	f := p.waits(from, to, map[uint32]kernelThread{64: waiting, 65: idle, 200: waiting})
	if len(f.waiters) != 8 || f.n != 49 || f.max != 140*ms {
		t.Errorf("%d waiters, %d waits, the longest %d ns", len(f.waiters), f.n, f.max)
	}
	if want := uint64(60 * ms); f.sum < 49*110*ms || f.sum > 50*140*ms+want {
		t.Errorf("%d ns of waiting", f.sum)
	}
	var all futexes
	all.ended(kernelLockKey{Address: 0x7f00_0000_0000 + 4096*62, Tgid: 60, Tid: 62}, kernelLockValue{N: 3})
	all.ended(kernelLockKey{Address: 0x7f00_0000_0000 + 4096*62 + 512, Tgid: 60, Tid: 62}, kernelLockValue{N: 1})
	all.ended(kernelLockKey{Address: 0x7f00_0000_0000 + 4096*300, Tgid: 60, Tid: 300}, kernelLockValue{N: 1})
	all.oneLock(f, p.home)
	if len(all.all) != 3 || all.all[f.lockID] != f || all.all[lockID{60, 0x7f00_0000_0000 + 4096*62, false}] != nil {
		t.Errorf("what its waiters park on is one lock now: %+v", all.all)
	}
	h := p.holders()
	row := passedRow(lockRow(7, f, nil, said{}, said{}), h.most(), said{}, said{})
	if row.Kind != kindMutex || row.OwnerCall != "read" || row.OwnerFD == nil || *row.OwnerFD != 7 || row.OwnerBy != "waker" || row.Owner < 61 || row.OwnerComm != "worker" || row.OwnerStack != 12004 {
		t.Errorf("%+v", row)
	}
	if n := len(p.long(from)); n != 49 { // what became of the last is not known yet
		t.Errorf("%d waits of 100 ms and more are reported", n)
	}
}

// TestLeaderAndFollowers: who has the lock waits for work, and the others for their turn.
func TestLeaderAndFollowers(t *testing.T) {
	_, parking := sortHands(round(61, 8, 5000*ms, 6000*ms, 20*ms))
	p := parking[0]
	if p.turnsToWait() {
		t.Error("who reads is not a leader")
	}
	for i := range p.hands {
		p.hands[i].value.Hold.Nr = unix.SYS_EPOLL_PWAIT
	}
	if !p.turnsToWait() {
		t.Error("who waits in epoll is a leader")
	}
}

// TestHolderThatRuns: it let go in a function, and was in no wait for long.
func TestHolderThatRuns(t *testing.T) {
	p := passing{hands: round(61, 8, 0, 1000*ms, 20*ms)}
	for i := range p.hands {
		p.hands[i].value.Hold.Busy = ms
		if i%16 == 3 { // not each wake has a stack
			p.hands[i].value.WakerKstack, p.hands[i].value.WakerUstack = 21, 6
		}
	}
	all := p.holders()
	h := all.most()
	if h.call != "running" || !h.letGo || h.stack.thread != 6 || len(all.looks) != 1 {
		t.Errorf("%+v", all)
	}
}

func FuzzHands(f *testing.F) {
	var seed []byte
	for _, h := range round(1, 4, 0, 100*ms, 10*ms) {
		seed = binary.LittleEndian.AppendUint64(seed, h.key.At)
		seed = append(seed, byte(h.value.Hold.From), byte(h.key.Tid), byte(h.value.To), 0, 10, 0, 0, 0)
	}
	f.Add(seed)
	f.Fuzz(func(t *testing.T, raw []byte) {
		var hands []hand
		for ; len(raw) >= 16; raw = raw[16:] {
			at := binary.LittleEndian.Uint64(raw)
			h := passes(uint32(raw[8]), uint32(raw[9]), uint32(raw[10]), at-ms*uint64(raw[12]), at, at-ms*uint64(raw[13]))
			h.key.Lock = uint32(raw[11] & 1)
			hands = append(hands, h)
		}
		byWord, parking := sortHands(hands)
		n := 0
		for _, p := range byWord {
			n += len(p.hands)
		}
		for _, p := range parking {
			n += len(p.hands)
			p.isLock(0, 1000*ms)
			if w := p.waits(0, 1000*ms, nil); int(w.n) != len(p.hands) || len(w.waiters) > len(p.hands) {
				t.Errorf("%d waits of %d hands", w.n, len(p.hands))
			}
			h := p.holders()
			h.most()
		}
		if n > len(hands) {
			t.Errorf("%d hands of %d", n, len(hands))
		}
	})
}
