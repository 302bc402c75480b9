package gateways

import (
	"strings"
	"unicode/utf8"
)

// DetailSeparator stands between what is bought and each of its details in a Summary.
const DetailSeparator = " · "

// Summary is the description with as many of the details as fit into limit characters, for companies that show one text. The same request
// always has the same, as idempotency needs.
func (r CheckoutRequest) Summary(limit int) string {
	text := strings.TrimSpace(r.Description)
	if text == "" {
		return ""
	}

	for _, detail := range r.Details {
		longer := text + DetailSeparator + detail
		if utf8.RuneCountInString(longer) > limit {
			break
		}

		text = longer
	}

	return text
}
