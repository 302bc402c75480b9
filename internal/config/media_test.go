package config

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestMedia(t *testing.T) {
	t.Parallel()

	c := load(t, nil)
	require.Empty(t, c.Media.URL)
	require.Equal(t, time.Hour, c.Media.URLTTL)
	require.Equal(t, 1200, c.Limits.Media)

	for _, address := range []string{"file:///var/lib/rihla/media", "s3://photos", "s3://photos?region=eu-central-1&prefix=rihla/"} {
		require.Equal(t, address, load(t, map[string]string{"MEDIA_URL": address}).Media.URL)
	}

	for _, address := range []string{"/var/lib/rihla/media", "file://", "file:///", "s3://", "mem://", "gs://photos", "http://photos", "::"} {
		_, err := Load(map[string]string{"MEDIA_URL": address})
		require.ErrorContains(t, err, "MEDIA_URL must be", address)
	}

	_, err := Load(map[string]string{"MEDIA_URL_TTL": "0s"})
	require.ErrorContains(t, err, "MEDIA_URL_TTL must be more than zero")
}

func TestMediaSecret(t *testing.T) {
	t.Parallel()

	environ := complete()
	environ["MEDIA_URL_SECRET"] = sentinel + "-media-new-0, " + sentinel + "-media-old-0"
	require.Equal(t, []string{sentinel + "-media-new-0", sentinel + "-media-old-0"}, load(t, environ).Media.URLSecrets.Reveal())
	require.NoError(t, load(t, environ).RequireAPI())

	for value, want := range map[string]string{
		"":                                    "MEDIA_URL_SECRET is missing",
		sentinel:                              "MEDIA_URL_SECRET has a weak entry",
		strings.Repeat("ab", 40):              "MEDIA_URL_SECRET has a weak entry",
		sentinel + "-media-new-0," + sentinel: "MEDIA_URL_SECRET has a weak entry",
	} {
		environ["MEDIA_URL_SECRET"] = value
		err := load(t, environ).RequireAPI()
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), sentinel)
		require.NoError(t, load(t, environ).RequireWorker(), "only the API opens photos")
	}
}
