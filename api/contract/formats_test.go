package contract

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFormats(t *testing.T) {
	t.Parallel()

	for name, values := range map[string]map[string]bool{
		"email": {
			"a@b.sa": true, "a.b+c@d-e.example": true, "a@b": false, "a b@c.d": false, `"a b"@c.d`: false, "A <a@b.c>": false,
			"a@b.c>": false, "@b.c": false, "a@": false, "a@b.c\n": false, "a@.": false, "a@[127.0.0.1]": false,
			"a@b.sa\u00a0": false, "a@b.sa\u2003": false, "a\u00a0@b.sa": false,
		},
		"date":      {"2026-02-28": true, "2026-02-29": false, "2026-2-1": false, "0000-01-01": false, "0001-01-01": false, "0001-01-02": true, "20260101": false},
		"date-time": {"2026-11-21T09:30:00Z": true, "2026-11-21T09:30:00.5+03:00": true, "2026-11-21 09:30:00Z": false, "2026-11-21": false, "9999-12-31T23:59:59-12:00": false, "0001-01-01T00:00:00+03:00": false},
		"uri":       {"https://a.b/c?d=e#f": true, "/relative": false, "https://": false, "https://u:p@a.b": false, "mailto:a@b.c": false, "https://a b": false},
		"uuid":      {"019ab0c2-7000-7aaa-8bbb-000000000001": true, "019ab0c270007aaa8bbb000000000001": false, "": false},
	} {
		for value, valid := range values {
			require.Equal(t, valid, stringFormats[name].Validate(value) == nil, "%s %q", name, value)
		}
	}
}
