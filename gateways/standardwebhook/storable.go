package standardwebhook

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"rihla/internal/jsonlimit"
)

const (
	// maxDepth bounds nesting, so that no reader of the stored body runs out of stack.
	maxDepth = 64
	// maxReports and maxField bound an answer that echoes names of the caller.
	maxReports = 50
	maxField   = 200
)

// storable refuses what is JSON and yet cannot be kept by PostgreSQL as text or jsonb: NUL in a string,
// half a surrogate pair, numbers beyond numeric. Fields that are not read count too, as the body is kept whole.
func (p *parser) storable(body []byte) {
	if jsonlimit.LoneSurrogate(body) {
		p.add("body", "webhook.surrogate")
	}

	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()

	var root any
	if decoder.Decode(&root) != nil {
		p.add("body", "webhook.not_storable")

		return
	}

	p.checkValue(root, nil)
}

// checkValue looks at a value and what it holds. The path is put into words for a report alone: it would be copied for every
// element behind a long name.
func (p *parser) checkValue(value any, path []string) {
	if p.reported >= maxReports {
		return
	}

	switch v := value.(type) {
	case string:
		p.noNUL(v, path)
	case json.Number:
		if !jsonlimit.IsModest(v.String()) {
			p.add(fieldName(path), "webhook.number_size")
		}
	case []any:
		for i, item := range v {
			p.checkValue(item, append(path, strconv.Itoa(i)))
		}
	case map[string]any:
		for key, item := range v {
			p.noNUL(key, path)
			p.checkValue(item, append(path, key))
		}
	}
}

func (p *parser) noNUL(s string, path []string) {
	if strings.ContainsRune(s, 0) {
		p.add(fieldName(path), "webhook.nul")
	}
}

// fieldName is the dotted path, cut off soon after maxField bytes.
func fieldName(path []string) string {
	if len(path) == 0 {
		return "body"
	}

	var b strings.Builder

	for i, key := range path {
		if b.Len() > maxField {
			break
		}

		if i > 0 {
			b.WriteByte('.')
		}

		b.WriteString(strings.ReplaceAll(key[:min(len(key), maxField)], "\x00", "?"))
	}

	return strings.ToValidUTF8(b.String(), "")
}
