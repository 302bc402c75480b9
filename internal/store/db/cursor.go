package db

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"rihla/models"
)

// cursor is where a page of a list ended: what its last row is sorted by. The page after it begins behind that place,
// whatever has been inserted or deleted before it meanwhile (docs/decisions/0005). It travels through clients as text
// and comes back as anything: what it holds is never more than the operands of a comparison.
type cursor struct {
	Page   int        `json:"p"` // number of the page that comes next
	Sort   cursorSort `json:"s"`
	Values []*string  `json:"v"` // of the sorted columns, as text; nil is NULL
	ID     uuid.UUID  `json:"i"`
}

// cursorSort is the order of a list within its cursors: names of fields between commas, with a - in front of those that go
// down. Clients hold cursors while a new version is deployed, so that this form stays as it is.
type cursorSort []Sort

func (s cursorSort) text() string {
	fields := make([]string, len(s))

	for i, by := range s {
		fields[i] = by.Field
		if by.Desc {
			fields[i] = "-" + by.Field
		}
	}

	return strings.Join(fields, ",")
}

// MarshalText implements encoding.TextMarshaler.
func (s cursorSort) MarshalText() ([]byte, error) { return []byte(s.text()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *cursorSort) UnmarshalText(text []byte) error {
	*s = nil

	for field := range strings.SplitSeq(string(text), ",") {
		if name, desc := strings.CutPrefix(field, "-"); name != "" {
			*s = append(*s, Sort{Field: name, Desc: desc})
		}
	}

	return nil
}

func (c cursor) encode() (string, error) {
	text, err := json.Marshal(c)
	if err != nil {
		return "", fmt.Errorf("encode cursor: %w", err)
	}

	return base64.RawURLEncoding.EncodeToString(text), nil
}

// errCursor is the one answer to a cursor that no page of the list has given.
func errCursor() error {
	return models.Invalid("cursor", "list.cursor")
}

// maxPage is more pages than a client reads: the number is returned, and nothing is counted by it.
const maxPage = 1 << 30

// parseCursor reads what encode has written. Error: VALIDATION_ERROR on cursor.
func parseCursor(text string) (cursor, error) {
	var c cursor

	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || json.Unmarshal(raw, &c) != nil || c.Page < 2 || c.Page > maxPage || c.ID == uuid.Nil {
		return cursor{}, errCursor()
	}

	for _, v := range c.Values {
		if v != nil && strings.IndexByte(*v, 0) >= 0 { // which PostgreSQL cannot take
			return cursor{}, errCursor()
		}
	}

	return c, nil
}

// plainText is a value as the API shows it and PostgreSQL reads it; nil is NULL.
func plainText(value any) (*string, error) {
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}

	text := string(raw)

	switch {
	case text == "null":
		return nil, nil //nolint:nilnil // NULL is a value
	case raw[0] == '"':
		if err := json.Unmarshal(raw, &text); err != nil {
			return nil, fmt.Errorf("decode: %w", err)
		}
	}

	return &text, nil
}
