// Package mosquitto draws incidents of mosquitto, over which clients ask a worker.
package mosquitto

import (
	_ "embed"
	"fmt"
	"syscall"
	"time"

	"snag/lab"
	"snag/lab/drawn"
	"snag/lab/pyclient"
	"snag/lab/real/backend"
)

//go:embed worker.py
var worker string

// Family is mosquitto.
var Family = drawn.Family{
	Name: "mosquitto", Kind: drawn.Broker, Origin: drawn.Real, Software: []string{"mosquitto", "paho-mqtt"},
	Needs: []lab.Tool{lab.IP, {Command: "mosquitto", Package: "mosquitto"}},
	Faults: []drawn.Fault{
		{Name: "slow-consumer", Suspects: []string{"receiver-too-slow", "worker-queue", "slow-consumer"}, Subject: `order-worker|:1883`, Account: "in line"},
		{Name: "connection-limit", Suspects: []string{"connection-limit"}, Subject: `mosquitto|:1883`, Also: []string{"peer-reset", "reconnect-storm"}, Account: "errors", Whole: true},
		{Name: "queue-limit", Suspects: []string{"receiver-too-slow", "connection-limit"}, Subject: `mosquitto|:1883|order-worker`, Also: []string{"worker-queue", "slow-consumer"}, Account: "errors", Whole: true},
		{Name: "broker-stopped", Suspects: []string{"process-stopped"}, Subject: `mosquitto|:1883`, Account: "stopped"},
	},
	Build: build,
}

func build(b *drawn.Bench) {
	net := b.Net()
	takes := b.Duration("a job takes", 50*time.Microsecond, 4*time.Millisecond)
	l := backend.Load(b, net, 200, takes, 2)
	l.Conns = min(l.Conns, 64)
	b.Values["connections"] = l.Conns
	qos := b.Int("QoS", 1, 2) - 1
	// The worker is one: it keeps up until its jobs take longer than they come apart.
	slow := time.Duration(b.Uniform("share of its time that the slow worker has work for", 0.8, 2) / l.Rate * 1e9)
	connections, queued, inflight := -1, 1000, 20
	few := max(2, int(float64(l.Conns)*b.Uniform("share of the clients that may connect", 0.3, 0.9)))
	short := b.Int("short queue", 1, 10)
	switch {
	case b.Built("connection-limit"):
		connections = few + 1
		b.Amount("%d connections for %d clients and a worker", connections, l.Conns)
	case b.Built("queue-limit"):
		queued, inflight, takes, qos = short, 2, slow, 1
		b.Amount("%d messages may wait for a worker that takes %v for each of %.0f per second", short, slow, l.Rate)
	case b.Fault.Name == "slow-consumer":
		b.Amount("a job takes %v, not %v, at %.0f per second", slow, takes, l.Rate)
	}
	flag := backend.NewFlag(b)
	b.Switch("slow-consumer", flag.On, flag.Off)
	limits := fmt.Sprintf("listener 1883 %s\nallow_anonymous true\npersistence false\nset_tcp_nodelay true\nmax_connections %d\nmax_queued_messages %d\nmax_inflight_messages %d\nuser root\n", net.Addr, connections, queued, inflight)
	broker := b.Run(net.Server, "mosquitto", []string{"mosquitto", "-c", b.File("mosquitto.conf", limits)})
	b.Await("mosquitto to listen", 20*time.Second, b.Listens(net.Server, ":1883"))
	stopped := b.Uniform("share of the time that it is stopped", 0.3, 0.8)
	stop(b, broker, stopped)
	w := b.Run(net.Server, "order-worker", []string{pyclient.Python, b.File("worker.py", worker), net.Addr, fmt.Sprint(qos), flag.Path, b.Fault.Name, fmt.Sprint(takes.Seconds()), fmt.Sprint(slow.Seconds())})
	b.AwaitPrinted(w, "ready")
	pyclient.Start(b, net.Client, "mqtt-clients", "mqtt", net.At(1883), l, fmt.Sprintf("qos=%d", qos), fmt.Sprintf("size=%d", l.Size))
}

// stop stops the broker again and again, as a snapshot of its machine does, or a debugger.
func stop(b *drawn.Bench, broker *lab.Process, share float64) {
	period := b.Duration("stopped every", 400*time.Millisecond, 3*time.Second)
	if b.Fault.Name == "broker-stopped" {
		b.Amount("stopped for %.2f s of every %.2f", share*period.Seconds(), period.Seconds())
	}
	end := make(chan struct{})
	b.Switch("broker-stopped", func() {
		ended := make(chan struct{})
		end = ended
		go func() {
			for {
				_ = syscall.Kill(broker.PID, syscall.SIGSTOP)
				wait := time.After(time.Duration(share * float64(period)))
				select {
				case <-ended:
				case <-b.Context().Done():
				case <-wait:
				}
				_ = syscall.Kill(broker.PID, syscall.SIGCONT)
				select {
				case <-ended:
					return
				case <-b.Context().Done():
					return
				case <-time.After(time.Duration((1 - share) * float64(period))):
				}
			}
		}()
	}, func() { close(end) })
}
