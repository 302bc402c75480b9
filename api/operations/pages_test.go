package operations

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/db"
)

func TestSorts(t *testing.T) {
	t.Parallel()

	for text, want := range map[string][]db.Sort{
		"": nil, ",": nil, "-": nil, "title": {{Field: "title"}}, "-title": {{Field: "title", Desc: true}},
		"-departure_at,title": {{Field: "departure_at", Desc: true}, {Field: "title"}}, "a,,b": {{Field: "a"}, {Field: "b"}},
	} {
		require.Equal(t, want, sorts(text), "%q", text)
	}
}
