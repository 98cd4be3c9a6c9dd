package profile

import (
	"encoding/json"
	"fmt"
	"testing"
)

func TestADocumentIsByProcessAndBounded(t *testing.T) {
	t.Parallel()
	main, spin, read := Frame{Function: "main", Object: "/app"}, Frame{Function: "spin", Object: "/app"}, Frame{Function: "vfs_read", Kernel: true}
	p := &Profile{Kind: OnCPU, Unit: Seconds, Seconds: 10, CPUs: 2, Hz: 99, Samples: []Sample{
		{PID: 7, TID: 7, Process: "a", Thread: "a", Frames: []Frame{spin, main}, N: 30, Value: 3},
		{PID: 8, TID: 8, Process: "b", Thread: "b", Frames: []Frame{read, main}, Kernel: 1, N: 50, Value: 5},
		{PID: 7, TID: 9, Process: "a", Thread: "worker", Frames: []Frame{main}, N: 40, Value: 4},
	}}
	for i := range mostProcesses {
		p.Samples = append(p.Samples, Sample{PID: 100 + i, TID: 100 + i, Process: fmt.Sprint("small", i), N: 1, Value: 0.1})
	}
	d := p.Document("edge-7", 1)
	if d.Host != "edge-7" || d.Event != nil || *d.CPUs != 2 || d.Samples != 140 || len(d.Processes) != mostProcesses || d.ProcessesLeft != 2 {
		t.Errorf("%+v", d)
	}
	if d.Total < 13.9 || d.Total > 14.1 || *d.NoStack < 0.14 || *d.NoStack > 0.15 {
		t.Errorf("%v, no stack %v", d.Total, *d.NoStack)
	}
	a := d.Processes[0]
	if a.Name != "a" || *a.PID != 7 || a.Total != 7 || a.Samples != 70 || len(a.Functions) != 1 || a.FunctionsLeft != 1 {
		t.Fatalf("%+v", a)
	}
	if f := a.Functions[0]; f.Function != "main" || f.Self != 4 || f.Total != 7 || *f.Object != "/app" || f.WaitsFor != nil {
		t.Errorf("%+v", f)
	}
	if b := d.Processes[1]; b.Name != "b" || *b.Functions[0].Object != "kernel" || b.Functions[0].Self != 5 {
		t.Errorf("%+v", b)
	}
}

// What was not measured is null, and lists are never null.
func TestADocumentOfNothing(t *testing.T) {
	t.Parallel()
	b, err := json.Marshal((&Profile{Kind: OffCPU, Unit: Seconds}).Document("", 20))
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"event", "cpus", "hz", "frames_named", "cut", "no_stack", "innermost_nameless"} {
		if v, ok := got[name]; !ok || v != nil {
			t.Errorf("%s: %v", name, v)
		}
	}
	for _, name := range []string{"processes", "doubts"} {
		if l, ok := got[name].([]any); !ok || len(l) != 0 {
			t.Errorf("%s: %v", name, got[name])
		}
	}
}
