package e2e_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/protobuf/proto"

	"rihla/e2e/harness"
	"rihla/e2e/rig"
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
	privateCard     = "4111111111111111"
)

// keepsSecrets looks for passwords, tokens, keys and people in what the processes of a whole run have logged at DEBUG,
// and in the histories, ids and search attributes of all its workflows (rules: privacy.logs, privacy.histories).
func keepsSecrets(t *testing.T, s *harness.Stack) {
	t.Helper()

	secrets := slices.Concat(usePrivateData(t, s), serviceSecrets(), everybody(t, s), []string{
		privatePassword, privatePassword + "x", privateName, privateDocument, privatePhone, privatePhone[1:], privateEmail, privateToken,
		privateCard, storetest.Password, "@rihla.test", "@private.test",
	})

	logsKeep(t, s, secrets)
	metricsKeep(t, s, secrets)

	workflows, events := 0, 0

	eachWorkflow(t, s, func(w *workflowpb.WorkflowExecutionInfo) {
		workflows++

		// All that is searched by: id, type, memo and search attributes.
		raw, err := proto.Marshal(w)
		require.NoError(t, err)
		keeps(t, "what is known of "+w.GetExecution().GetWorkflowId(), string(raw), secrets)

		eachEvent(t, s, w.GetExecution(), func(event []byte) {
			events++

			keeps(t, "the history of "+w.GetExecution().GetWorkflowId(), string(event), secrets)
		})
	})
	require.Greater(t, workflows, 10)
	require.Greater(t, events, 100)
}

// giveaways are what no log has, whosever it is: a signature, a password in an address, a hash, a token, a refresh
// token's 43 characters.
var giveaways = regexp.MustCompile(`v1,[A-Za-z0-9+/]{43}=|://[^ /]*:[^ /]*@|\$argon2id|(?i:bearer|basic) [A-Za-z0-9]|eyJhbGciOi|whsec_|` +
	`(?:^|[ ="])[A-Za-z0-9_-]{43}(?:[ "]|$)|[?&]signature=`)

func logsKeep(t *testing.T, s *harness.Stack, secrets []string) {
	t.Helper()

	logs := s.Logs()
	require.Contains(t, logs["api"], "msg=request")
	require.Contains(t, logs["worker"], "level=DEBUG", "everything that can be logged is")

	for name, log := range logs {
		keeps(t, "the log of the "+name, log, secrets)
		require.NotRegexp(t, giveaways, log, "in the log of the %s", name)
	}
}

// keeps fails with the place of a secret, and a little of what is around it.
func keeps(t *testing.T, where, text string, secrets []string) {
	t.Helper()

	for _, secret := range secrets {
		if at := strings.Index(text, secret); at >= 0 {
			require.Fail(t, "a secret is in "+where, "%q: %q", secret, text[max(0, at-200):min(len(text), at+len(secret)+100)])
		}
	}
}

