package standardwebhook_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"

	"rihla/gateways"
	"rihla/gateways/gatewaytest"
	"rihla/gateways/standardwebhook"
)

func TestWebhooks(t *testing.T) {
	t.Parallel()

	message := func(t *testing.T, secret, kind string, c gateways.Checkout, at time.Time) (http.Header, []byte) {
		t.Helper()

		body := fmt.Sprintf(`{"type":%q,"timestamp":%q,"data":{"checkout_id":%q,"merchant_reference":%q,"amount":%s,"currency":%q,
			"payment_method":"credit_card","result_code":"APPROVED","failure_reason":null}}`,
			kind, at.UTC().Format(time.RFC3339), c.ID, c.MerchantReference, c.Amount, c.Currency)

		return signed(t, "msg_"+c.MerchantReference.String(), at, body, secret), []byte(body)
	}

	gatewaytest.RunWebhooks(t, gatewaytest.Webhooks{
		Verifier: func(t *testing.T, secrets ...string) gateways.WebhookVerifier {
			t.Helper()
			return verifier(t, secrets...)
		},
		Secrets: [2]string{secretOld, secretNew},
		Paid: func(t *testing.T, secret string, c gateways.Checkout, at time.Time) (http.Header, []byte) {
			t.Helper()

			return message(t, secret, "payment.succeeded", c, at)
		},
		Unknown: func(t *testing.T, secret string, at time.Time) (http.Header, []byte) {
			t.Helper()

			return message(t, secret, "moon.full", gateways.Checkout{ID: "co_1", MerchantReference: uuid.New(), Currency: "SAR"}, at)
		},
		Proof:  []string{standardwebhook.HeaderID, standardwebhook.HeaderTimestamp, standardwebhook.HeaderSignature},
		Signed: true, Ages: true,
	})
}
