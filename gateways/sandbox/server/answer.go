package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxBody bounds a request body: 64 KiB.
const maxBody = 64 << 10

// answer is a finished HTTP answer, so that it can be stored under an idempotency key.
type answer struct {
	status     int
	body       []byte
	retryAfter int // seconds, with 429 only
	replayed   bool
}

// success is a JSON answer.
func success(status int, body any) answer {
	encoded, err := json.Marshal(body)
	if err != nil {
		return failure(http.StatusInternalServerError, "internal_error", "The answer could not be encoded.")
	}

	return answer{status: status, body: encoded}
}

// listAnswer is the answer of a search, which may find nothing.
func listAnswer[T any](found []T) answer {
	return success(http.StatusOK, map[string]any{"data": found})
}

// failure is an answer in the error format of the protocol.
func failure(status int, code, message string) answer {
	return success(status, map[string]any{"error": map[string]string{"code": code, "message": message}})
}

func notFound(what string) answer {
	return failure(http.StatusNotFound, "not_found", "There is no such "+what+".")
}

func invalid(message string) answer {
	return failure(http.StatusUnprocessableEntity, "invalid_request", message)
}

func (a answer) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")

	if a.retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(a.retryAfter))
	}

	if a.replayed {
		w.Header().Set("Idempotent-Replayed", "true")
	}

	w.WriteHeader(a.status)

	if a.status != http.StatusNoContent {
		_, _ = w.Write(a.body) // a client that left cannot be told
	}
}

// internal is the answer to an error of our own, which is logged and not told.
func (s *Server) internal(err error) answer {
	s.log.Error("sandbox gateway: internal error", "error", err)

	return failure(http.StatusInternalServerError, "internal_error", "The gateway has an internal error.")
}

// readJSON decodes a JSON object; unknown fields are tolerated, as gateways do. The whole body is always
// read, without which a client's disconnect would go unnoticed.
func readJSON(w http.ResponseWriter, r *http.Request, into any) (answer, bool) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return failure(http.StatusRequestEntityTooLarge, "payload_too_large", "The body is too large."), false
	} else if err != nil {
		return failure(http.StatusBadRequest, "malformed_request", "The body could not be read."), false
	}

	if !utf8.Valid(body) || !json.Valid(body) || !bytes.HasPrefix(bytes.TrimSpace(body), []byte("{")) {
		return failure(http.StatusBadRequest, "malformed_request", "The body is not a JSON object."), false
	}

	if err := json.Unmarshal(body, into); err != nil {
		if t, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return invalid(t.Field + " has the wrong type."), false
		}

		return invalid("The body has a field of the wrong form."), false
	}

	return answer{}, true
}

// plainText reports whether s is at most limit characters long and without control characters.
func plainText(s string, limit int) bool {
	return utf8.RuneCountInString(s) <= limit && !strings.ContainsFunc(s, unicode.IsControl)
}

// drain reads a body that does not matter, for the reason given at readJSON.
func drain(w http.ResponseWriter, r *http.Request) (answer, bool) {
	if _, err := io.Copy(io.Discard, http.MaxBytesReader(w, r.Body, maxBody)); err != nil {
		return failure(http.StatusRequestEntityTooLarge, "payload_too_large", "The body is too large or could not be read."), false
	}

	return answer{}, true
}
