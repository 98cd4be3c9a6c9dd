package runtimepause

import (
	"fmt"
	"strconv"
	"time"

	"snag/lab"
)

// The other collectors of a JVM, each as it stops a server or lets its threads wait.
var (
	Parallel = of(collector{
		name: "parallel", title: "its parallel collector stops the world for half a second and more, again and again",
		flags: []string{"-XX:+UseParallelGC", "-Xmn8m"},
		loads: [3]Load{{2_000_000, 1_000_000, 58, 0}, {3_000_000, 2_000_000, 84, 0}, {5_000_000, 4_000_000, 132, 0}},
		trap:  inspected,
	})
	G1 = of(collector{
		name: "g1", title: "its collector (G1) finds no room and collects the whole heap with all threads stopped, again and again",
		flags: []string{"-XX:+UseG1GC"},
		loads: [3]Load{{12_000_000, 4_000_000, 270, 0}, {16_000_000, 5_000_000, 360, 0}, {20_000_000, 9_000_000, 440, 0}},
		trap:  inspected,
	})
	ZGC = of(collector{
		name: "zgc", title: "its collector (ZGC) stops nobody for a millisecond, and its threads wait for memory",
		flags: []string{"-XX:+UseZGC"},
		loads: [3]Load{{9_000_000, 500_000, 290, 512 << 10}, {9_000_000, 1_000_000, 290, 1 << 20}, {12_000_000, 1_000_000, 400, 2 << 20}},
		trap:  halted,
		want:  "runtime-pause", // ZGC counts nothing of its heap
	})
	Shenandoah = of(collector{
		name: "shenandoah", title: "its collector (Shenandoah) does not keep up and goes on with all threads stopped, again and again",
		flags: []string{"-XX:+UseShenandoahGC"},
		loads: [3]Load{{12_000_000, 3_000_000, 290, 256 << 10}, {12_000_000, 4_000_000, 290, 512 << 10}, {16_000_000, 4_000_000, 385, 512 << 10}},
		trap:  halted,
	})
)

// collector is what an incident has of its own.
type collector struct {
	name, title string
	flags       []string
	loads       [3]Load // barely, plain, severe
	trap        trap
	want        string // "": what Incident wants
}

// trap is a distractor: what an operator or a script does to a server that has room.
type trap struct {
	says string
	want lab.Want
	do   func(s *lab.Stage, server *lab.Process)
	live int // entries that the server keeps, so that to look at them takes long
}

// inspected: an operator counts the objects of the live server, for which it stands
// still. That is a pause, and who asked for it is what must be said.
var inspected = trap{
	says: "the same server with room in its heap, of which an operator asks a histogram (jcmd GC.class_histogram) again and again",
	want: lab.Want{Suspect: "runtime-pause", Subject: `java`},
	live: 6_000_000,
	do: func(s *lab.Stage, server *lab.Process) {
		s.Run("", "jcmd-loop", []string{"sh", "-c", fmt.Sprintf("for i in $(seq 90); do jcmd %d GC.class_histogram >/dev/null; echo asked; sleep 1; done", server.PID)})
		s.AwaitPrinted(s.ProcessOf("jcmd-loop"), "asked")
	},
}

// halted: a script stops the whole process. The gaps are the same, and no pause is.
var halted = trap{
	says: "the same server with room in its heap, which a script stops (SIGSTOP) for as long, again and again",
	want: lab.Want{Suspect: "process-stopped", Subject: `java`},
	do: func(s *lab.Stage, server *lab.Process) {
		s.Actor("", "backup-script", "stopper", []string{"--pid", strconv.Itoa(server.PID), "--stop", "2500ms", "--run", "1s"})
		s.AwaitState(server, 'T')
	},
}

func of(c collector) lab.Incident {
	want := Incident.Want
	if c.want != "" {
		want.Suspect, want.Said = c.want, ""
	}
	want.Also = []string{"cpu-saturated"} // a collector that does not get done takes all CPUs
	return lab.Incident{
		Name:           "runtime-pause-" + c.name,
		Title:          "a Java server's heap is nearly full: " + c.title,
		Long:           true,
		Needs:          Incident.Needs,
		Want:           want,
		Distractor:     c.trap.says,
		DistractorWant: c.trap.want,
		Start: func(s *lab.Stage, v lab.Variant) error {
			l := lab.At(s, c.loads[0], c.loads[1], c.loads[2])
			if v == lab.Distractor && c.trap.live > 0 {
				l.Entries, l.Rate, l.Heap = 80*c.trap.live, l.Rate/100, 1024 // serve divides by 80
			}
			server := serve(s, v, l, c.flags...)
			if v == lab.Distractor {
				s.Pause(time.Second)
				c.trap.do(s, server)
			}
			return s.Err()
		},
	}
}
