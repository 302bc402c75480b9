package httpcall_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rihla/gateways/httpcall"
)

// TestPlain: texts are cut at characters, and the same way every time.
func TestPlain(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		text, limit := rapid.String().Draw(t, "text"), rapid.IntRange(0, 20).Draw(t, "limit")
		cut := httpcall.Plain(text, limit)
		require.LessOrEqual(t, len([]rune(cut)), limit)
		require.Equal(t, cut, httpcall.Plain(text, limit))
		require.Equal(t, cut, httpcall.Plain(cut, limit))
	})
	require.Equal(t, "ab", httpcall.Plain("a\xffb", 5))
}