// serviceSecrets are those that the processes were started with.
func serviceSecrets() []string {
	known := []string{rig.APIKey, rig.MediaURLSecret, "pgtdbpass", "PRIVATE KEY"}

	return slices.Concat(known, webhookSecrets())
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

// everybody is all that the database knows of people by now, of every test that shared the service.
func everybody(t *testing.T, s *harness.Stack) []string {
	t.Helper()

	rows, err := s.DB.QueryContext(t.Context(), `
		SELECT DISTINCT word FROM (
			SELECT unnest(ARRAY[name, email, phone, password_hash]) FROM users
			UNION ALL SELECT unnest(ARRAY[email, phone]) FROM providers
			UNION ALL SELECT unnest(ARRAY[contact_name, contact_email, contact_phone, return_url]) FROM bookings
			UNION ALL SELECT unnest(ARRAY[p ->> 'name', p ->> 'document_number']) FROM bookings, jsonb_array_elements(passengers) AS p
			UNION ALL SELECT unnest(ARRAY[driver_name, driver_phone, driver_license]) FROM buses
			UNION ALL SELECT recipient FROM notifications
			UNION ALL SELECT reason FROM refunds
			UNION ALL SELECT failure_reason FROM webhook_events
		) AS all_words (word) WHERE length(word) > 5`)
	require.NoError(t, err)

	defer rows.Close()

	var words []string

	for rows.Next() {
		var word string

		require.NoError(t, rows.Scan(&word))

		// A single word, such as Customer, may be anything.
		if strings.ContainsAny(word, " @+0123456789") {
			words = append(words, word)
		}
	}

	require.NoError(t, rows.Err())
	require.Greater(t, len(words), 10)

	return words
}

// usePrivateData does everything that takes private data, in good ways and bad ones. It returns the tokens it was given.
func usePrivateData(t *testing.T, s *harness.Stack) []string {
	t.Helper()

	account := map[string]string{"name": privateName, "email": privateEmail, "phone": privatePhone, "password": privatePassword}
	decoded[user](t, http.StatusCreated, s.Anybody().Post("/api/v1/auth/register", account))

	in := signIn(t, s, privateEmail, privatePassword)
	next := decoded[tokens](t, http.StatusOK, refresh(s, in.Refresh))
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
	require.NoError(t, s.Pay(*b.Payment.CheckoutURL, "decline"))
	customer.Await(b.ID)

	again := decoded[transaction](t, http.StatusCreated, customer.Post(intentPath(b.ID),
		map[string]any{"payment_method": "wallet_a", "return_url": "https://rihla.test/done?token=" + privateToken}))
	require.NoError(t, s.Pay(*again.CheckoutURL, "succeed"))
	customer.Await(b.ID)

	give := partly("15.00")
	give["reason"] = "Called by " + privateName + " from " + privatePhone
	decoded[refund](t, http.StatusCreated, s.As(models.RoleFinanceAdmin).Post(refundPath(b.ID), give))

	// The gateway's text about a failure may name the customer too.
	other := decoded[harness.Booking](t, http.StatusCreated, customer.Post(bookingsPath, body))
	failed := eventOf(other, models.EventPaymentFailed)
	failed["data"].(map[string]any)["failure_reason"] = "card of " + privateName
	failed["data"].(map[string]any)["result_code"] = "DECLINED"
	decoded[receipt](t, http.StatusOK, deliver(s, models.ChannelGatewayA, "private-"+other.ID.String(), failed))
	require.Equal(t, models.TransactionFailed, customer.Await(other.ID).PaymentStatus)

	s.As(models.RoleFinanceAdmin).Get(adminRecords + "?search=" + privateDocument)
	badPrivateData(t, s, customer, body)

	require.Eventually(t, func() bool {
		return s.Count("SELECT count(*) FROM notifications WHERE recipient IN ($1, $2) AND status = 'PENDING'", privateEmail, privatePhone) == 0
	}, patience, refundPoll, "notifications are not sent")

	return []string{in.Access, in.Refresh, next.Access, next.Refresh}
}

// badPrivateData sends private data where it is refused: broken, misplaced, or with the wrong signature.
func badPrivateData(t *testing.T, s *harness.Stack, customer *harness.Caller, booking map[string]any) {
	t.Helper()

	do := func(c *harness.Caller, method, path, body string, header map[string]string) {
		t.Helper()

		a, err := c.Do(method, path, []byte(body), header)
		require.NoError(t, err)
		require.GreaterOrEqual(t, a.Status, http.StatusBadRequest, "%s %s", method, path)
		require.Less(t, a.Status, http.StatusInternalServerError, "%s %s", method, path)
	}

	booking["contact"] = map[string]string{"name": privateName, "email": privateEmail + "@", "phone": privatePhone}
	refused(t, customer.Post(bookingsPath, booking), http.StatusUnprocessableEntity, models.CodeValidation)

	for _, body := range []string{
		`{"email":"` + privateEmail + `","password":"` + privatePassword,
		`{"email":["` + privateEmail + `"],"password":{"` + privatePassword + `":1}}`,
		`{"` + privateDocument + `":1,"card_number":"` + privateCard + `","cvv":"123","name":"` + privateName + `"}`,
		`["` + privatePassword + `"]`, `"` + privateCard + `"`, privatePassword, privateName + "\xff",
	} {
		for _, path := range []string{"/api/v1/auth/login", "/api/v1/auth/register", "/api/v1/auth/refresh", bookingsPath, "/api/v1/payments/webhook/gateway_a"} {
			do(customer, http.MethodPost, path, body, nil)
		}
	}

	hook := `{"type":"payment.failed","data":{"failure_reason":"` + privateName + " " + privateCard + `"}}`
	do(s.Anybody(), http.MethodPost, "/api/v1/payments/webhook/wallet_b", hook, s.Signed(models.ChannelWalletB, "private", []byte(hook)))

	for _, path := range []string{
		bookingsPath + "/" + privateEmail, bookingsPath + "/" + customer.Token(), "/api/v1/" + url.PathEscape(privateEmail), "/" + privateCard,
		"/api/v1/trips/" + url.PathEscape(privatePhone), "/api/v1/media/" + uuid.NewString() + "?expires=9999999999&signature=" + privateToken,
		"/api/v1/my/bookings?status=" + privateToken + "&sort=" + privateDocument,
	} {
		do(customer, http.MethodGet, path, "", nil)
	}

	for _, header := range []map[string]string{
		{"Authorization": "Bearer " + customer.Token() + "x"},
		{"Authorization": "Basic " + privateToken},
		{"Authorization": privateToken},
		{"Authorization": "Bearer", "X-Request-Id": privateEmail, "Cookie": "session=" + privateToken},
	} {
		do(s.Anybody(), http.MethodGet, "/api/v1/me", "", header)
	}

	do(customer, http.MethodPost, bookingsPath, `{}`, map[string]string{"Idempotency-Key": privateToken})
}

// eachWorkflow calls look with every workflow of the service.
func eachWorkflow(t *testing.T, s *harness.Stack, look func(*workflowpb.WorkflowExecutionInfo)) {
	t.Helper()

	request := &workflowservice.ListWorkflowExecutionsRequest{Query: fmt.Sprintf("TaskQueue = '%s'", s.Queue)}

	for {
		list, err := s.Temporal.ListWorkflow(t.Context(), request)
		require.NoError(t, err)

		for _, w := range list.GetExecutions() {
			look(w)
		}

		if request.NextPageToken = list.GetNextPageToken(); len(request.GetNextPageToken()) == 0 {
			return
		}
	}
}

// eachEvent calls look with every event of a workflow, as the bytes that the orchestrator keeps.
func eachEvent(t *testing.T, s *harness.Stack, id *commonpb.WorkflowExecution, look func(event []byte)) {
	t.Helper()

	events := s.Temporal.GetWorkflowHistory(t.Context(), id.GetWorkflowId(), id.GetRunId(), false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)

	for events.HasNext() {
		event, err := events.Next()
		require.NoError(t, err)

		raw, err := proto.Marshal(event)
		require.NoError(t, err)
		look(raw)
	}
}
