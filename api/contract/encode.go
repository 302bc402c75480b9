package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// EncodeJSON is the app's JSON encoder: as encoding/json, but `&` in a checkout address stays `&`.
func EncodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer

	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)

	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode answer: %w", err)
	}

	return bytes.TrimRight(b.Bytes(), "\n"), nil
}
