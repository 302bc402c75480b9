package config

import (
	"encoding/base64"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCodecKeys(t *testing.T) {
	t.Parallel()

	secret := base64.StdEncoding.EncodeToString([]byte(sentinel + "-codec-"))
	environ := complete()
	environ["TEMPORAL_CODEC_KEYS"] = "k2:" + secret + ", k1:" + secret

	c := load(t, environ)
	require.Len(t, c.Temporal.CodecKeys, 2)
	require.NoError(t, c.RequireAPI())
	require.NoError(t, c.RequireWorker())

	for _, bad := range []string{"k1", "k1:" + sentinel, ":" + secret, "k1:" + secret + ",k1:" + secret, "plain,k1:" + secret + ",plain"} {
		environ["TEMPORAL_CODEC_KEYS"] = bad
		_, err := Load(environ)
		require.ErrorContains(t, err, "TEMPORAL_CODEC_KEYS ", bad)
		require.NotContains(t, err.Error(), secret)
		require.NotContains(t, err.Error(), sentinel)
	}
}

func TestRequireCodec(t *testing.T) {
	t.Parallel()

	c := load(t, nil)
	require.ErrorContains(t, c.RequireCodec(false), "TEMPORAL_CODEC_KEYS is missing")

	key := "k1:" + base64.StdEncoding.EncodeToString([]byte(sentinel+"-codec-"))
	c = load(t, map[string]string{"TEMPORAL_CODEC_KEYS": key})
	require.NoError(t, c.RequireCodec(false))
	require.ErrorContains(t, c.RequireCodec(true), "TEMPORAL_CODEC_TOKEN is missing")

	c = load(t, map[string]string{"TEMPORAL_CODEC_KEYS": key, "TEMPORAL_CODEC_TOKEN": sentinel})
	require.NoError(t, c.RequireCodec(true))

	c = load(t, map[string]string{"TEMPORAL_CODEC_KEYS": key, "TEMPORAL_CODEC_TOKEN": "aaaaaaaaaaaaaaaaaaaa"})
	require.ErrorContains(t, c.RequireCodec(false), "TEMPORAL_CODEC_TOKEN is weak")
}

func TestVersioning(t *testing.T) {
	t.Parallel()

	c := load(t, nil)
	require.Empty(t, c.Temporal.BuildID, "off by default")
	require.Equal(t, "rihla", c.Temporal.DeploymentName)
	require.Equal(t, "v1.2.0+4f7a1c9", load(t, map[string]string{"TEMPORAL_BUILD_ID": "v1.2.0+4f7a1c9"}).Temporal.BuildID)

	for name, value := range map[string]string{
		"TEMPORAL_BUILD_ID": "a b", "TEMPORAL_WORKER_BUILD_ID": "a b", "TEMPORAL_DEPLOYMENT_NAME": "ri.hla",
	} {
		_, err := Load(map[string]string{name: value})
		require.ErrorContains(t, err, name+" must be")
	}
}

// TestBuildIDOfTheWorkerController: what Temporal's worker controller sets makes a version as well, and may not be contradicted.
func TestBuildIDOfTheWorkerController(t *testing.T) {
	t.Parallel()

	c := load(t, map[string]string{"TEMPORAL_WORKER_BUILD_ID": "v1-2-0-4f7a", "TEMPORAL_DEPLOYMENT_NAME": "prod/rihla"})
	require.Equal(t, "v1-2-0-4f7a", c.Temporal.BuildID)
	require.Equal(t, "prod/rihla", c.Temporal.DeploymentName, "the controller's form")

	same := map[string]string{"TEMPORAL_WORKER_BUILD_ID": "v1", "TEMPORAL_BUILD_ID": "v1"}
	require.Equal(t, "v1", load(t, same).Temporal.BuildID)

	same["TEMPORAL_BUILD_ID"] = "v2"
	_, err := Load(same)
	require.ErrorContains(t, err, "TEMPORAL_BUILD_ID is not TEMPORAL_WORKER_BUILD_ID")
}
