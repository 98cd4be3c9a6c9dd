package actor

import (
	"context"
	"flag"
	"net"
	"net/http"
	"time"

	"golang.org/x/sys/unix"
)

var lookupServer = Actor{
	Name:  "lookup-server",
	About: "answers HTTP requests as a service does that others ask who may do what (a callback, a route of a call); SIGUSR2 switches between well and ill",
	Main: func(ctx context.Context, f *flag.FlagSet, parse func() error) error {
		listen := f.String("listen", "", "address:port")
		wait := f.Duration("wait", time.Millisecond, "time until an answer")
		illWait := f.Duration("ill-wait", 0, "the same while it is ill; 0: as ever")
		illStatus := f.Int("ill-status", http.StatusOK, "status of its answers while it is ill")
		if err := parse(); err != nil {
			return err
		}
		well := switched(ctx, unix.SIGUSR2, true, "well")
		var lc net.ListenConfig
		l, err := lc.Listen(ctx, "tcp4", *listen)
		if err != nil {
			return err
		}
		server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			takes, status := *wait, http.StatusOK
			if !well.Load() {
				takes, status = max(*wait, *illWait), *illStatus
			}
			if sleep(r.Context(), takes) {
				w.Header().Set("Icecast-Auth-User", "1") // icecast reads this as yes
				w.WriteHeader(status)
				_, _ = w.Write([]byte("ok\n"))
			}
		})}
		go func() {
			<-ctx.Done()
			server.Close()
		}()
		ready()
		if err := server.Serve(l); ctx.Err() == nil {
			return err
		}
		return nil
	},
}
