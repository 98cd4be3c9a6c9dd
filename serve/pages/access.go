package pages

import (
	"crypto/rand"
	"crypto/subtle"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"snag/internal/web"
	"snag/report/page"
)

// Access is who may read: whoever has the token, or a certificate that the server accepts. A browser sends the token
// once, from a form, and has a cookie afterwards. No address holds a secret.
type Access struct {
	token  string // "": certificates alone
	cookie string // its name: browsers send a host's cookies to all of its ports
	secure bool   // over TLS alone

	mu       sync.Mutex
	sessions map[string]time.Time // when each ends
}

// LeastToken is how long a token is at least, in bytes.
const LeastToken = 16

const (
	sessionTime  = 12 * time.Hour
	mostSessions = 100
	mostForm     = 4 << 10
)

// NewAccess lets in who has the token; with "" who has a certificate.
func NewAccess(token string, at web.Address, tls bool) *Access {
	return &Access{token: token, cookie: "snag-" + at.Port(), secure: tls, sessions: map[string]time.Time{}}
}

// certified: its certificate was verified in the handshake.
func certified(r *http.Request) bool { return r.TLS != nil && len(r.TLS.VerifiedChains) > 0 }

func (a *Access) bearer(r *http.Request) bool {
	way, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.EqualFold(way, "Bearer") && a.is(strings.TrimSpace(token))
}

func (a *Access) is(token string) bool {
	return a.token != "" && subtle.ConstantTimeCompare([]byte(token), []byte(a.token)) == 1
}

func (a *Access) session(r *http.Request) bool {
	c, err := r.Cookie(a.cookie)
	if err != nil {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return time.Now().Before(a.sessions[c.Value])
}

// Pages lets in programs and browsers; a browser that may not gets the form.
func (a *Access) Pages(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case certified(r), a.bearer(r), a.session(r):
			next.ServeHTTP(w, r)
		case a.token != "" && strings.Contains(r.Header.Get("Accept"), "text/html"):
			a.form(w, "", r.URL.Path)
		default:
			a.refuse(w)
		}
	})
}

// Program lets in who has the token or a certificate, and no cookie: a page of another server could have a browser send
// that.
func (a *Access) Program(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !certified(r) && !a.bearer(r) {
			a.refuse(w)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (a *Access) refuse(w http.ResponseWriter) {
	if a.token == "" {
		http.Error(w, "send a certificate that --client-ca accepts", http.StatusUnauthorized)
		return
	}
	w.Header().Set("WWW-Authenticate", `Bearer realm="snag serve"`)
	http.Error(w, "send the token: Authorization: Bearer TOKEN (the file of snag serve --token-file)", http.StatusUnauthorized)
}

func (a *Access) form(w http.ResponseWriter, wrong, back string) {
	w.Header().Set("Content-Security-Policy", page.LoginPolicy()+"; frame-ancestors 'none'")
	html(w, http.StatusUnauthorized, page.Login(wrong, pageAt(back)))
}

// Login takes the form.
func (a *Access) Login(w http.ResponseWriter, r *http.Request) {
	if a.token == "" {
		http.NotFound(w, r)
		return
	}
	if r.Method != http.MethodPost {
		http.Redirect(w, r, "/", http.StatusSeeOther)
		return
	}
	if !sameServer(r) {
		http.Error(w, "a page of another server may not log in here", http.StatusForbidden)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, mostForm)
	if !a.is(strings.TrimSpace(r.PostFormValue("token"))) {
		a.form(w, "This is not the token.", r.PostFormValue("back"))
		return
	}
	id := rand.Text()
	a.add(id)
	http.SetCookie(w, &http.Cookie{
		Name: a.cookie, Value: id, Path: "/", MaxAge: int(sessionTime.Seconds()), HttpOnly: true, Secure: a.secure, SameSite: http.SameSiteStrictMode,
	})
	http.Redirect(w, r, pageAt(r.PostFormValue("back")), http.StatusSeeOther)
}

// pageAt is a page that a browser may be sent to after it has logged in: never to another server.
func pageAt(path string) string {
	if path == "/fleet" {
		return path
	}
	return "/"
}

// sameServer: a browser says where a form comes from.
func sameServer(r *http.Request) bool {
	from := r.Header.Get("Origin")
	u, err := url.Parse(from)
	return from == "" || err == nil && u.Host == r.Host
}

func (a *Access) add(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now, first := time.Now(), ""
	for s, end := range a.sessions {
		if now.After(end) {
			delete(a.sessions, s)
		} else if first == "" || end.Before(a.sessions[first]) {
			first = s
		}
	}
	if len(a.sessions) >= mostSessions {
		delete(a.sessions, first)
	}
	a.sessions[id] = now.Add(sessionTime)
}

// Logout forgets a browser.
func (a *Access) Logout(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || !sameServer(r) {
		w.Header().Set("Allow", "POST")
		http.Error(w, "POST, from a page of this server", http.StatusMethodNotAllowed)
		return
	}
	if c, err := r.Cookie(a.cookie); err == nil {
		a.mu.Lock()
		delete(a.sessions, c.Value)
		a.mu.Unlock()
	}
	http.SetCookie(w, &http.Cookie{Name: a.cookie, Path: "/", MaxAge: -1, HttpOnly: true, Secure: a.secure, SameSite: http.SameSiteStrictMode})
	http.Redirect(w, r, "/", http.StatusSeeOther)
}
