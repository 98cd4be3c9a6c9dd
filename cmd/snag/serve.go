package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"snag/internal/cli"
	"snag/internal/mcp"
	"snag/internal/private"
	"snag/internal/shown"
	"snag/internal/web"
	"snag/recorder"
	"snag/serve/agent"
	"snag/serve/pages"
)

type serveFlags struct {
	listen, ring, token string
	cert, key, ca       string
	fleet               servedFleetFlags
}

func serveCommand() *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve a page of who is affected now and of past incidents, and the agents' tools over HTTP",
		Long: `Serve a page for a browser: who is affected on this host now, the incidents that snag
record found, and the evidence of each. Programs read the same as JSON, and agents use
the tools of snag mcp at /mcp. It is read-only.

Only this host can reach the default address. A reader needs the token in --token-file,
or with --client-ca a certificate. Other hosts can reach it only with --tls-cert, or
through an SSH tunnel or a proxy with TLS. docs/serve.md has both.

With --fleet there is a page of many hosts too, at /fleet: which of them are affected and
which one holds them up, as snag find --fleet says it, and the incidents of the last 24 h.
The host that serves it needs no recorder of its own.`,
		Example: `  sudo snag serve
  snag serve --fleet http://prometheus:9090 --links 'https://{address}:9849'
  sudo snag serve --listen 10.0.0.7:9849 --tls-cert web1.crt --tls-key web1.key`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return serve(cmd.Context(), f) },
	}
	cmd.Flags().StringVar(&f.listen, "listen", ":9849", "the address; :PORT is this host alone")
	cmd.Flags().StringVar(&f.ring, "ring", recorder.Default, "the folder of snag record's ring")
	cmd.Flags().StringVar(&f.token, "token-file", "", "the file with the token, made if it does not exist (default "+rootToken+", of another user in the cache folder)")
	cmd.Flags().StringVar(&f.cert, "tls-cert", "", "serve over TLS with this certificate (PEM)")
	cmd.Flags().StringVar(&f.key, "tls-key", "", "the certificate's key (PEM)")
	cmd.Flags().StringVar(&f.ca, "client-ca", "", "let in who has a certificate of this authority (PEM); a token is not needed then")
	f.fleet.register(cmd)
	return cmd
}

// rootToken is in a folder that is empty after a reboot: the token is another one then.
const rootToken = "/run/snag/serve.token"

func serve(ctx context.Context, f serveFlags) error {
	at, err := web.ParseAddress(f.listen)
	if err != nil {
		return cli.Usage("--listen: %v", err)
	}
	config, err := f.tls(at)
	if err != nil {
		return err
	}
	fleet, err := f.fleet.page()
	if err != nil {
		return err
	}
	if config != nil {
		at = at.Certified(config.Certificates[0].Leaf)
	}
	token, where, err := f.readToken()
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find snag's own program, which makes the pages: %w", err)
	}
	host, err := os.Hostname()
	if err != nil {
		host = "this host"
	}
	l, err := at.Listen("snag's pages")
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	run := agent.Child(self)
	folder := func() (string, error) { return private.New(time.Now()) }
	tools := mcp.NewHTTP(ctx, agent.Server(agent.Options{
		Version: cli.Version, Ring: f.ring, Run: run, Root: os.Geteuid() == 0,
		NewFolder: folder,
	}))
	h := pages.Handler(pages.Options{
		At: at, Host: host, Ring: recorder.Ring{Dir: f.ring}, Run: run, Access: pages.NewAccess(token, at, config != nil),
		MCP: tools, NewFolder: folder, Fleet: fleet,
	})
	scheme := "http"
	if config != nil {
		scheme = "https"
	}
	served := at.URL(scheme)
	if fleet != nil {
		served += " and " + served + "fleet"
	}
	fmt.Fprintf(shown.To(os.Stderr), "snag: serving %s%s; Ctrl-C ends it\n", served, where)
	if err := web.Serve(ctx, l, config, withoutCompressedRequests(h)); err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}

// withoutCompressedRequests: no handler unpacks one, and a bomb must not be taken for text.
func withoutCompressedRequests(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Content-Encoding") != "" {
			http.Error(w, "send the body as it is, without Content-Encoding", http.StatusUnsupportedMediaType)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// readToken is the token, and what to say of it. With certificates there is one only if its file is named.
func (f serveFlags) readToken() (token, say string, err error) {
	name := f.token
	if name == "" && f.ca != "" {
		return "", " for certificates of " + f.ca, nil
	}
	if name == "" {
		if name, err = ownToken(); err != nil {
			return "", "", err
		}
	}
	token, err = pages.Token(name)
	return token, "; the token is in " + name, err
}

func ownToken() (string, error) {
	if os.Geteuid() == 0 {
		return rootToken, nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find a folder for the token: %w: name a file with --token-file", err)
	}
	return filepath.Join(dir, "snag", "serve.token"), nil
}

// tls is how connections are encrypted; nil: not at all, which only this host can reach.
func (f serveFlags) tls(at web.Address) (*tls.Config, error) {
	switch {
	case (f.cert == "") != (f.key == ""):
		return nil, cli.Usage("--tls-cert and --tls-key: name both, the certificate and its key")
	case f.cert == "" && f.ca != "":
		return nil, cli.Usage("--client-ca: certificates are of TLS: name --tls-cert and --tls-key too")
	case f.cert == "" && !at.Loopback():
		return nil, cli.Usage("--listen %s: other hosts can reach this address, and the token would cross the network in clear: add --tls-cert and --tls-key, or use :%s behind a proxy with TLS, or through ssh -L", at, at.Port())
	case f.cert == "":
		return nil, nil
	}
	pair, err := tls.LoadX509KeyPair(f.cert, f.key)
	if err != nil {
		return nil, fmt.Errorf("read the certificate %s and its key %s: %w", f.cert, f.key, err)
	}
	config := &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}
	if f.ca == "" {
		return config, nil
	}
	b, err := os.ReadFile(f.ca)
	if err != nil {
		return nil, fmt.Errorf("read the authority of --client-ca: %w", err)
	}
	config.ClientCAs = x509.NewCertPool()
	if !config.ClientCAs.AppendCertsFromPEM(b) {
		return nil, fmt.Errorf("read the authority of --client-ca: %s holds no certificate in PEM", f.ca)
	}
	config.ClientAuth = tls.RequireAndVerifyClientCert
	if f.token != "" {
		config.ClientAuth = tls.VerifyClientCertIfGiven
	}
	return config, nil
}
