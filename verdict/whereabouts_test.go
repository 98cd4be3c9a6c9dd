package verdict

import (
	"testing"

	"snag/recording"
	"snag/recording/rectest"
	"snag/scene"
)

// A number is a process of one host: where it is is looked up there.
func TestWhereaboutsAreOfTheSubjectsHost(t *testing.T) {
	v := &Verdict{}
	for name, unit := range map[string]string{"edge-1": "nginx", "edge-2": "redis"} {
		c, err := rectest.Parse([]byte(`
-- processes --
{"t":0,"pid":7,"comm":"x","cmdline":"x","cgroup":"/system.slice/` + unit + `.service","state":"S"}
`))
		if err != nil {
			t.Fatal(err)
		}
		c.Recording.Manifest.Host = name
		v.parts = append(v.parts, &host{r: c.Recording, s: scene.Build(c.Recording)})
		v.Scene = v.parts[0].s
	}
	for host, want := range map[string]string{"edge-1": "nginx", "edge-2": "redis", "edge-3": ""} {
		if got := v.Whereabouts(recording.Subject{Kind: recording.KindProcess, PID: 7, Host: host}); got != (scene.Whereabouts{Unit: want}) {
			t.Errorf("%s: %+v, want the unit %q", host, got, want)
		}
	}
	one := &Verdict{Scene: v.parts[0].s}
	if got := one.Whereabouts(recording.Subject{Kind: recording.KindProcess, PID: 7}); got.Unit == "" {
		t.Error("of one host nothing is known")
	}
}
