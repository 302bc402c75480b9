package models_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/models"
)

func TestMaskedAddresses(t *testing.T) {
	t.Parallel()

	for address, want := range map[string]string{
		"sara@example.com": "s***@example.com", "سارة@example.com": "س***@example.com", "a@b.sa": "a***@b.sa", `"a@b"@c.sa`: `"***@c.sa`,
		"@b.sa": "***@b.sa", "sara": "***", "": "***",
	} {
		require.Equal(t, want, models.MaskEmail(address))
	}

	for number, want := range map[string]string{
		"+966501234567": "***567", "0501234567": "***567", "123456": "***456", "12345": "***", "": "***",
	} {
		require.Equal(t, want, models.MaskPhone(number))
	}
}
