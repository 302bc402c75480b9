package moyasar

import (
	"encoding/json"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"rihla/gateways"
	"rihla/gateways/httpcall"
)

const (
	// maxMessage bounds the company's words in an error, in characters, and maxFields the fields that it names.
	maxMessage = 200
	maxFields  = 5
)

// errorKinds say what an error in the company's own format means, by its HTTP status. A 404 about a thing that was asked for by
// its id is KindNotFound instead. Source: docs.moyasar.com/api/errors.
var errorKinds = map[int]gateways.ErrorKind{
	http.StatusBadRequest:          gateways.KindRejected,
	http.StatusUnauthorized:        gateways.KindUnauthorized, // no valid key
	http.StatusForbidden:           gateways.KindUnauthorized, // the key may not do this
	http.StatusMethodNotAllowed:    gateways.KindUnauthorized, // the account is not activated for live payments
	http.StatusNotFound:            gateways.KindRejected,
	http.StatusRequestTimeout:      gateways.KindUnknown,
	http.StatusConflict:            gateways.KindInProgress, // not documented, and never final
	http.StatusTooEarly:            gateways.KindInProgress, // likewise
	http.StatusUnprocessableEntity: gateways.KindRejected,
}

// unsettledTypes are errors of a 4xx that say that something behind the API failed: they decide nothing.
var unsettledTypes = map[string]gateways.ErrorKind{
	"rate_limit_error":     gateways.KindRateLimited,
	"api_connection_error": gateways.KindUnknown,
}

// errorAnswer is an error as the company words it.
type errorAnswer struct {
	Type    string                     `json:"type"`
	Message string                     `json:"message"`
	Errors  map[string]json.RawMessage `json:"errors"`
}

var (
	typeForm  = regexp.MustCompile(`^[a-z0-9_]{1,40}$`)
	fieldForm = regexp.MustCompile(`^[A-Za-z0-9_.\[\]]{1,40}$`)
)

// rejected reads an answer that is not 2xx. Only a 4xx in the company's own format is final: an error page of something in between
// (a proxy, a wrong address) is not the company's answer.
func (d *Driver) rejected(res httpcall.Answer, missing gateways.ErrorKind) *gateways.Error {
	e := &gateways.Error{Kind: gateways.KindUnknown, Code: "http_" + strconv.Itoa(res.Status)}

	var said errorAnswer

	spoken := json.Unmarshal(res.Body, &said) == nil && typeForm.MatchString(said.Type)
	if spoken {
		e.Code, e.Message = said.Type, d.words(said)
	}

	kind, final := errorKinds[res.Status]
	unsettled, limited := unsettledTypes[said.Type]

	switch {
	case res.Status == http.StatusTooManyRequests:
		e.Kind = gateways.KindRateLimited
	case !spoken, res.Status < http.StatusBadRequest, res.Status >= http.StatusInternalServerError:
		return e
	case limited:
		e.Kind = unsettled
	case res.Status == http.StatusNotFound && missing == gateways.KindNotFound:
		e.Kind = gateways.KindNotFound
	case final:
		e.Kind = kind
	default: // a 4xx that is not documented, in the documented format
		e.Kind = gateways.KindRejected
	}

	if e.Kind == gateways.KindRateLimited {
		e.RetryAfter = httpcall.RetryAfter(res.Header.Get("Retry-After"))
	}

	return e
}

// words are the company's sentence and the fields that it names, without what it says of them: that may quote the request.
func (d *Driver) words(said errorAnswer) string {
	text := httpcall.Plain(said.Message, maxMessage)
	if strings.Contains(text, d.key) {
		text = ""
	}

	fields := slices.DeleteFunc(slices.Sorted(maps.Keys(said.Errors)), func(f string) bool {
		return !fieldForm.MatchString(f) || strings.Contains(f, d.key)
	})
	if len(fields) == 0 {
		return text
	}

	return strings.TrimSpace(text + " (" + strings.Join(fields[:min(len(fields), maxFields)], ", ") + ")")
}

// refusal is the driver's own: nothing was sent that could have an effect.
func refusal(code, message string) *gateways.Error {
	return &gateways.Error{Kind: gateways.KindRejected, Code: code, Message: message}
}
