package moyasar

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"rihla/internal/jsonlimit"
	"rihla/models"
)

// problems collects what is wrong with a body, by field, so that the sender sees all of it at once.
type problems map[string][]models.Text

func (p problems) add(field string, key models.Key, args ...any) {
	if text := models.TextOf(key, args...); !slices.ContainsFunc(p[field], text.Equal) {
		p[field] = append(p[field], text)
	}
}

// require reports a text that is missing or too long.
func (p problems) require(field, text string) {
	switch {
	case text == "":
		p.add(field, "field.required")
	case utf8.RuneCountInString(text) > maxID:
		p.add(field, "field.max_length", "n", maxID)
	}
}

func (p problems) err() error {
	if len(p) == 0 {
		return nil
	}

	return models.InvalidFields("webhook.invalid_fields", p)
}

// checkStorable refuses what is JSON and yet cannot be kept by PostgreSQL as text or jsonb: NUL in a string, half a surrogate pair,
// numbers beyond numeric. It also refuses a body that repeats a secret outside of secret_token, since the body is kept for good.
func (p problems) checkStorable(body []byte, secrets []string) {
	if jsonlimit.LoneSurrogate(body) {
		p.add("body", "webhook.surrogate")
	}

	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()

	for {
		token, err := decoder.Token() // not the whole value: no field needs a name here
		if err != nil {
			return // the end: the body is valid JSON
		}

		switch t := token.(type) {
		case string:
			if strings.ContainsRune(t, 0) {
				p.add("body", "webhook.nul")
			}

			for _, secret := range secrets {
				if strings.Contains(t, secret) {
					p.add("body", "webhook.secret_elsewhere")
				}
			}
		case json.Number:
			if !jsonlimit.IsModest(t.String()) {
				p.add("body", "webhook.number_too_big")
			}
		}
	}
}
