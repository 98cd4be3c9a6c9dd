// Package tomcat draws incidents of a servlet in Tomcat, which asks an upstream for each
// answer.
package tomcat

import (
	_ "embed"
	"fmt"
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
	a := backend.NewApp(b, backend.AppSize{Workers: "threads", Least: 0.5, Most: 12, Capacity: 400, Own: 3 * time.Millisecond, Longest: 400 * time.Millisecond, Trips: 1}, "")
	a.Load.Fresh = b.Chance("a connection for each request", 0.3)
	threads, accept, conns := a.Enough(10, 4), 100, 8192
	backlog := b.Int("small accept count", 1, 8)
	heap, fill := b.Int("MiB of heap", 48, 200), b.Uniform("share of the heap that the cache fills", 0.84, 0.95)
	switch {
	case a.BuiltWithFew("few-threads", ""):
		threads = a.Few
	case b.Built("few-connections"):
		accept, conns = backlog, max(1, min(a.Load.Conns/2, 2+a.Few))
		b.Amount("%d connections and %d in the backlog, of %d clients", conns, accept, a.Load.Conns)
	case b.Fault.Name == "heap-full":
		b.Amount("a cache fills %.0f %% of a heap of %d MiB", 100*fill, heap)
	}
	a.AmountOfLock("synchronized-call")
	a.Flagged("synchronized-call", "heap-full")
	base := deploy(b, fmt.Sprintf(serverXML, a.Addr, threads, accept, conns))
	gc := drawn.Pick(b.Draw, "collector", "-XX:+UseSerialGC", "-XX:+UseParallelGC", "-XX:+UseG1GC")
	b.Run(a.Server, "tomcat", []string{"java", gc, fmt.Sprintf("-Xmx%dm", heap), "-Xms32m", "-XX:TieredStopAtLevel=1",
		"-cp", home + "/bin/bootstrap.jar:" + home + "/bin/tomcat-juli.jar", "-Dcatalina.home=" + home, "-Dcatalina.base=" + base,
		"org.apache.catalina.startup.Bootstrap", "start"}, a.Env(fmt.Sprintf("FILL=%.2f", fill))...)
	b.Await("Tomcat to listen", time.Minute, b.Listens(a.Server, ":8080"))
	warmUp(b, a.Net)
	pyclient.Start(b, a.Client, "shop-client", "http", a.At(8080), a.Load)
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
