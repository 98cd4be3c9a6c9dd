package scene

import (
	"strings"
	"testing"

	"snag/recording"
	"snag/recording/rectest"
)

// A script is named by its own name, and nothing that follows it or that an option is set to is.
func TestScript(t *testing.T) {
	for _, c := range []struct{ comm, cmdline, want string }{
		{"python3", "python3 /srv/shop/app.py --password hunter2", "app.py"},
		{"python3.11", "/usr/bin/python3.11 -u -W ignore app.py", "app.py"},
		{"python3", "python3 -m http.server 8000", "-m http.server"},
		{"python3", "python3 -c print('hunter2')", ""},
		{"python3", "python3 -Ic secret", ""},
		{"python3", "python3 -Xdev app.py", "app.py"},
		{"gunicorn", "/usr/bin/python3 /usr/bin/gunicorn shop:app", ""},
		{"gunicorn", "gunicorn: worker [shop]", ""},
		{"app.py", "/usr/bin/python3 ./app.py", ""},
		{"node", "node --max-old-space-size=512 server.js", "server.js"},
		{"node", "node --token hunter2 --require ./trace.js dist/server.mjs", "server.mjs"},
		{"node", "node --token hunter2", ""},
		{"MainThread", "node /app/server.js", "server.js"},
		{"node", "node -e hunter2", ""},
		{"java", "java -Xmx1g -Dpassword=hunter2 -cp /a:/b org.apache.kafka.Kafka config/server.properties", "Kafka"},
		{"java", "java -jar /opt/shop.jar --db.password=hunter2", "shop.jar"},
		{"java", "java --add-opens java.base/java.lang=ALL-UNNAMED -m shop.server/com.shop.Main", "-m shop.server"},
		{"java", "java --something hunter2 Main", "Main"},
		{"ruby", "ruby -I lib bin/worker", "worker"},
		{"perl", "perl -ne hunter2", ""},
		{"php", "php -d memory_limit=1G -f queue.php", "queue.php"},
		{"php-fpm8.2", "php-fpm: pool www", ""},
		{"bash", "bash -euo pipefail /opt/backup.sh /data", "backup.sh"},
		{"php", "php -r hunter2", ""},
		{"java", "java -Dpassword=my hunter2 Main", ""},
		{"sh", "sh -c mysql -phunter2", ""},
		{"bash", "bash", ""},
		{"bash", "bash /dev/fd/3", ""},
		{"dotnet", "dotnet Shop.dll --urls http://*:80", "Shop.dll"},
		{"nginx", "nginx: master process /usr/sbin/nginx", ""},
		{"java", "java -cp " + strings.Repeat("x", 246) + " M", ""}, // cut
	} {
		if got := script(recording.Process{Comm: c.comm, Cmdline: c.cmdline}); got != c.want {
			t.Errorf("%s: %q, want %q", c.cmdline, got, c.want)
		}
	}
}

