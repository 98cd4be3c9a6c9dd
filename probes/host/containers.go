package host

import (
	"cmp"
	"context"
	"path/filepath"
	"time"

	"snag/internal/containers"
	"snag/probes/probe"
	"snag/recording"
)

// namesEvery is how often the container runtimes are asked what their containers are called.
const namesEvery = time.Minute

// containerNames writes what containers and pods are called, which their control groups do not have.
type containerNames struct {
	env   *probe.Env
	asked time.Time
	came  chan []containers.Container
	known []recording.Fact
	told  map[string]string
}

func newContainerNames(env *probe.Env) *containerNames {
	return &containerNames{env: env, came: make(chan []containers.Container, 1), told: map[string]string{}}
}

// look takes what the runtimes answered and asks them again when it is time. The tick does not wait for them.
func (c *containerNames) look(now time.Time) {
	select {
	case found := <-c.came:
		c.known = ContainerFacts(found)
		c.write()
	default:
	}
	if now.Sub(c.asked) < namesEvery {
		return
	}
	c.asked = now
	root := filepath.Dir(c.env.Proc)
	go func() {
		found, _ := containers.List(context.Background(), root) // without a name it is called by its id
		select {
		case c.came <- found:
		default: // the last answer was not taken yet
		}
	}()
}

// again writes them all again, for a piece of a ring that begins.
func (c *containerNames) again() {
	clear(c.told)
	c.write()
}

func (c *containerNames) write() {
	for _, f := range c.known {
		if c.told[f.Name] != f.Value {
			c.told[f.Name] = f.Value
			f.T = c.env.Now()
			c.env.Sink.Append(f)
		}
	}
}

// ContainerFacts are the names of containers and of their pods.
func ContainerFacts(all []containers.Container) []recording.Fact {
	var out []recording.Fact
	pods := map[string]bool{}
	for _, c := range all {
		name := c.Name
		if c.Pod.Name != "" {
			name = c.Pod.String() + "/" + c.Name
		}
		out = append(out, recording.Fact{Name: recording.FactContainer + c.ID, Value: cmp.Or(name, c.ID[:12]), Source: c.From})
		if uid := c.Pod.UID; uid != "" && !pods[uid] {
			pods[uid] = true
			out = append(out, recording.Fact{Name: recording.FactPod + uid, Value: c.Pod.String(), Source: c.From})
		}
	}
	return out
}
