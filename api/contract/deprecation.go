package contract

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/gofiber/fiber/v2"
)

const (
	deprecatedAtExtension = "x-deprecated-at"
	sunsetExtension       = "x-sunset"
	// deprecationWindow is how many months an operation stays after it was deprecated, at least (rules: api.versions).
	deprecationWindow = 6
	// deprecationDocs is where clients read about it, unless the operation's externalDocs say otherwise.
	deprecationDocs = "/docs"
)

// deprecation are the headers with which every answer of a deprecated operation says so: Deprecation (RFC 9745), Sunset
// (RFC 8594) and a Link to what to do.
type deprecation struct {
	since, sunset, link string
}

// compileDeprecation reads `deprecated: true`, x-deprecated-at and x-sunset, two days in UTC; nil when the operation is
// not deprecated. It fails when one of the three is missing, or when clients would have less time than deprecationWindow gives.
func compileDeprecation(source *openapi3.Operation) (*deprecation, error) {
	at, sunset := source.Extensions[deprecatedAtExtension], source.Extensions[sunsetExtension]

	switch {
	case !source.Deprecated && at == nil && sunset == nil:
		return nil, nil //nolint:nilnil // nothing to announce, and nothing wrong
	case !source.Deprecated:
		return nil, fmt.Errorf("%s and %s belong to an operation with deprecated: true", deprecatedAtExtension, sunsetExtension)
	}

	since, err := day(at)
	if err != nil {
		return nil, fmt.Errorf("deprecated: %s %w", deprecatedAtExtension, err)
	}

	end, err := day(sunset)
	if err != nil {
		return nil, fmt.Errorf("deprecated: %s %w", sunsetExtension, err)
	}

	if first := since.AddDate(0, deprecationWindow, 0); end.Before(first) {
		return nil, fmt.Errorf("deprecated: %s is before %s, %d months after %s",
			sunsetExtension, first.Format(time.DateOnly), deprecationWindow, deprecatedAtExtension)
	}

	docs := deprecationDocs
	if source.ExternalDocs != nil && source.ExternalDocs.URL != "" {
		docs = source.ExternalDocs.URL
	}

	return &deprecation{
		since:  "@" + strconv.FormatInt(since.Unix(), 10),
		sunset: end.Format(http.TimeFormat),
		link:   "<" + docs + `>; rel="deprecation"; type="text/html"`,
	}, nil
}

// day reads YYYY-MM-DD. YAML takes an unquoted one for a moment, and hands it on as the first of that day.
func day(extension any) (time.Time, error) {
	text, ok := extension.(string)
	if !ok {
		return time.Time{}, errors.New("is missing (YYYY-MM-DD)")
	}

	for _, layout := range []string{time.DateOnly, "2006-01-02T00:00:00Z"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}

	return time.Time{}, fmt.Errorf("%q is not a day (YYYY-MM-DD)", text)
}

// Announce sets the headers; of an operation that is not deprecated it does nothing.
func (d *deprecation) Announce(f *fiber.Ctx) {
	if d == nil {
		return
	}

	f.Set("Deprecation", d.since)
	f.Set("Sunset", d.sunset)
	f.Append(fiber.HeaderLink, d.link)
}
