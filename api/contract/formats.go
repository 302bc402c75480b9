package contract

import (
	"errors"
	"net/mail"
	"net/url"
	"strings"
	"time"
	"unicode"

	"github.com/getkin/kin-openapi/openapi3"

	"rihla/models"
)

const formatUUID = "uuid"

var errFormat = errors.New("does not have the format")

// stringFormats are the formats of the document. kin's own know UUIDs up to version 5 only and take 2026-02-31 for a date.
var stringFormats = map[string]openapi3.StringFormatValidator{
	formatUUID:  format(isUUID),
	"date":      format(isDate),
	"date-time": format(isDateTime),
	"email":     format(isEmail),
	"uri":       format(isURI),
}

// FormatWords are the texts, by format, for a value that does not have it.
var FormatWords = map[string]models.Key{
	formatUUID:  "field.uuid",
	"date":      "field.date",
	"date-time": "field.timestamp",
	"email":     "field.email",
	"uri":       "field.url",
}

func format(valid func(string) bool) openapi3.StringFormatValidator {
	return openapi3.NewCallbackValidator(func(s string) error {
		if !valid(s) {
			return errFormat
		}

		return nil
	})
}

// isDate wants a day that can be told from none at all: 0001-01-01 is Go's zero value, which to a list means no filter and
// to a campaign a first day that was never set. It comes before every day of ours anyway.
func isDate(s string) bool {
	t, err := time.Parse(time.DateOnly, s)

	return err == nil && t.Year() >= 1 && !t.IsZero()
}

// isDateTime wants a moment whose year, in UTC, can be stored and shown: 9999-12-31T23:59:59-12:00 is in the year 10000.
func isDateTime(s string) bool {
	t, err := time.Parse(time.RFC3339, s)

	return err == nil && t.UTC().Year() >= 1 && t.UTC().Year() <= 9999
}

// isEmail accepts a plain address: no display name, no comment, no quoted local part, a domain with a dot.
func isEmail(s string) bool {
	a, err := mail.ParseAddress(s)
	if err != nil || a.Address != s || a.Name != "" {
		return false
	}

	_, domain, _ := strings.Cut(s, "@")

	return strings.Contains(strings.Trim(domain, "."), ".") && !strings.ContainsAny(s, "\"[]<>()") && !strings.ContainsFunc(s, unicode.IsSpace)
}

// isURI accepts an absolute address with a host and without credentials.
func isURI(s string) bool {
	u, err := url.Parse(s)

	return err == nil && u.Scheme != "" && u.Hostname() != "" && u.User == nil && !strings.ContainsAny(s, " <>\"\\^`{|}")
}
