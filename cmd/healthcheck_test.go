package cmd

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHealthcheck(t *testing.T) {
	t.Parallel()

	mux := http.NewServeMux()
	mux.HandleFunc("/well", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/ill", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "database away", http.StatusServiceUnavailable)
	})

	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)

	var stderr bytes.Buffer

	check := func(address string) int { return Execute([]string{"healthcheck", address}, &stderr, &stderr) }

	require.Zero(t, check(server.URL+"/well"))
	require.Equal(t, 1, check(server.URL+"/ill"))
	require.Contains(t, stderr.String(), "503 Service Unavailable: database away")
	require.Equal(t, 1, check("http://127.0.0.1:1/"))
	require.Equal(t, 1, check("no address"))
}

func TestSigningKeyIsMadeOnce(t *testing.T) {
	t.Parallel()

	path := filepath.Join(t.TempDir(), "keys", "signing.pem")

	var out bytes.Buffer

	require.Zero(t, Execute([]string{"signing-key", path}, &out, &out))

	made, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Zero(t, Execute([]string{"signing-key", path}, &out, &out))

	again, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, made, again, "a new key would end every session")
	require.Equal(t, 1, bytes.Count(out.Bytes(), []byte("made")))
}
