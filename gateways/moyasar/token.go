package moyasar

import (
	"encoding/json"
	"strings"
)

// tokenName is the member of a webhook's body that proves it.
const tokenName = "secret_token"

// span is a range of bytes.
type span struct{ start, end int }

// findToken looks for the secret_token of a JSON object: where its value stands, with its quotes, and what it is. found is false
// when the body is no JSON object, or has not just one such member, or one that is no text. Members of inner objects do not count.
//
// It is hand-written because the value has to be cut out of the bytes, and because it reads a body that nothing has proven yet:
// one pass, no recursion, and no values made of it.
func findToken(body []byte) (where span, text string, found bool) {
	if !json.Valid(body) {
		return span{}, "", false
	}

	at := space(body, 0)
	if body[at] != '{' {
		return span{}, "", false
	}

	for at = space(body, at+1); body[at] == '"'; {
		name := span{at, stringEnd(body, at)}
		value := span{start: space(body, space(body, name.end)+1)} // behind the colon
		value.end = valueEnd(body, value.start)

		if unquoted(body, name) == tokenName {
			if found || body[value.start] != '"' {
				return span{}, "", false
			}

			where, text, found = value, unquoted(body, value), true
		}

		at = space(body, value.end)
		if body[at] != ',' {
			break
		}

		at = space(body, at+1)
	}

	return where, text, found
}

// The body is valid JSON, so that each of these ends before it does.

func space(body []byte, at int) int {
	for strings.IndexByte(" \t\r\n", body[at]) >= 0 {
		at++
	}

	return at
}

// stringEnd is the position behind the string that begins at at.
func stringEnd(body []byte, at int) int {
	for at++; body[at] != '"'; at++ {
		if body[at] == '\\' {
			at++
		}
	}

	return at + 1
}

// valueEnd is the position behind the value that begins at at.
func valueEnd(body []byte, at int) int {
	depth := 0

	for ; ; at++ {
		switch body[at] {
		case '"':
			at = stringEnd(body, at) - 1
		case '{', '[':
			depth++
		case '}', ']', ',':
			if depth == 0 { // what ends a number or a word
				return at
			}

			if body[at] != ',' {
				depth--
			}
		default:
			continue
		}

		if depth == 0 && body[at] != ',' {
			return at + 1
		}
	}
}

func unquoted(body []byte, s span) string {
	var text string
	if json.Unmarshal(body[s.start:s.end], &text) != nil {
		return ""
	}

	return text
}
