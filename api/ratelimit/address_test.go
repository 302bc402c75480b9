package ratelimit

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCountedAddress(t *testing.T) {
	t.Parallel()

	require.Equal(t, "2001:db8:1:2::", countedAddress("2001:db8:1:2:3:4:5:6"))
	require.Equal(t, "203.0.113.9", countedAddress("203.0.113.9"))
	require.Equal(t, "2001:db8:1::", countedSite("2001:db8:1:2:3:4:5:6"))
	require.Empty(t, countedSite("203.0.113.9"))
}