func TestPlace(t *testing.T) {
	id := strings.Repeat("3f2a9c1b0d4e5f60", 4)
	for path, want := range map[string]string{
		"/system.slice/nginx.service":                            "unit nginx",
		"/system.slice/php8.2-fpm.service/pool":                  "unit php8.2-fpm",
		"/system.slice/docker-" + id + ".scope":                  "container 3f2a9c1b0d4e",
		"/docker/" + id:                                          "container 3f2a9c1b0d4e",
		"/machine.slice/libpod-" + id + ".scope/container":       "container 3f2a9c1b0d4e",
		"/machine.slice/machine-build.scope/payload":             "machine build",
		"/lxc.payload.web1/system.slice/nginx.service":           "container web1",
		"/kubepods/burstable/pod8d2f41aa-0c1d-4b5e-9f3a-1/" + id: "pod 8d2f41aa",
		"/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod8d2f41aa_0c1d_4b5e.slice/cri-containerd-" + id + ".scope": "pod 8d2f41aa",
		"/user.slice/user-1000.slice/session-3.scope":             "",
		"/user.slice/user-1000.slice/user@1000.service/app.slice": "",
		"/init.scope": "",
		"/":           "",
	} {
		if got := (groupNames{}).placeOf(path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

// Where a runtime gave their names, containers and pods are called by them.
func TestContainersHaveTheirNames(t *testing.T) {
	id := strings.Repeat("3f2a9c1b0d4e5f60", 4)
	c, err := rectest.Parse([]byte(`
-- processes --
{"t":0,"pid":7,"comm":"nginx","cmdline":"nginx","cgroup":"/docker/` + id + `","state":"S"}
{"t":0,"pid":8,"comm":"java","cmdline":"java","cgroup":"/kubepods/pod8d2f41aa-0c1d/77aa","state":"S"}
-- facts --
{"t":0,"name":"cgroup.container.` + id + `","value":"web","source":"/run/docker.sock"}
{"t":0,"name":"cgroup.pod.8d2f41aa-0c1d","value":"shop/web-0","source":"/var/log/containers"}
`))
	if err != nil {
		t.Fatal(err)
	}
	s := Build(c.Recording)
	for pid, want := range map[int]string{7: "nginx[7] (container web)", 8: "java[8] (pod shop/web-0)"} {
		if got := s.Process(pid).Subject.Name; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A namespace has the name of the container that is in it, unless a person gave it one.
func TestNamespacesHaveTheirContainersNames(t *testing.T) {
	web, api, uuid := strings.Repeat("3f2a9c1b0d4e5f60", 4), strings.Repeat("77aa", 16), "0b9c2a1d-3e4f-5061-7283-94a5b6c7d8e9"
	c, err := rectest.Parse([]byte(`
-- processes --
{"t":0,"pid":1,"comm":"systemd","cmdline":"systemd","netns":1,"state":"S"}
{"t":0,"pid":7,"comm":"nginx","cmdline":"nginx","netns":2,"cgroup":"/docker/` + web + `","state":"S"}
{"t":0,"pid":70,"comm":"tcpdump","cmdline":"tcpdump","netns":2,"cgroup":"/user.slice/session-1.scope","state":"S"}
{"t":0,"pid":8,"comm":"java","cmdline":"java","netns":3,"cgroup":"/kubepods/pod8d2f41aa-0c1d/` + api + `","state":"S"}
{"t":0,"pid":9,"comm":"redis","cmdline":"redis","netns":4,"cgroup":"/docker/` + api + `","state":"S"}
{"t":0,"pid":10,"comm":"sh","cmdline":"sh","netns":5,"cgroup":"/docker/` + web + `","state":"S"}
{"t":0,"pid":11,"comm":"sh","cmdline":"sh","netns":5,"cgroup":"/docker/` + api + `","state":"S"}
{"t":0,"pid":12,"comm":"unbound","cmdline":"unbound","netns":6,"cgroup":"/system.slice/unbound.service","state":"S"}
{"t":0,"pid":13,"comm":"agent","cmdline":"agent","netns":7,"cgroup":"/docker/` + web + `","state":"S"}
{"t":0,"pid":14,"comm":"a","cmdline":"a","netns":7,"cgroup":"/system.slice/a.service","state":"S"}
{"t":0,"pid":15,"comm":"b","cmdline":"b","netns":7,"cgroup":"/system.slice/b.service","state":"S"}
-- netns --
{"t":0,"id":1,"own":true}
{"t":0,"id":2,"name":"1c2d3e4f5061"}
{"t":0,"id":3,"name":"cni-` + uuid + `"}
{"t":0,"id":4,"name":"cache"}
{"t":0,"id":5,"name":"of sh[10]"}
{"t":0,"id":6,"name":"of unbound[12]"}
{"t":0,"id":7,"name":"of agent[13]"}
-- facts --
{"t":0,"name":"cgroup.container.` + web + `","value":"web","source":"/run/docker.sock"}
{"t":0,"name":"cgroup.pod.8d2f41aa-0c1d","value":"shop/web-0","source":"/var/log/containers"}
`))
	if err != nil {
		t.Fatal(err)
	}
	s := Build(c.Recording)
	for id, want := range map[uint64]string{
		1: "", 2: "of container web", 3: "of pod shop/web-0", 4: "cache", 5: "of sh[10]", 6: "of unbound[12]", 7: "of agent[13]",
	} {
		if got := s.NetnsName(id); got != want {
			t.Errorf("namespace %d is %q, want %q", id, got, want)
		}
	}
	for sub, want := range map[recording.Subject]string{
		{Kind: recording.KindProcess, PID: 7, Comm: "nginx", Netns: 2}:    "nginx[7] (container web)",
		{Kind: recording.KindProcess, PID: 70, Comm: "tcpdump", Netns: 2}: "tcpdump[70] (netns of container web)",
		{Kind: recording.KindInterface, Device: "eth0", Netns: 2}:         "eth0 (netns of container web)",
		{Kind: recording.KindNetns, Netns: 3}:                             "netns of pod shop/web-0",
		{Kind: recording.KindProcess, PID: 9, Comm: "redis", Netns: 4}:    "redis[9] (container 77aa77aa77aa, netns cache)",
		{Kind: recording.KindProcess, PID: 12, Comm: "unbound", Netns: 6}: "unbound[12] (netns of unbound[12])",
	} {
		if got := s.Name(sub); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestNamesSayScriptAndPlace(t *testing.T) {
	c, err := rectest.Parse([]byte(`
-- processes --
{"t":0,"pid":7,"comm":"python3","cmdline":"python3 app.py --key x","cgroup":"/system.slice/shop.service","state":"S"}
{"t":0,"pid":8,"comm":"python3","cmdline":"python3 job.py","cgroup":"/system.slice/shop.service","state":"S"}
{"t":0,"pid":9,"comm":"python3","cmdline":"python3 app.py","cgroup":"/system.slice/shop.service","state":"S"}
{"t":0,"pid":10,"comm":"python3","cmdline":"python3 app.py","cgroup":"/system.slice/other.service","state":"S"}
{"t":0,"pid":11,"comm":"nginx","cmdline":"nginx: worker process","cgroup":"/system.slice/nginx.service","state":"S"}
`))
	if err != nil {
		t.Fatal(err)
	}
	s := Build(c.Recording)
	for pid, want := range map[int]string{7: "python3 app.py[7] (unit shop)", 10: "python3 app.py[10] (unit other)", 11: "nginx[11]"} {
		if got := s.Process(pid).Subject.Name; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for pid, want := range map[int]bool{9: true, 8: false, 10: false, 11: false} {
		if got := s.Process(7).Alike() == s.Process(pid).Alike(); got != want {
			t.Errorf("7 and %d alike: %v", pid, got)
		}
	}
}
