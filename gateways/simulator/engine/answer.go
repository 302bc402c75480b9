package engine

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxBody bounds a request body: 64 KiB.
const maxBody = 64 << 10

// Answer is a finished HTTP answer, so that it can be stored under an idempotency key.
type Answer struct {
	Status     int
	Header     map[string]string // beyond those of every answer
	Body       []byte            // JSON, unless Header says otherwise
	RetryAfter int               // seconds, with 429 only
	Replayed   bool              // it was stored under the request's key
}

// Success is a JSON answer.
func Success(status int, body any) Answer {
	encoded, err := json.Marshal(body)
	if err != nil {
		return Answer{Status: http.StatusInternalServerError}
	}

	return Answer{Status: status, Body: encoded}
}

// Write sends the answer.
func (a Answer) Write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")

	for name, value := range maps.All(a.Header) {
		w.Header().Set(name, value)
	}

	if a.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(a.RetryAfter))
	}

	if a.Replayed {
		w.Header().Set("Idempotent-Replayed", "true")
	}

	w.WriteHeader(a.Status)

	if a.Status != http.StatusNoContent {
		_, _ = w.Write(a.Body) // a client that left cannot be told
	}
}

// Internal is the answer to an error of the simulator's own, which is logged and not told.
func (s *Server) Internal(err error) Answer {
	s.log.Error("simulator: internal error", "error", err)

	return s.protocol.Failure(Failure{
		Status: http.StatusInternalServerError, Code: CodeInternal, Message: "The gateway has an internal error.",
	})
}

// ReadBody reads a request's body of at most 64 KiB. The whole body is always read, without which a client's disconnect would
// go unnoticed. ok is false when it cannot be read: then refusal says so.
func (s *Server) ReadBody(w http.ResponseWriter, r *http.Request) (body []byte, refusal Answer, ok bool) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return nil, s.protocol.Failure(Failure{
			Status: http.StatusRequestEntityTooLarge, Code: CodeTooLarge, Message: "The body is too large.",
		}), false
	} else if err != nil {
		return nil, s.malformed("The body could not be read."), false
	}

	return body, Answer{}, true
}

// ReadJSON decodes a JSON object; unknown fields are tolerated, as gateways do.
func (s *Server) ReadJSON(w http.ResponseWriter, r *http.Request, into any) (refusal Answer, ok bool) {
	body, refusal, ok := s.ReadBody(w, r)
	if !ok {
		return refusal, false
	}

	if !utf8.Valid(body) || !json.Valid(body) || !strings.HasPrefix(strings.TrimSpace(string(body)), "{") {
		return s.malformed("The body is not a JSON object."), false
	}

	if err := json.Unmarshal(body, into); err != nil {
		if t, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return s.Invalid(t.Field, t.Field+" has the wrong type."), false
		}

		return s.Invalid("", "The body has a field of the wrong form."), false
	}

	return Answer{}, true
}

// Invalid is the answer to a field that is wrong.
func (s *Server) Invalid(param, message string) Answer {
	return s.protocol.Failure(Failure{Status: http.StatusUnprocessableEntity, Code: CodeInvalid, Message: message, Param: param})
}

func (s *Server) malformed(message string) Answer {
	return s.protocol.Failure(Failure{Status: http.StatusBadRequest, Code: CodeMalformed, Message: message})
}

// PlainText reports whether text is at most limit characters long and without control characters.
func PlainText(text string, limit int) bool {
	return utf8.RuneCountInString(text) <= limit && !strings.ContainsFunc(text, unicode.IsControl)
}

// drain reads a body that does not matter, for the reason given at ReadBody.
func (s *Server) drain(w http.ResponseWriter, r *http.Request) (refusal Answer, ok bool) {
	_, refusal, ok = s.ReadBody(w, r)

	return refusal, ok
}
