package auth_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/internal/auth"
)

func TestIsCommonPassword(t *testing.T) {
	t.Parallel()

	for _, common := range []string{"1234567890", "qwertyuiop", "Password123", " basketball1 ", "**********"} {
		require.True(t, auth.IsCommonPassword(common), common)
	}

	for _, fine := range []string{"", "rihla-dev-password", "a-long-enough-password", "correct horse battery staple"} {
		require.False(t, auth.IsCommonPassword(fine), fine)
	}
}
