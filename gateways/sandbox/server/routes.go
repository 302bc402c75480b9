package server

import (
	"crypto/sha256"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// byMethod are the handlers of one path.
type byMethod map[string]http.HandlerFunc

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()

	for path, handlers := range map[string]byMethod{
		"/v1/checkouts":             {http.MethodPost: s.asMerchant(s.createCheckout), http.MethodGet: s.asMerchant(s.findCheckouts)},
		"/v1/checkouts/{id}":        {http.MethodGet: s.asMerchant(s.getCheckout)},
		"/v1/checkouts/{id}/cancel": {http.MethodPost: s.asMerchant(s.cancelCheckout)},
		"/v1/refunds":               {http.MethodPost: s.asMerchant(s.createRefund), http.MethodGet: s.asMerchant(s.findRefunds)},
		"/v1/refunds/{id}":          {http.MethodGet: s.asMerchant(s.getRefund)},
		"/pay/{id}":                 {http.MethodGet: s.showPage, http.MethodPost: s.pay},

		"/sandbox/faults":                      {http.MethodPost: s.addFault, http.MethodGet: s.listFaults, http.MethodDelete: s.clearFaults},
		"/sandbox/refunds/{id}/decide":         {http.MethodPost: s.decideRefund},
		"/sandbox/checkouts/{id}/late-payment": {http.MethodPost: s.latePayment},
		"/sandbox/ledger":                      {http.MethodGet: s.ledger},
		"/sandbox/stats":                       {http.MethodGet: s.stats},
		"/healthz":                             {http.MethodGet: health},
		"/{$}":                                 {http.MethodGet: about},
	} {
		mux.HandleFunc(path, handlers.serve)
	}

	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { notFound("page").write(w) })

	return mux
}

// about says what this server is to a person who opens its address, with links to what there is to look at.
func about(w http.ResponseWriter, _ *http.Request) {
	success(http.StatusOK, map[string]any{
		"name": "Rihla sandbox gateway: takes no real money",
		"links": map[string]string{
			"ledger": "/sandbox/ledger", "faults": "/sandbox/faults", "stats": "/sandbox/stats", "health": "/healthz",
		},
	}).write(w)
}

func health(w http.ResponseWriter, _ *http.Request) { success(http.StatusOK, struct{}{}).write(w) }

func (m byMethod) serve(w http.ResponseWriter, r *http.Request) {
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet // net/http leaves the body out
	}

	handle, ok := m[method]
	if !ok {
		w.Header().Set("Allow", strings.Join(slices.Sorted(maps.Keys(m)), ", "))
		failure(http.StatusMethodNotAllowed, "method_not_allowed", "The path does not take this method.").write(w)

		return
	}

	handle(w, r)
}

// asMerchant lets only known API keys in.
func (s *Server) asMerchant(handle func(http.ResponseWriter, *http.Request, *merchant)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		scheme, key, _ := strings.Cut(r.Header.Get("Authorization"), " ")

		m := s.keys[sha256.Sum256([]byte(strings.TrimSpace(key)))]
		if m == nil || !strings.EqualFold(scheme, "Bearer") {
			w.Header().Set("WWW-Authenticate", "Bearer")
			failure(http.StatusUnauthorized, "unauthorized", "The API key is missing or unknown.").write(w)

			return
		}

		handle(w, r, m)
	}
}
