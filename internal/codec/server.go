package codec

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"go.temporal.io/sdk/converter"
)

// maxBody bounds one request; a page of a history in the UI has some hundred kilobytes.
const maxBody = 8 << 20

// Access says who may use a codec server.
type Access struct {
	// Token is what callers must present as `Authorization: Bearer <token>`. Without one only this machine's own programs
	// are answered, at a loopback address.
	Token string
	// Origins are those of the Temporal UIs whose pages may ask.
	Origins []string
}

// NewHandler serves the protocol of a remote codec: POST …/decode and …/encode. A payload that it encrypts belongs to no
// workflow, since requests do not name one, and every workflow accepts it.
func NewHandler(c *Codec, a Access) http.Handler {
	return &handler{Access: a, next: converter.NewPayloadCodecHTTPHandler(c.Reader())}
}

type handler struct {
	Access

	next http.Handler
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")

	// The health of the process is no secret, and probes have no token.
	if r.Method == http.MethodGet && r.URL.Path == "/healthz" {
		return
	}

	if !h.allowPage(w, r) {
		http.Error(w, "this page may not ask; --ui-origin names those that may", http.StatusForbidden)

		return
	}

	if r.Method == http.MethodOptions {
		w.WriteHeader(http.StatusNoContent)

		return
	}

	if !h.allowCaller(r) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(w, "the token is missing or wrong", http.StatusUnauthorized)

		return
	}

	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		http.Error(w, "the body is too large, or was cut off", http.StatusRequestEntityTooLarge)

		return
	}

	r.Body = io.NopCloser(bytes.NewReader(body))
	h.next.ServeHTTP(w, r)
}

// allowPage lets pages of the UI in by CORS, refuses all others, and has nothing to say about callers that are no pages.
func (h *handler) allowPage(w http.ResponseWriter, r *http.Request) bool {
	w.Header().Add("Vary", "Origin")

	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}

	if !slices.Contains(h.Origins, origin) {
		return false
	}

	w.Header().Set("Access-Control-Allow-Origin", origin)
	w.Header().Set("Access-Control-Allow-Methods", "POST, OPTIONS")
	w.Header().Set("Access-Control-Allow-Headers", "Authorization, Content-Type, X-Namespace")

	return true
}

// allowCaller compares the token in constant time. Without one the request must have been sent to a loopback name: a page
// that has its own name point to this machine is not let in.
func (h *handler) allowCaller(r *http.Request) bool {
	if h.Token == "" {
		return IsLoopback(r.Host)
	}

	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	want, got := sha256.Sum256([]byte(h.Token)), sha256.Sum256([]byte(token))

	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(want[:], got[:]) == 1
}

// IsLoopback reports whether an address, host or host:port, is one of this machine only.
func IsLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = strings.Trim(address, "[]")
	}

	ip, err := netip.ParseAddr(host)

	return host == "localhost" || (err == nil && ip.IsLoopback())
}
