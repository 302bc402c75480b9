package contract

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestNumbersHaveOneForm(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]string{
		"1": "1", "-0": "-0", "1.50": "1.5", "1e2": "100", "1.150E+3": "1150", "12E-1": "1.2", "0.10": "0.1",
		"1e29": "100000000000000000000000000000",
	} {
		var p problems

		got, err := decodeJSON(t.Context(), []byte(text), &p)
		require.NoError(t, err)
		require.NoError(t, p.err())
		require.Equal(t, json.Number(want), got, text)
	}
}

// TestParsingObeysTheDeadline: the body of a request whose time is over is not read any further.
func TestParsingObeysTheDeadline(t *testing.T) {
	t.Parallel()

	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()

	var p problems

	_, err := decodeJSON(ctx, []byte(`{"a":[1,2,3]}`), &p)
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestHalfSurrogates(t *testing.T) {
	t.Parallel()

	for text, half := range map[string]bool{
		`"\ud83d\ude00"`: false, `"\uD83D\uDE00"`: false, `"\u0041"`: false, `"\\ud83d"`: false, `"\\\ud83d"`: true, `"\ud83d"`: true,
		`"\ude00"`: true, `"\ud83d\u0041"`: true, `"\ud83d\ud83d\ude00"`: true, `"😀"`: false, `"\ud83d\\ude00"`: true, `"\n\/\""`: false,
	} {
		require.True(t, json.Valid([]byte(text)), text)
		require.Equal(t, half, hasHalfSurrogate([]byte(text)), text)
	}
}
