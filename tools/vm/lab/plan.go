package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"snag/lab"
)

// What a machine has that no incident asks otherwise for.
const (
	newest = "trixie"
	memory = 1024 // MiB
)

// boot is one machine, and the incidents that run in it.
type boot struct {
	suite   string
	nodes   int
	memory  int // MiB
	list    []lab.Incident
	modules []string
	tools   []string
}

// plan puts the incidents that need the same machine into one boot; modules only
// add up. suite, unless "", is taken for all.
func plan(list []lab.Incident, suite string) (boots []*boot) {
	for _, inc := range list {
		vm := lab.VM{}
		if inc.VM != nil {
			vm = *inc.VM
		}
		b := &boot{suite: vm.Suite, nodes: max(1, vm.Nodes), memory: vm.Memory}
		if b.suite == "" {
			b.suite = newest
		}
		if suite != "" {
			b.suite = suite
		}
		if b.memory == 0 {
			b.memory = memory
		}
		if i := slices.IndexFunc(boots, b.like); i >= 0 {
			b = boots[i]
		} else {
			boots = append(boots, b)
		}
		b.list = append(b.list, inc)
		b.modules = append(b.modules, vm.Modules...)
		for _, t := range inc.Needs {
			b.tools = append(b.tools, t.Command)
		}
	}
	for _, b := range boots {
		for _, t := range []lab.Tool{lab.IP, lab.TC, lab.NFT} {
			b.tools = append(b.tools, t.Command)
		}
		b.modules, b.tools = distinct(b.modules), distinct(b.tools)
	}
	return boots
}

func (b *boot) like(o *boot) bool {
	return b.suite == o.suite && b.nodes == o.nodes && b.memory == o.memory
}

func (b *boot) name() string {
	return fmt.Sprintf("%s-%dnodes-%dMiB", b.suite, b.nodes, b.memory)
}

// dir is where all of it is kept.
func (b *boot) dir() string { return filepath.Join(".cache/vm/lab", b.name()) }

func (b *boot) names() (out []string) {
	for _, inc := range b.list {
		out = append(out, inc.Name)
	}
	return out
}

// limit is how long the machine may run: emulated, an incident takes a minute until
// it is in full swing and snag find as long after the window; a variant that did not
// come out right runs twice, and the truth is looked at besides.
func (b *boot) limit(length time.Duration) time.Duration {
	variants := time.Duration(3 * len(b.list))
	return 3*time.Minute + variants*(2*length+3*time.Minute)
}

func distinct(words []string) []string {
	words = slices.Clone(words)
	slices.Sort(words)
	return slices.Compact(words)
}
