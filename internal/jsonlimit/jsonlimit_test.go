package jsonlimit_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/internal/jsonlimit"
	"rihla/models"
)

func TestCheck(t *testing.T) {
	t.Parallel()

	members := func(n int) string {
		return "{" + strings.TrimSuffix(strings.Repeat(`"a":1,`, n), ",") + "}"
	}
	elements := func(n int) string {
		return "[" + strings.TrimSuffix(strings.Repeat("0 ,", n), ",") + "]"
	}

	for name, test := range map[string]struct {
		document string
		ok       bool
	}{
		"nothing":                      {`null`, true},
		"a string of punctuation":      {`"` + strings.Repeat(`,:[{\"`, 30_000) + `"`, true},
		"a name of punctuation":        {`{"` + strings.Repeat(`,:[{\\`, 30_000) + `":1}`, true},
		"members":                      {members(2_000), true},
		"members, one too many":        {members(2_001), false},
		"members of many objects":      {"[" + members(1_000) + "," + members(1_001) + "]", false},
		"elements":                     {elements(20_000), true},
		"elements, one too many":       {elements(20_001), false},
		"elements of many arrays":      {`{"a":` + elements(10_000) + `,"b":` + elements(10_001) + "}", false},
		"empty arrays are no elements": {"[" + strings.Repeat("[ ],", 19_999) + "[]]", true},
		"nested arrays are elements":   {strings.Repeat("[", 5_000) + strings.Repeat("]", 5_000), true},
		"commas of objects":            {"[" + strings.TrimSuffix(strings.Repeat(`{"a":[],"b":[]},`, 1_000), ",") + "]", true},
	} {
		require.True(t, json.Valid([]byte(test.document)), name)

		err := jsonlimit.Check([]byte(test.document), 10_000)
		if test.ok {
			require.NoError(t, err, name)
		} else {
			require.Equal(t, models.CodeTooManyMembers, models.CodeOf(err), name)
		}
	}
}

func TestDepth(t *testing.T) {
	t.Parallel()

	require.NoError(t, jsonlimit.Check([]byte(`[{"a":[[]]},[]]`), 4))
	require.ErrorIs(t, jsonlimit.Check([]byte(`[{"a":[[]]},[]]`), 3), jsonlimit.ErrTooDeep)
	require.ErrorIs(t, jsonlimit.Check([]byte(strings.Repeat(`{"a":`, 5_000)+"1"+strings.Repeat("}", 5_000)), 64), jsonlimit.ErrTooDeep)
}

// FuzzCheck compares with a count of the decoded document.
func FuzzCheck(f *testing.F) {
	for _, seed := range []string{`{"a":[1,{"b":[]}],"c":"\",:"}`, `[[],[ 1 ]]`, `"\\"`, `{}`, ` [ ] `} {
		f.Add([]byte(seed))
	}

	f.Fuzz(func(t *testing.T, fragment []byte) {
		if !json.Valid(fragment) {
			return
		}

		// Repeated, so that small fragments reach the limits.
		document := fmt.Appendf(nil, "[%s%s]", fragment, strings.Repeat(","+string(fragment), 1_999))
		members, elements := count(t, fragment)
		tooMany := 2_000*members > jsonlimit.MaxMembers || 2_000*(elements+1) > jsonlimit.MaxElements

		require.Equal(t, tooMany, jsonlimit.Check(document, 10_001) != nil, "%s", fragment)
	})
}

// count is the number of members and elements of a document, duplicates included.
func count(t *testing.T, document []byte) (members, elements int) {
	t.Helper()

	d := json.NewDecoder(strings.NewReader(string(document)))
	d.UseNumber() // a number may be larger than any float

	var value func() error

	value = func() error {
		token, err := d.Token()
		if err != nil {
			return err
		}

		delim, ok := token.(json.Delim)
		if !ok {
			return nil
		}

		for d.More() {
			if delim == '{' {
				members++

				if _, err := d.Token(); err != nil {
					return err
				}
			} else {
				elements++
			}

			if err := value(); err != nil {
				return err
			}
		}

		_, err = d.Token()

		return err
	}

	require.NoError(t, value())

	return members, elements
}
