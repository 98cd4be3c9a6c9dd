// Package tomcat draws incidents of a servlet in Tomcat, which asks an upstream for each
// answer.
package tomcat

import (
	_ "embed"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"snag/lab"
	"snag/lab/drawn"
	"snag/lab/pyclient"
	"snag/lab/real/backend"
)

//go:embed Shop.java
var servlet string

//go:embed server.xml
var serverXML string

//go:embed web.xml
var webXML string

const (
	home = "/usr/share/tomcat10"
	jars = "/usr/share/java/tomcat10-servlet-api.jar"
)

// Family is Tomcat.
var Family = drawn.Family{
	Name: "tomcat", Kind: drawn.JVM, Origin: drawn.Real, Software: []string{"Tomcat"},
	Needs: []lab.Tool{lab.IP, {Command: "javac", Package: "default-jdk-headless"}, {Command: home + "/bin/catalina.sh", Package: "tomcat10-common"}},
	Faults: []drawn.Fault{
		{Name: "few-threads", Suspects: []string{"worker-queue"}, Subject: `java|:8080`, Account: "in line", Whole: true},
		{Name: "synchronized-call", Suspects: []string{"lock-convoy"}, Subject: `java|:8080|Shop`, Also: []string{"worker-queue"}, Account: "lock"},
		{Name: "heap-full", Suspects: []string{"heap-full", "runtime-pause"}, Subject: `java|:8080`, Also: []string{"cpu-saturated"}, Account: "pause"},
		{Name: "slow-upstream", Suspects: []string{"slow-dependency"}, Subject: backend.Subject, Also: []string{"worker-queue"}, Account: "call"},
		{Name: "few-connections", Suspects: []string{"listen-overflow", "connection-limit"}, Subject: `java|:8080`, Also: []string{"worker-queue"}, Account: "accept queue", Whole: true},
	},
	Build: build,
}

func build(b *drawn.Bench) {
	net := b.Net()
	busy := b.LogUniform("busy threads", 0.5, 12)
	l := b.LoadOf(400)
	answer := time.Duration(min(400e6, max(2e6, busy/l.Rate*1e9)))
	busy = l.Rate * (answer + 3*time.Millisecond).Seconds()
	b.Values["answers take"] = answer.String()
	l = backend.Load(b, net, 400, answer, 1)
	l.Fresh = b.Chance("a connection for each request", 0.3)
	slow := min(3*time.Second, time.Duration(float64(answer)*b.LogUniform("upstream gets slower", 2.5, 40)))
	up := backend.Start(b, net.Server, answer, "--slow", slow.String())
	threads, accept, conns := 10+int(math.Ceil(4*busy)), 100, 8192
	few := max(1, int(busy*b.Uniform("threads for the busy ones", 0.3, 0.95)))
	backlog := b.Int("small accept count", 1, 8)
	switch {
	case b.Built("few-threads"):
		threads = few
		b.Amount("%d threads where %.1f are busy on average", threads, busy)
	case b.Built("few-connections"):
		accept, conns = backlog, max(1, min(l.Conns/2, 2+few))
		b.Amount("%d connections and %d in the backlog, of %d clients", conns, accept, l.Conns)
	case b.Fault.Name == "slow-upstream":
		b.Amount("the upstream takes %v, not %v", slow, answer)
	case b.Fault.Name == "synchronized-call":
		b.Amount("a lock is held for %v in each of %.0f requests per second", answer, l.Rate)
	}
	heap, fill := b.Int("MiB of heap", 48, 200), b.Uniform("share of the heap that the cache fills", 0.84, 0.95)
	if b.Fault.Name == "heap-full" {
		b.Amount("a cache fills %.0f %% of a heap of %d MiB", 100*fill, heap)
	}
	flag := backend.NewFlag(b)
	b.Switch("slow-upstream", up.Toggle, up.Toggle)
	b.Switch("synchronized-call", flag.On, flag.Off)
	b.Switch("heap-full", flag.On, flag.Off)
	base := deploy(b, fmt.Sprintf(serverXML, net.Addr, threads, accept, conns))
	gc := drawn.Pick(b.Draw, "collector", "-XX:+UseSerialGC", "-XX:+UseParallelGC", "-XX:+UseG1GC")
	b.Run(net.Server, "tomcat", []string{"java", gc, fmt.Sprintf("-Xmx%dm", heap), "-Xms32m", "-XX:TieredStopAtLevel=1",
		"-cp", home + "/bin/bootstrap.jar:" + home + "/bin/tomcat-juli.jar", "-Dcatalina.home=" + home, "-Dcatalina.base=" + base,
		"org.apache.catalina.startup.Bootstrap", "start"}, lab.Env("UPSTREAM="+up.Addr), lab.Env("FLAG="+flag.Path), lab.Env("FAULT="+b.Fault.Name), lab.Env(fmt.Sprintf("FILL=%.2f", fill)))
	b.Await("Tomcat to listen", time.Minute, b.Listens(net.Server, ":8080"))
	warmUp(b, net)
	pyclient.Start(b, net.Client, "shop-client", "http", net.At(8080), l)
}

// warmUp has Tomcat answer requests for 2 s, so that its code is compiled before the clients
// come: the queue of a cold start is not the incident.
func warmUp(b *drawn.Bench, net drawn.Net) {
	b.Command(net.Server, pyclient.Python, "-c", fmt.Sprintf(`import threading, time, urllib.request
end = time.monotonic() + 2
def ask():
    while time.monotonic() < end:
        try:
            urllib.request.urlopen("http://%s/", timeout=2).read()
        except OSError:
            time.sleep(0.1)
for t in [threading.Thread(target=ask, daemon=True) for _ in range(12)]: t.start()
time.sleep(2.2)`, net.At(8080)))
}

// deploy writes what Tomcat starts from.
func deploy(b *drawn.Bench, server string) string {
	base := filepath.Join(b.Dir(), "tomcat")
	classes := filepath.Join(base, "webapps/ROOT/WEB-INF/classes")
	for _, dir := range []string{classes, base + "/conf", base + "/logs", base + "/temp", base + "/work"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			b.Fail("tomcat", err)
			return base
		}
	}
	b.File("tomcat/conf/server.xml", server)
	b.File("tomcat/webapps/ROOT/WEB-INF/web.xml", webXML)
	compiler := b.Run("", "javac", []string{"javac", "-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC", "-proc:none", "-cp", jars, "-d", classes, b.File("Shop.java", servlet)}, lab.MayEnd())
	b.Await("javac to end", time.Minute, func() (bool, error) {
		_, err := os.Stat(fmt.Sprintf("/proc/%d", compiler.PID))
		return os.IsNotExist(err), nil
	})
	return base
}
