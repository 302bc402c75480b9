package codec_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"

	"rihla/internal/codec"
)

const (
	token = "a-token-of-somebody-42"
	ui    = "http://ui.example.com"
)

// ask sends a request as host and headers say: pairs of name and value.
func ask(t *testing.T, h http.Handler, method, path, body string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()

	r := httptest.NewRequestWithContext(t.Context(), method, "http://127.0.0.1:8234"+path, strings.NewReader(body))

	for i := 0; i < len(headers); i += 2 {
		if r.Header.Set(headers[i], headers[i+1]); headers[i] == "Host" {
			r.Host = headers[i+1]
		}
	}

	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, r)

	return answer
}

func TestServerSpeaksTheProtocol(t *testing.T) {
	t.Parallel()

	k2 := key(t, "k2")
	server := httptest.NewServer(codec.NewHandler(newCodec(t, k2, key(t, "k1")), codec.Access{Token: token}))
	t.Cleanup(server.Close)

	remote := converter.NewRemotePayloadCodec(converter.RemotePayloadCodecOptions{
		Endpoint: server.URL,
		ModifyRequest: func(r *http.Request) error {
			r.Header.Set("Authorization", "Bearer "+token)

			return nil
		},
	})

	sealed, err := remote.Encode([]*commonpb.Payload{plain("text")})
	require.NoError(t, err)
	require.Equal(t, "k2", string(sealed[0].GetMetadata()["encryption-key-id"]))

	opened, err := newCodec(t, k2).Decode(sealed)
	require.NoError(t, err)
	require.Equal(t, "text", string(opened[0].GetData()))

	opened, err = remote.Decode(append(sealed, plain("old")))
	require.NoError(t, err)
	require.Equal(t, "textold", string(opened[0].GetData())+string(opened[1].GetData()))

	_, err = remote.Decode(encoded(t, newCodec(t, key(t, "k9")), plain("text")))
	require.ErrorContains(t, err, `"k9"`, "the key is not there")
}

func TestServerWantsItsToken(t *testing.T) {
	t.Parallel()
	h := codec.NewHandler(newCodec(t, key(t, "k1")), codec.Access{Token: token, Origins: []string{ui}})

	for _, authorization := range []string{"", token, "Bearer", "Bearer ", "Bearer " + token + "x", "Bearer " + token[1:], "Basic " + token} {
		answer := ask(t, h, http.MethodPost, "/decode", `{}`, "Authorization", authorization, "Origin", ui)
		require.Equal(t, http.StatusUnauthorized, answer.Code, authorization)
		require.Equal(t, ui, answer.Header().Get("Access-Control-Allow-Origin"), "the page may read the refusal")
	}

	for _, scheme := range []string{"Bearer ", "bearer "} {
		answer := ask(t, h, http.MethodPost, "/decode", `{"payloads":[]}`, "Authorization", scheme+token, "Host", "codec.example.com")
		require.Equal(t, http.StatusOK, answer.Code, answer.Body)
		require.Equal(t, "no-store", answer.Header().Get("Cache-Control"))
	}
}

func TestServerLetsOnlyTheUIAsk(t *testing.T) {
	t.Parallel()
	h := codec.NewHandler(newCodec(t, key(t, "k1")), codec.Access{Origins: []string{ui}})

	preflight := ask(t, h, http.MethodOptions, "/decode", "", "Origin", ui, "Access-Control-Request-Method", "POST")
	require.Equal(t, http.StatusNoContent, preflight.Code)
	require.Equal(t, ui, preflight.Header().Get("Access-Control-Allow-Origin"))
	require.Contains(t, preflight.Header().Get("Access-Control-Allow-Headers"), "X-Namespace")
	require.Equal(t, "Origin", preflight.Header().Get("Vary"))

	require.Equal(t, http.StatusOK, ask(t, h, http.MethodPost, "/decode", `{}`, "Origin", ui).Code)
	require.Equal(t, http.StatusOK, ask(t, h, http.MethodPost, "/decode", `{}`).Code, "a command line")

	for _, origin := range []string{"http://evil.example.com", "null", ui + ".evil.example.com", "https://ui.example.com"} {
		for _, method := range []string{http.MethodOptions, http.MethodPost} {
			answer := ask(t, h, method, "/decode", `{}`, "Origin", origin)
			require.Equal(t, http.StatusForbidden, answer.Code, origin)
			require.Empty(t, answer.Header().Get("Access-Control-Allow-Origin"))
		}
	}

	// A foreign domain name that resolves to this machine.
	require.Equal(t, http.StatusUnauthorized, ask(t, h, http.MethodPost, "/decode", `{}`, "Host", "evil.example.com:8234").Code)
	require.Equal(t, http.StatusOK, ask(t, h, http.MethodPost, "/decode", `{}`, "Host", "localhost:8234").Code)
}

func TestServerRefusesOtherRequests(t *testing.T) {
	t.Parallel()
	h := codec.NewHandler(newCodec(t, key(t, "k1")), codec.Access{})

	require.Equal(t, http.StatusNotFound, ask(t, h, http.MethodGet, "/decode", "").Code)
	require.Equal(t, http.StatusNotFound, ask(t, h, http.MethodPost, "/keys", "{}").Code)
	require.Equal(t, http.StatusBadRequest, ask(t, h, http.MethodPost, "/decode", "no json").Code)
	require.Equal(t, http.StatusRequestEntityTooLarge, ask(t, h, http.MethodPost, "/decode", strings.Repeat(" ", 9<<20)).Code)

	for _, body := range []string{`{"payloads":[null]}`, `{"payloads":[{}]}`, `{"payloads":[{"metadata":{"encoding":"!"}}]}`} {
		require.Less(t, ask(t, h, http.MethodPost, "/decode", body).Code, 500, body)
		require.Less(t, ask(t, h, http.MethodPost, "/encode", body).Code, 500, body)
	}
}

func TestIsLoopback(t *testing.T) {
	t.Parallel()

	for address, want := range map[string]bool{
		"127.0.0.1:1": true, "127.9.9.9": true, "localhost:8234": true, "localhost": true, "[::1]:1": true, "[::1]": true, "::1": true,
		"": false, ":8234": false, "0.0.0.0:1": false, "[::]:1": false, "10.0.0.1:1": false, "localhost.example.com:1": false,
	} {
		require.Equal(t, want, codec.IsLoopback(address), address)
	}
}
