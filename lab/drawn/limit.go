package drawn

import (
	"snag/lab"
)

// SwitchQuota makes the fault of that name a CPU quota: the group may use that share of
// one CPU.
func (b *Bench) SwitchQuota(name string, c *lab.Cgroup, share float64) {
	b.switchLimit(name, func(on bool) error {
		if !on {
			return c.Limit(0)
		}
		return c.Limit(share)
	})
	if b.Fault.Name == name {
		b.Amount("a quota of %.1f %% of one CPU", 100*share)
	}
}

// SwitchWrites makes the fault of that name a slow disk: the group (Stage.SlowDisk) may
// write so many bytes per second.
func (b *Bench) SwitchWrites(name string, c *lab.Cgroup, bytes int) {
	b.switchLimit(name, func(on bool) error {
		if !on {
			return c.LimitWrites(0)
		}
		return c.LimitWrites(bytes)
	})
	if b.Fault.Name == name {
		b.Amount("a disk that writes %d kB per second", bytes/1000)
	}
}

func (b *Bench) switchLimit(name string, set func(on bool) error) {
	to := func(on bool) func() {
		return func() {
			if err := set(on); err != nil {
				b.Fail(name, err)
			}
		}
	}
	b.Switch(name, to(true), to(false))
}
