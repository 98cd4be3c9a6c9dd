package report

import (
	"encoding/json"
	"strings"
	"testing"

	"snag/recording"
	"snag/recording/rectest"
	"snag/scene"
	"snag/verdict"
)

// Programs read where a subject is as the flags take it, without taking its name apart.
func TestSubjectsHaveTheirContainers(t *testing.T) {
	web, app := strings.Repeat("3f2a9c1b0d4e5f60", 4), strings.Repeat("77aa", 16)
	c, err := rectest.Parse([]byte(`
-- processes --
{"t":0,"pid":7,"comm":"nginx","cmdline":"nginx","cgroup":"/docker/` + web + `","state":"S"}
{"t":0,"pid":8,"comm":"java","cmdline":"java","cgroup":"/kubepods/pod8d2f41aa-0c1d/` + app + `","state":"S"}
{"t":0,"pid":9,"comm":"redis","cmdline":"redis","cgroup":"/docker/` + app + `","state":"S"}
{"t":0,"pid":10,"comm":"php-fpm","cmdline":"php-fpm","cgroup":"/system.slice/php-fpm.service","state":"S"}
{"t":0,"pid":11,"comm":"sh","cmdline":"sh","cgroup":"/lxc.payload.mail/init.scope","state":"S"}
{"t":0,"pid":12,"comm":"bash","cmdline":"bash","cgroup":"/user.slice/session-1.scope","state":"S"}
-- facts --
{"t":0,"name":"cgroup.container.` + web + `","value":"web","source":"/run/docker.sock"}
{"t":0,"name":"cgroup.container.` + app + `","value":"shop/web-0/app","source":"/var/log/containers"}
{"t":0,"name":"cgroup.pod.8d2f41aa-0c1d","value":"shop/web-0","source":"/var/log/containers"}
`))
	if err != nil {
		t.Fatal(err)
	}
	v := &verdict.Verdict{Recording: c.Recording, Scene: scene.Build(c.Recording)}
	for want, sub := range map[string]recording.Subject{
		`{"kind":"process","pid":7,"container":"web"}`:                                      {Kind: recording.KindProcess, PID: 7},
		`{"kind":"thread","pid":8,"tid":9,"container":"shop/web-0/app","pod":"shop/web-0"}`: {Kind: recording.KindThread, PID: 8, TID: 9},
		`{"kind":"socket","pid":10,"local":"10.0.0.1:80","unit":"php-fpm"}`:                 {Kind: recording.KindSocket, PID: 10, Local: "10.0.0.1:80"},
		`{"kind":"process","pid":11,"container":"mail"}`:                                    {Kind: recording.KindProcess, PID: 11},
		`{"kind":"process","pid":12}`:                                                       {Kind: recording.KindProcess, PID: 12},
		`{"kind":"disk","device":"sda"}`:                                                    {Kind: recording.KindDisk, Device: "sda"},
		`{"kind":"cgroup","cgroup":"/docker/` + web + `","container":"web"}`:                {Kind: recording.KindCgroup, Cgroup: "/docker/" + web},
	} {
		got, err := json.Marshal(subjectRef(v, sub))
		if err != nil || string(got) != want {
			t.Errorf("%s, want %s (%v)", got, want, err)
		}
	}
}
