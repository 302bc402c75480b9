package middleware

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/api/contract"
)

// TestVerifiersAndDocumentAgree: an operation with x-raw-body that nothing verifies, and a verifier of any other, stop the
// start.
func TestVerifiersAndDocumentAgree(t *testing.T) {
	t.Parallel()

	verify := WebhookPath{Verify: func(http.Header, []byte) (Webhook, error) { return Webhook{}, nil }}
	operations := map[string]*contract.Operation{"POST /a": {ID: "TakeA", RawBody: true}, "POST /b": {ID: "CreateB"}}

	require.NoError(t, checkWebhooks(operations, map[string]WebhookPath{"TakeA": verify}))
	require.ErrorContains(t, checkWebhooks(operations, nil), "TakeA has x-raw-body and no verifier")
	require.ErrorContains(t, checkWebhooks(operations, map[string]WebhookPath{"TakeA": verify, "CreateB": verify}),
		"CreateB has a verifier and no x-raw-body")
}
