package host

import (
	"testing"

	"snag/recording"
)

// machineQueues stands for what the machine's counters say.
type machineQueues struct{ cpu, disk bool }

func (q machineQueues) crowded() bool { return q.cpu }
func (q machineQueues) stuck() bool   { return q.disk }

// burner is a process without sockets that used so many ticks.
func burner(ticks string) map[string]string {
	return map[string]string{
		"proc/95/stat":   "95 (burner) R 1 95 95 0 -1 4194560 1 0 0 0 " + ticks + " 0 0 0 20 0 4 0 100 1 1",
		"proc/95/cgroup": "0::/batch.slice\n",
		"proc/95/status": "Name:\tburner\nVmRSS:\t 4 kB\nCpus_allowed_list:\t0\n",
		"proc/95/io":     "read_bytes: 0\nwrite_bytes: 0\n",
	}
}

func TestWhoUsesTheMachineHasRowsFromBefore(t *testing.T) {
	p, env, sink := copied(t, burner("100"))
	p.tick(0, false)
	if lastRow(sink.Recording(), 95) != nil {
		t.Fatal("a process that did nothing yet has a row")
	}
	for name, content := range burner("900") {
		put(t, env.Proc+"/../"+name, content)
	}
	p.tick(0, true)
	var rows []recording.Process
	for _, row := range sink.Recording().Processes {
		if row.PID == 95 {
			rows = append(rows, row)
		}
	}
	if len(rows) != 2 || rows[0].CPU != 1 || rows[1].CPU != 9 || rows[0].T >= rows[1].T || rows[1].CPUs != "0" || rows[0].Cgroup != "/batch.slice" {
		t.Errorf("rows %+v", rows)
	}
}

// A process with sockets is watched when it waits for what the machine lacks.
func TestWhoWaitsForTheMachineIsWatched(t *testing.T) {
	stat := func(state, faults, cpu string) string {
		return "812 (nginx) " + state + " 1 812 812 0 -1 4194560 1 0 " + faults + " 0 " + cpu + " 50 0 0 20 0 4 0 100 1 1"
	}
	for name, c := range map[string]struct {
		queues machineQueues
		later  []string
		io     string
		want   bool
	}{
		"waits for a disk, twice":    {later: []string{stat("D", "0", "250"), stat("D", "0", "250")}, want: true},
		"waits for a disk, once":     {later: []string{stat("D", "0", "250"), stat("S", "0", "250")}},
		"faults":                     {later: []string{stat("S", "900000", "250")}, want: true},
		"faults once":                {later: []string{stat("S", "0", "250")}},
		"runs in a queue":            {queues: machineQueues{cpu: true}, later: []string{stat("R", "0", "260")}, want: true},
		"sleeps beside a queue":      {queues: machineQueues{cpu: true}, later: []string{stat("S", "0", "250")}},
		"runs on an idle machine":    {later: []string{stat("R", "0", "260")}},
		"writes while disks stand":   {queues: machineQueues{disk: true}, later: []string{stat("S", "0", "250"), stat("S", "0", "250")}, io: "8192", want: true},
		"is quiet while disks stand": {queues: machineQueues{disk: true}, later: []string{stat("S", "0", "250"), stat("S", "0", "250")}, io: "0"},
	} {
		t.Run(name, func(t *testing.T) {
			files := nginx("S")
			files["proc/812/io"] = "read_bytes: 0\nwrite_bytes: 0\n"
			p, env, _ := copied(t, files)
			p.processes.queues = c.queues
			p.tick(0, false)
			p.tick(0, false)
			for i, later := range c.later {
				put(t, env.Proc+"/812/stat", later)
				if i > 0 && c.io != "" {
					put(t, env.Proc+"/812/io", "read_bytes: 0\nwrite_bytes: "+c.io+"\n")
				}
				p.tick(0, false)
			}
			if got := env.Watch.Has(812); got != c.want {
				t.Errorf("watched: %v, want %v", got, c.want)
			}
		})
	}
}

func TestWaitingIsAShareOfTheSecond(t *testing.T) {
	m := machine{cpus: 2, runnable: 4, waitingForDisk: 1}
	if !m.crowded() || !m.stuck() {
		t.Error("without pressure, four tasks for two CPUs are a queue, and a blocked one is blocked")
	}
	m.waited.add(1e9, 5)
	m.waited.add(2e9, 5.1)
	m.blocked.add(1e9, 1)
	m.blocked.add(2e9, 1.5)
	if m.crowded() || !m.stuck() {
		t.Errorf("waited %+v blocked %+v", m.waited, m.blocked)
	}
}
