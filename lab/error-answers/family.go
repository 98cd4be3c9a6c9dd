package erroranswers

import (
	"embed"
	"fmt"
	"syscall"
	"time"

	"snag/lab"
	"snag/lab/drawn"
	"snag/lab/pyclient"
)

// Family draws the incident: a web service in Go, Python or Node answers a share of its
// requests with an error, at once or after a while.
var Family = drawn.Family{
	Name: "error-answers", Kind: drawn.Inside, Origin: drawn.Lab,
	Needs: []lab.Tool{lab.IP, {Command: "node", Package: "nodejs"}, {Command: pyclient.Python, Package: "python3"}},
	Faults: []drawn.Fault{
		{Name: "at-once", Suspects: []string{"error-answers"}, Subject: subject, Account: "errors"},
		{Name: "late", Suspects: []string{"error-answers"}, Subject: subject, Also: []string{"slow-dependency"}, Account: "errors"},
	},
	Build: buildFamily,
}

const subject = `web-shop|python3|node|:8082`

//go:embed script
var scripts embed.FS

// capacity is what a server and its clients can do, requests per second.
var capacity = map[string]float64{"Go": 800, "Python": 200, "Node": 400}

func buildFamily(b *drawn.Bench) {
	net := b.Net()
	language := drawn.Pick(b.Draw, "server's language", "Go", "Python", "Node")
	takes := b.Duration("answers take", 500*time.Microsecond, 100*time.Millisecond)
	l := b.LoadOf(capacity[language])
	l.Fresh = b.Chance("a connection for each request", 0.3)
	l = l.Within(takes + net.Trips(l, 1, 2))
	status, share := drawn.Pick(b.Draw, "status", 500, 502, 503, 504), b.LogUniform("share of the requests", 0.02, 1)
	late := time.Duration(0)
	if b.Fault.Name == "late" {
		late = b.Duration("an error takes", 100*time.Millisecond, 4*time.Second)
	}
	server := webShop(b, net, language, l.Size, takes, status, share, late)
	b.AwaitPrinted(server, "ready")
	turn := func() { b.Signal(server, syscall.SIGUSR2) }
	b.Switch("at-once", turn, turn)
	b.Switch("late", turn, turn)
	b.Amount("%.1f %% of %.0f requests per second are answered with %d, after %v", 100*share, l.Rate, status, late)
	pyclient.Start(b, net.Client, "web-users", "http", net.At(8082), l)
}

func webShop(b *drawn.Bench, net drawn.Net, language string, size int, takes time.Duration, status int, share float64, late time.Duration) *lab.Process {
	at := net.At(8082)
	if language == "Go" {
		return b.Actor(net.Server, "web-shop", "http-backend", []string{"--listen", at, "--size", fmt.Sprint(size), "--wait", takes.String(),
			"--then", "errors", "--status", fmt.Sprint(status), "--share", fmt.Sprint(share), "--late", late.String()})
	}
	program, file := pyclient.Python, "web-shop.py"
	if language == "Node" {
		program, file = "node", "web-shop.js"
	}
	text, err := scripts.ReadFile("script/" + file)
	if err != nil {
		return b.Fail("web-shop", err)
	}
	return b.Run(net.Server, "web-shop", []string{program, b.File(file, string(text)), at, fmt.Sprint(size),
		fmt.Sprint(takes.Seconds()), fmt.Sprint(status), fmt.Sprint(share), fmt.Sprint(late.Seconds())})
}
