package lab

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// PauserVariable names a file in the environment: what is written to it stops the
// whole machine for some seconds from outside (tools/vm/lab).
const PauserVariable = "SNAG_LAB_PAUSER"

// Able says why this host can't have the incident; nil when it can.
func (s *Stage) Able(inc Incident) error {
	if inc.VM == nil {
		return nil
	}
	err := s.able(inc.VM)
	if err != nil {
		return fmt.Errorf("lab: %s can't be made on this machine: %w; run it in a virtual machine: make lab-vm", inc.Name, err)
	}
	return nil
}

func (s *Stage) able(vm *VM) error {
	if vm.Paused && os.Getenv(PauserVariable) == "" {
		return errors.New("nobody outside it can stop it for a while")
	}
	if vm.Nodes > 1 {
		nodes, err := filepath.Glob("/sys/devices/system/node/node[0-9]*")
		if err != nil || len(nodes) < vm.Nodes {
			return fmt.Errorf("it has %d NUMA nodes, not %d", max(1, len(nodes)), vm.Nodes)
		}
	}
	if has, err := memory("/proc/meminfo"); vm.Memory != 0 && (err != nil || has > 2*vm.Memory) {
		return errors.Join(fmt.Errorf("it has %d MiB of memory, and the incident fills %d", has, vm.Memory), err)
	}
	if vm.Able != nil {
		return vm.Able(s)
	}
	return nil
}

// memory is the machine's, in MiB.
func memory(path string) (int, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, fmt.Errorf("how much memory there is: %w", err)
	}
	var kib int
	if _, err := fmt.Sscanf(string(text), "MemTotal: %d kB", &kib); err != nil {
		return 0, fmt.Errorf("how much memory there is: %s: %w", path, err)
	}
	return kib / 1024, nil
}

// AbleTo tries commands in a namespace that is made for them, for VM.Able:
//
//	lab.AbleTo("tc qdisc add dev lo root fq")
func AbleTo(commands ...string) func(*Stage) error {
	return func(s *Stage) error {
		ns := s.Netns("able")
		if err := s.Err(); err != nil {
			return err
		}
		for _, c := range commands {
			if _, err := s.Output(ns, strings.Fields(c)...); err != nil {
				return errors.New(strings.TrimPrefix(strings.Join(strings.Fields(err.Error()), " "), "lab: "))
			}
		}
		return nil
	}
}

// pauseAfter asks whoever is outside to stop the machine once d has passed.
func (s *Stage) pauseAfter(d time.Duration) {
	path := os.Getenv(PauserVariable)
	go func() {
		select {
		case <-s.ctx.Done():
		case <-time.After(d):
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err == nil {
				_, err = f.WriteString("pause\n")
				err = errors.Join(err, f.Close())
			}
			if err != nil {
				s.fail(fmt.Errorf("lab: ask for a pause of the machine: %w", err))
			}
		}
	}()
}
