package config

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMediaQuota(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]Bytes{"": 1 << 30, "0": 0, "1GiB": 1 << 30, "500 MiB": 500 << 20, "4096": 4096, "2TiB": 2 << 40} {
		c, err := Load(map[string]string{"MEDIA_QUOTA": text})
		require.NoError(t, err, text)
		require.Equal(t, want, c.Media.Quota, text)
	}

	for _, text := range []string{"-1", "1.5GiB", "1GB", "GiB", "9999999999TiB"} {
		_, err := Load(map[string]string{"MEDIA_QUOTA": text})
		require.ErrorContains(t, err, "MEDIA_QUOTA", text)
	}
}
