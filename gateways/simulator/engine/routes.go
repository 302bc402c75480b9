package engine

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// Methods are the handlers of one path.
type Methods map[string]http.HandlerFunc

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()

	paths := map[string]Methods{
		"/pay/{id}": {http.MethodGet: s.showPage, http.MethodPost: s.pay},

		"/sandbox/faults":                      {http.MethodPost: s.addFault, http.MethodGet: s.listFaults, http.MethodDelete: s.clearFaults},
		"/sandbox/refunds/{id}/decide":         {http.MethodPost: s.decideRefund},
		"/sandbox/checkouts/{id}/late-payment": {http.MethodPost: s.latePayment},
		"/sandbox/checkouts/{id}/pay-again":    {http.MethodPost: s.payAgain},
		"/sandbox/checkouts/{id}/dispute":      {http.MethodPost: s.dispute},
		"/sandbox/checkouts/{id}/refund":       {http.MethodPost: s.refundInDashboard},
		"/sandbox/ledger":                      {http.MethodGet: s.ledger},
		"/sandbox/stats":                       {http.MethodGet: s.stats},
		"/healthz":                             {http.MethodGet: health},
		"/{$}":                                 {http.MethodGet: s.about},
	}
	maps.Copy(paths, s.protocol.Routes(s))

	for path, handlers := range paths {
		mux.HandleFunc(path, s.serve(handlers))
	}

	// A person has opened an address that no page has.
	mux.HandleFunc("/pay/", func(w http.ResponseWriter, r *http.Request) { s.render(w, r, http.StatusNotFound, nil) })
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { s.notFound("page").Write(w) })

	return mux
}

// about says what this server is to a person who opens its address, with links to what there is to look at.
func (s *Server) about(w http.ResponseWriter, _ *http.Request) {
	Success(http.StatusOK, map[string]any{
		"name": "Rihla " + s.traits.Name + ": takes no real money",
		"links": map[string]string{
			"ledger": "/sandbox/ledger", "faults": "/sandbox/faults", "stats": "/sandbox/stats", "health": "/healthz",
		},
	}).Write(w)
}

func health(w http.ResponseWriter, _ *http.Request) { Success(http.StatusOK, struct{}{}).Write(w) }

func (s *Server) serve(m Methods) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		method := r.Method
		if method == http.MethodHead {
			method = http.MethodGet // net/http leaves the body out
		}

		handle, ok := m[method]
		if !ok {
			w.Header().Set("Allow", strings.Join(slices.Sorted(maps.Keys(m)), ", "))
			s.protocol.Failure(Failure{
				Status: http.StatusMethodNotAllowed, Code: "method_not_allowed", Message: "The path does not take this method.",
			}).Write(w)

			return
		}

		handle(w, r)
	}
}

// AsMerchant lets only known API keys in.
func (s *Server) AsMerchant(handle func(http.ResponseWriter, *http.Request, *Account)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		m := s.keys[sha256.Sum256([]byte(s.protocol.Key(r)))]
		if m == nil {
			s.protocol.Failure(Failure{
				Status: http.StatusUnauthorized, Code: CodeUnauthorized, Message: "The API key is missing or unknown.",
			}).Write(w)

			return
		}

		handle(w, r, m)
	}
}

// The levers speak one language at every simulator.

func leverList[T any](found []T) Answer { return Success(http.StatusOK, map[string]any{"data": found}) }

func leverFailure(status int, code, message string) Answer {
	return Success(status, map[string]any{"error": map[string]string{"code": code, "message": message}})
}

func leverInvalid(message string) Answer {
	return leverFailure(http.StatusUnprocessableEntity, CodeInvalid, message)
}

func leverNotFound(what string) Answer {
	return leverFailure(http.StatusNotFound, CodeNotFound, "There is no such "+what+".")
}

// leverJSON reads the body of a lever.
func (s *Server) leverJSON(w http.ResponseWriter, r *http.Request, into any) (refusal Answer, ok bool) {
	body, _, ok := s.ReadBody(w, r)
	if !ok {
		return leverFailure(http.StatusBadRequest, CodeMalformed, "The body could not be read."), false
	}

	if err := json.Unmarshal(body, into); err != nil {
		if t, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return leverInvalid(t.Field + " has the wrong type."), false
		}

		return leverFailure(http.StatusBadRequest, CodeMalformed, "The body is not the JSON that is expected."), false
	}

	return Answer{}, true
}
