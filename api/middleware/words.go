package middleware

import (
	"net/http"
	"slices"
	"strings"

	"rihla/models"
)

// uiMessage is `ui_message` of an error: what has happened, and what to do, for the person in front of an app. Its words are those of the
// cause or the code; INVALID_STATE has too many reasons to say less than its message.
func uiMessage(err *models.Error, locale models.Locale) string {
	switch {
	case err.Cause != "":
		return models.TextOf(wordsOf("cause.", string(err.Cause))).In(locale)
	case err.Code == models.CodeInvalidState && !err.Text.IsZero():
		return err.Text.In(locale)
	default:
		return codeWords(err.Code).In(locale)
	}
}

// codeWords are the words of a code; a test sees that every code has some.
func codeWords(code models.Code) models.Text {
	if _, ok := statusOf[code]; !ok {
		return models.TextOf("code.unknown")
	}

	return models.TextOf(wordsOf("code.", string(code)))
}

// wordsOf is the key of the words of a code or a cause.
func wordsOf(of, code string) models.Key { return models.Key(of + strings.ToLower(code)) }

// uiDetails is `ui_details`: the details as texts for people. Only the details of 422 are about what a person has entered.
func uiDetails(status int, of map[string][]models.Text, locale models.Locale) map[string][]string {
	if status != http.StatusUnprocessableEntity || len(of) == 0 {
		return nil
	}

	out := make(map[string][]string, len(of))

	for field, texts := range of {
		said := make([]string, len(texts))
		for i, text := range texts {
			said[i] = text.In(locale)
		}

		out[field] = slices.Compact(said) // empty and blank are one word in Arabic
	}

	return out
}
