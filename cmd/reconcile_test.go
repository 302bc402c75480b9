package cmd

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/config"
)

func TestSinceOf(t *testing.T) {
	t.Parallel()

	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

	for text, want := range map[string]time.Time{
		"2026-11-29T10:15:00+03:00": time.Date(2026, 11, 29, 7, 15, 0, 0, time.UTC),
		"2026-11-29T12:00:00Z":      now,
		"90m":                       now.Add(-90 * time.Minute),
	} {
		since, err := sinceOf(text, now)
		require.NoError(t, err, text)
		require.True(t, want.Equal(since), text)
	}

	for text, says := range map[string]string{
		"":                     "--since is missing",
		"yesterday":            "neither a time with its zone",
		"2026-11-29 10:15":     "neither a time with its zone",
		"-2h":                  "neither a time with its zone",
		"2026-11-29T12:00:01Z": "is in the future",
	} {
		_, err := sinceOf(text, now)
		require.ErrorContains(t, err, says, text)
	}
}

func TestReconcileFlags(t *testing.T) {
	t.Parallel()

	cfg, err := config.Load(map[string]string{})
	require.NoError(t, err)
	require.NoError(t, (&reconcileOptions{rate: 1, gateways: []string{"gateway_a"}}).check(cfg))

	for says, o := range map[string]reconcileOptions{
		"--rate must be more than 0":                                      {},
		"--back must not be negative":                                     {rate: 1, back: -1},
		`--gateway "other" is no configured account: gateway_a, wallet_b`: {rate: 1, gateways: []string{"other"}},
	} {
		require.ErrorContains(t, o.check(cfg), says)
	}
}
