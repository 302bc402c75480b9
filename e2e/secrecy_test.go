package e2e_test

import (
	"bytes"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/protobuf/proto"

	"rihla/e2e/harness"
	"rihla/internal/config"
	"rihla/internal/store/storetest"
	"rihla/models"
)

// private are words that go in and must not come out anywhere but where they belong.
const (
	privatePassword = "correct-horse-battery"
	privateName     = "Umm Zarqa Traveller"
	privateDocument = "ZQ7654321"
	privatePhone    = "+966577123456"
	privateEmail    = "umm.zarqa@private.test"
	privateToken    = "private-return-token"
)

// keepsSecrets looks for passwords, tokens, keys and people in what the processes logged and in the histories of all
// workflows of this run (spec 8.5.2, architecture §4).
func keepsSecrets(t *testing.T, s *harness.Stack) {
	t.Helper()

	usePrivateData(t, s)

	secrets := append(webhookSecrets(),
		privatePassword, privateName, privateDocument, privatePhone, privatePhone[1:], privateEmail, privateToken,
		storetest.Password, "A1234567", "+966500000001", "customer@rihla.test", "@rihla.test", "harness-gateway-api-key", "eyJhbGciOi",
	)

	logs := map[string]string{"api": s.API.Log(), "worker": s.Worker.Log()}
	// A signature, a database password, a hash; whatever they are of.
	patterns := regexp.MustCompile(`v1,[A-Za-z0-9+/]{43}=|postgres://[^ ]*:[^ ]*@|\$argon2id|Bearer [A-Za-z0-9]`)

	for name, log := range logs {
		require.NotEmpty(t, log)
		require.NotRegexp(t, patterns, log, "in the log of the %s", name)

		for _, secret := range secrets {
			require.NotContains(t, log, secret, "in the log of the %s", name)
		}
	}

	histories := 0

	eachHistory(t, s, func(workflow string, event []byte) {
		histories++

		for _, secret := range secrets {
			require.False(t, bytes.Contains(event, []byte(secret)), "%q in the history of %s: %q", secret, workflow, event)
		}
	})
	require.Greater(t, histories, 100, "there were workflows")
}

// webhookSecrets are those of the channels, without the prefix that says what they are.
func webhookSecrets() []string {
	channels := models.Channels()
	secrets := make([]string, len(channels))

	for i, channel := range channels {
		secrets[i] = strings.TrimPrefix(config.DevWebhookSecret(channel).Reveal(), "whsec_")
	}

	return secrets
}

// usePrivateData does everything that takes private data, in good ways and bad ones.
func usePrivateData(t *testing.T, s *harness.Stack) {
	t.Helper()

	account := map[string]string{"name": privateName, "email": privateEmail, "phone": privatePhone, "password": privatePassword}
	decoded[user](t, http.StatusCreated, s.Anybody().Post("/api/v1/auth/register", account))

	in := signIn(t, s, privateEmail, privatePassword)
	refresh(s, in.Refresh)
	refused(t, s.Anybody().Post("/api/v1/auth/register", account), http.StatusConflict, models.CodeEmailAlreadyExists)
	refused(t, s.Anybody().Post("/api/v1/auth/login", map[string]string{"email": privateEmail, "password": privatePassword + "x"}),
		http.StatusUnauthorized, models.CodeInvalidCredentials)
	refused(t, s.Anybody().Get("/api/v1/me?access_token="+privateToken), http.StatusUnauthorized, models.CodeUnauthenticated)

	customer := s.With(in.Access)
	body := s.BookingRequest(1)
	body["passengers"] = []map[string]string{{"name": privateName, "document_number": privateDocument}}
	body["contact"] = map[string]string{"name": privateName, "email": privateEmail, "phone": privatePhone}
	body["return_url"] = "https://rihla.test/done?token=" + privateToken

	b := decoded[harness.Booking](t, http.StatusCreated, customer.Post(bookingsPath, body))
	require.NoError(t, s.Pay(b.Payment.CheckoutURL, "decline"))
	customer.Await(b.ID)

	next := decoded[transaction](t, http.StatusCreated, customer.Post(intentPath(b.ID),
		map[string]any{"payment_method": "wallet_a", "return_url": "https://rihla.test/done?token=" + privateToken}))
	require.NoError(t, s.Pay(*next.CheckoutURL, "succeed"))
	customer.Await(b.ID)

	give := partly("15.00")
	give["reason"] = "Called by " + privateName + " from " + privatePhone
	decoded[refund](t, http.StatusCreated, s.As(models.RoleFinanceAdmin).Post(refundPath(b.ID), give))

	// What the gateway says about a failure may name the customer too.
	other := decoded[harness.Booking](t, http.StatusCreated, customer.Post(bookingsPath, body))
	failed := eventOf(other, models.EventPaymentFailed)
	failed["data"].(map[string]any)["failure_reason"] = "card of " + privateName
	failed["data"].(map[string]any)["result_code"] = "DECLINED"
	decoded[receipt](t, http.StatusOK, deliver(s, models.ChannelGatewayA, "private-"+other.ID.String(), failed))
	require.Equal(t, models.TransactionFailed, customer.Await(other.ID).PaymentStatus)

	body["contact"] = map[string]string{"name": privateName, "email": privateEmail + " ", "phone": privatePhone}
	refused(t, customer.Post(bookingsPath, body), http.StatusUnprocessableEntity, models.CodeValidation)

	s.As(models.RoleFinanceAdmin).Get(adminRecords + "?search=" + privateDocument)

	require.Eventually(t, func() bool {
		return s.Count("SELECT count(*) FROM notifications WHERE status = 'PENDING'") == 0
	}, patience, refundPoll, "notifications are not sent")
}

// eachHistory calls look with every event of every workflow of the service, as the bytes that the orchestrator keeps.
func eachHistory(t *testing.T, s *harness.Stack, look func(workflow string, event []byte)) {
	t.Helper()

	request := &workflowservice.ListWorkflowExecutionsRequest{Query: fmt.Sprintf("TaskQueue = '%s'", s.Queue)}

	for {
		list, err := s.Temporal.ListWorkflow(t.Context(), request)
		require.NoError(t, err)

		for _, w := range list.GetExecutions() {
			id := w.GetExecution()
			events := s.Temporal.GetWorkflowHistory(t.Context(), id.GetWorkflowId(), id.GetRunId(), false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)

			for events.HasNext() {
				event, err := events.Next()
				require.NoError(t, err)

				raw, err := proto.Marshal(event)
				require.NoError(t, err)
				look(id.GetWorkflowId(), raw)
			}
		}

		if request.NextPageToken = list.GetNextPageToken(); len(request.GetNextPageToken()) == 0 {
			return
		}
	}
}
