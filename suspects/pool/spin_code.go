package pool

import (
	"fmt"

	"snag/internal/units"
	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// spinLoops is what the machine code says at the addresses that the samples of a
// process fell on.
type spinLoops struct {
	waits    float64 // samples in loops that only another thread can end
	tries    float64 // in those with an atomic operation that may do work besides
	read     float64 // whose code was read
	all      float64 // of the process, in the kernel too
	kernel   float64 // of them, in the kernel
	most     recording.Loop
	in       map[string]float64 // samples in loops that wait, by function
	threads  int                // most in a second
	together int                // seconds with two threads or more
	seconds  int                // in which the process was sampled
	each     float64            // s of CPU time that a sample stands for
}

const (
	// readShare of its samples outside of the kernel: with less of its code read, what is left may be it.
	readShare = 0.8
	// noLoop: less than this in loops that may wait is no spinning.
	noLoop = 0.05
)

// spinLoopsOf adds up the loops of a process; nil where its code was not read or there
// are too few samples.
func spinLoopsOf(p *scene.Process, r *recording.Recording) *spinLoops {
	c := &spinLoops{in: map[string]float64{}}
	sampled, inKernel := map[recording.Time]bool{}, map[int]bool{}
	for _, s := range r.Stacks {
		inKernel[s.ID] = s.Kernel != 0
	}
	for _, row := range r.Ran() {
		if row.PID != p.Subject.PID {
			continue
		}
		c.all += float64(row.N)
		if inKernel[row.Stack] {
			c.kernel += float64(row.N)
		}
		if row.Hz > 0 {
			c.each = 1 / row.Hz
		}
		sampled[row.T] = true
	}
	threads := map[recording.Time]int{}
	by := map[recording.Loop]float64{} // without its time and counts
	for _, row := range r.Loops {
		if row.PID != p.Subject.PID {
			continue
		}
		n := float64(row.N)
		c.read += n
		switch {
		case row.Spins():
			c.waits += n
			c.in[row.Function] += n
			threads[row.T] += row.Threads // a thread in two loops counts twice: it is there
			at := row
			at.T, at.N, at.Threads, at.Comm = 0, 0, 0, ""
			by[at] += n
			if by[at] > by[c.most] {
				c.most = at
			}
		case row.Kind == recording.LoopTries:
			c.tries += n
		}
	}
	for _, n := range threads {
		c.threads = max(c.threads, n)
		if n >= fewSpinners {
			c.together++
		}
	}
	c.seconds = len(sampled)
	if c.read == 0 || c.all < measure.FewSamples {
		return nil
	}
	return c
}

// share of all samples that were in loops which only another thread can end.
func (c *spinLoops) share() float64 { return c.waits / c.all }

// function is the one in which most samples were in loops that wait.
func (c *spinLoops) function() (string, float64) {
	name, n := measure.Greatest(c.in)
	return name, n / c.all
}

// leaf is that function for who has nothing but the code.
func (c *spinLoops) leaf(function string) *hotLeaf {
	n := c.in[function]
	return &hotLeaf{function: function, spins: true, samples: n, all: c.all, named: c.all, threads: c.threads, together: c.together, seconds: c.seconds, cpu: n * c.each}
}

// evidence is what the code says; known: the hot function is known to spin by its name.
func (c *spinLoops) evidence(sp spinners, cpus int, known bool) (suspect.Evidence, bool) {
	share := c.waits / c.all
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: share, Unit: "share", Source: source.Of("the machine code at the sampled addresses (perf annotate)"), Origin: "samples"}
	switch {
	case share < noLoop && known:
		return e, false // by its name it spins, in a way that can't be read
	case c.waits+c.tries < noLoop*c.all && c.read >= readShare*(c.all-c.kernel):
		e.Side, e.Grade = suspect.Against, suspect.Decisive
		e.Text = fmt.Sprintf("the code at %s of its %s samples was read (%s were in the kernel): %s in a loop that only waits for another thread, the others do work", units.Count(c.read), units.Count(c.all), units.Count(c.kernel), ofWhich(c.waits))
		return e, true
	case share < spreadShare:
		return e, false
	}
	e.Text = fmt.Sprintf("%s of %s samples of it (%.0f %%) were in loops that only another thread can end, most in one of %d bytes in %s: %s; two threads or more in %d of %s seconds",
		units.Count(c.waits), units.Count(c.all), 100*share, c.most.Bytes, c.most.Function, c.most.Code, c.together, units.Count(float64(c.seconds)))
	several := 2*c.together >= c.seconds
	switch {
	case several && sp.threads > cpus && share >= jammedShare:
		e.Grade = suspect.Decisive // no work has such code, and most of them wait for one that has no CPU
	case several && (sp.threads > cpus && share >= spinShare || share >= jammedShare):
		e.Grade = suspect.Strong
	}
	return e, true
}

func ofWhich(n float64) string {
	if n == 0 {
		return "none was"
	}
	return units.Count(n) + " were"
}

// spinCalls let a waiting thread sleep.
func spinCalls(sub recording.Subject, threads int) []suspect.Call {
	return []suspect.Call{{Who: suspect.WhoseCall(sub), Do: fmt.Sprintf("pthread_mutex_t of type PTHREAD_MUTEX_ADAPTIVE_NP, or a futex wait after some hundred turns, in place of the loop; no more than %d threads at it", threads),
		Why: "threads that spin take the CPU from the one that holds the lock"}}
}
