package livepage

import (
	"net/http"

	"snag/report/page"
)

// atOnce is how many requests are answered at a time; more get 503 and Retry-After.
const atOnce = 8

// guarded lets through what may ask for the page, and only to read it.
func guarded(a Address, next http.Handler) http.Handler {
	slots := make(chan struct{}, atOnce)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", page.LivePolicy()+"; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		if err := a.mayAsk(r.Host); err != nil {
			http.Error(w, err.Error(), http.StatusMisdirectedRequest)
			return
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			h.Set("Allow", "GET, HEAD")
			http.Error(w, "this page is only read: GET and HEAD", http.StatusMethodNotAllowed)
			return
		}
		select {
		case slots <- struct{}{}:
			defer func() { <-slots }()
			next.ServeHTTP(w, r)
		default:
			h.Set("Retry-After", "2")
			http.Error(w, "too many requests at a time", http.StatusServiceUnavailable)
		}
	})
}
