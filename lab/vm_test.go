package lab_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"snag/lab"
	"snag/lab/labtest"
)

func TestAble(t *testing.T) {
	for _, c := range []struct {
		name string
		vm   *lab.VM
		want string // in the error; "" none
	}{
		{"asks for nothing", nil, ""},
		{"a command that works", &lab.VM{Able: lab.AbleTo("ip link set lo up")}, ""},
		{"a queue that no kernel has", &lab.VM{Able: lab.AbleTo("tc qdisc add dev lo root nosuchqueue")}, "nosuchqueue"},
		{"more nodes than any", &lab.VM{Nodes: 4096}, "NUMA nodes, not 4096"},
		{"nobody outside", &lab.VM{Paused: true}, "nobody outside it can stop it"},
		{"says no by itself", &lab.VM{Able: func(*lab.Stage) error { return errors.New("too hot") }}, "too hot"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.vm != nil && c.vm.Paused && os.Getenv(lab.PauserVariable) != "" {
				t.Skip("this machine can be paused")
			}
			err := labtest.Stage(t).Able(lab.Incident{Name: "demo", VM: c.vm})
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "make lab-vm") || strings.Contains(err.Error(), "\n")):
				t.Errorf("%v; want one line with %q and what to run", err, c.want)
			}
		})
	}
}
