package e2e_test

import (
	"bytes"
	"maps"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/protobuf/proto"

	"rihla/e2e/harness"
	"rihla/models"
)

// faultSecrets are of services that cannot be reached at their addresses: errors of connecting often quote the credentials.
var faultSecrets = map[string]string{
	"SMTP_URL": "smtp-Passw0rd", "SMS_API_KEY": "sms-key-0123456789abc", "SMS_URL": "sms-account-0123", "REDIS_URL": "redis-Passw0rd",
}

// TestSecrecyOfFailures breaks what the service stands on, in ways that quote private data: mail and SMS that do not
// leave, a limiter that is away, a database that complains about a value, to the API and to the worker.
func TestSecrecyOfFailures(t *testing.T) {
	t.Parallel()

	s := harness.Start(t, harness.Options{Env: map[string]string{
		"LOG_LEVEL": "DEBUG",
		"SMTP_URL":  "smtp://mailer:" + faultSecrets["SMTP_URL"] + "@127.0.0.1:1",
		"REDIS_URL": "redis://:" + faultSecrets["REDIS_URL"] + "@127.0.0.1:1/0", "SMS_DRIVER": "http",
		"SMS_URL": "http://127.0.0.1:1/send?account=" + faultSecrets["SMS_URL"], "SMS_API_KEY": faultSecrets["SMS_API_KEY"],
	}})

	account := map[string]string{"name": privateName, "email": privateEmail, "phone": privatePhone, "password": privatePassword}
	decoded[user](t, http.StatusCreated, s.Anybody().Post("/api/v1/auth/register", account))

	in := signIn(t, s, privateEmail, privatePassword)
	customer := s.With(in.Access)
	body := s.BookingRequest(1)
	body["passengers"] = []map[string]string{{"name": privateName, "document_number": privateDocument}}
	body["contact"] = map[string]string{"name": privateName, "email": privateEmail, "phone": privatePhone}

	complainingAPI(t, s, customer, account, body)
	settled := complainingWorker(t, s, customer, body)

	require.Eventually(t, func() bool { // neither way out is open
		return s.Count("SELECT count(DISTINCT channel) FROM notifications WHERE transaction_id = $1 AND attempts > 0 AND last_error <> ''", settled) == 2
	}, patience, refundPoll)

	secrets := append(serviceSecrets(), in.Access, in.Refresh, privatePassword, privateName, privateDocument, privatePhone, privatePhone[1:], privateEmail)
	for secret := range maps.Values(faultSecrets) {
		secrets = append(secrets, secret)
	}

	logsKeep(t, s, secrets)
	requestLines(t, s, customer)
}

// complainingAPI has the database refuse what the API writes, with a message that quotes it.
func complainingAPI(t *testing.T, s *harness.Stack, customer *harness.Caller, account map[string]string, booking map[string]any) {
	t.Helper()

	undo := complain(t, s, "users", "name", privateName)
	again := maps.Clone(account)
	again["email"] = "second." + privateEmail

	refused(t, s.Anybody().Post("/api/v1/auth/register", again), http.StatusInternalServerError, models.CodeInternal)
	undo()

	undo = complain(t, s, "bookings", "contact_email", privateEmail)
	refused(t, customer.Post(bookingsPath, booking), http.StatusInternalServerError, models.CodeInternal)
	undo()

	require.Contains(t, s.API.Log(), "SQLSTATE 22P02", "the complaint is in the log, without what it is about")
}

// complainingWorker has the database refuse the statements that settle a payment. The failures that the orchestrator stores
// quote no person either. In the end the payment is settled all the same; it returns the attempt.
func complainingWorker(t *testing.T, s *harness.Stack, customer *harness.Caller, booking map[string]any) uuid.UUID {
	t.Helper()

	b := decoded[harness.Booking](t, http.StatusCreated, customer.Post(bookingsPath, booking))
	undo := complain(t, s, "notifications", "recipient", privateEmail)

	require.NoError(t, s.Pay(*b.Payment.CheckoutURL, "succeed"))

	id := models.PaymentWorkflowID(b.Payment.TransactionID)
	payment := &commonpb.WorkflowExecution{WorkflowId: id}

	require.Eventually(t, func() bool { // the history has the failed attempts, which no log has
		failed := false

		eachEvent(t, s, payment, func(event []byte) { failed = failed || bytes.Contains(event, []byte("SQLSTATE 22P02")) })

		return failed
	}, patience, refundPoll)

	known, err := s.Temporal.WorkflowService().DescribeWorkflowExecution(t.Context(), &workflowservice.DescribeWorkflowExecutionRequest{
		Namespace: "default", Execution: payment,
	})
	require.NoError(t, err)

	raw, err := proto.Marshal(known)
	require.NoError(t, err)

	people := []string{privateName, privateEmail, privatePhone, privateDocument}
	keeps(t, "what is known of "+id, string(raw), people)
	undo()
	require.Equal(t, models.TransactionPaid, customer.Await(b.ID).PaymentStatus)

	eachEvent(t, s, payment, func(event []byte) { keeps(t, "the history of "+id, string(event), people) })

	return b.Payment.TransactionID
}

// complain makes PostgreSQL quote a value of a column whenever a row has it; the returned function ends that.
func complain(t *testing.T, s *harness.Stack, table, column, value string) (undo func()) {
	t.Helper()

	exec := func(query string) {
		t.Helper()

		_, err := s.DB.ExecContext(t.Context(), query)
		require.NoError(t, err)
	}

	// A row that has the value already would be in the way, so that only rows to come are looked at.
	exec(`CREATE FUNCTION complain_about_` + table + `() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN IF NEW.` + column + ` = '` + value + `' THEN PERFORM NEW.` + column + `::int; END IF; RETURN NEW; END $$`)
	exec(`CREATE TRIGGER complain BEFORE INSERT ON ` + table + ` FOR EACH ROW EXECUTE FUNCTION complain_about_` + table + `()`)

	return func() { exec(`DROP TRIGGER complain ON ` + table) }
}

// requestLines wants the log line (rules: privacy.logs) for every kind of request.
func requestLines(t *testing.T, s *harness.Stack, customer *harness.Caller) {
	t.Helper()

	staff, admin := s.As(models.RoleProviderStaff), s.As(models.RoleAdmin)
	userID := decoded[user](t, http.StatusOK, customer.Get("/api/v1/me")).ID.String()
	staffID, providerID := s.World.Users[models.RoleProviderStaff].ID.String(), s.World.Provider.ID.String()
	unknown := bookingsPath + "/" + uuid.NewString()

	for _, tt := range []struct {
		caller             *harness.Caller
		method, path       string
		route              string // as in the document; empty for none
		status             int
		userID, providerID string
	}{
		{s.Anybody(), http.MethodGet, "/api/v1/trips", "/api/v1/trips", http.StatusOK, "", ""},
		{s.Anybody(), http.MethodHead, "/api/v1/trips", "/api/v1/trips", http.StatusOK, "", ""},
		{customer, http.MethodGet, "/api/v1/me", "/api/v1/me", http.StatusOK, userID, ""},
		{staff, http.MethodGet, "/api/v1/provider/buses", "/api/v1/provider/buses", http.StatusOK, staffID, providerID},
		{s.Anybody(), http.MethodGet, "/api/v1/me", "/api/v1/me", http.StatusUnauthorized, "", ""},
		{customer, http.MethodGet, "/api/v1/admin/providers", "/api/v1/admin/providers", http.StatusForbidden, userID, ""},
		{customer, http.MethodGet, unknown, "/api/v1/bookings/:id", http.StatusNotFound, userID, ""},
		{admin, http.MethodGet, "/nowhere", "", http.StatusNotFound, "", ""},
		{admin, http.MethodPut, "/api/v1/me", "", http.StatusMethodNotAllowed, "", ""},
		{customer, http.MethodPost, bookingsPath, bookingsPath, http.StatusBadRequest, userID, ""},
		{s.Anybody(), http.MethodPost, "/api/v1/payments/webhook/gateway_a", "/api/v1/payments/webhook/gateway_a", http.StatusUnauthorized, "", ""},
	} {
		id := uuid.NewString()

		a, err := tt.caller.Do(tt.method, tt.path, nil, map[string]string{"X-Request-Id": id, "Content-Type": "application/json"})
		require.NoError(t, err)
		require.Equal(t, tt.status, a.Status, "%s %s: %s", tt.method, tt.path, a.Body)
		require.Equal(t, id, a.Header.Get("X-Request-ID"))

		var line map[string]string

		// The line is written when the answer has left.
		require.Eventually(t, func() bool { line = requestLine(s.API.Log(), id); return line != nil }, patience, refundPoll)
		require.Regexp(t, `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z$`, line["time"])
		require.Equal(t, []string{"INFO", tt.method, tt.path}, []string{line["level"], line["method"], line["path"]})
		require.Equal(t, strconv.Itoa(tt.status), line["status"])
		require.Equal(t, []string{tt.userID, tt.providerID}, []string{line["user_id"], line["provider_id"]}, "%s %s", tt.method, tt.path)

		if tt.route != "" {
			require.Equal(t, tt.route, line["route"])
		}
	}
}

var logField = regexp.MustCompile(`([a-z_]+)=("(?:[^"\\]|\\.)*"|\S*)`)

// requestLine is the log's line of one request, by its fields; nil while there is none. Two would be one too many.
func requestLine(log, id string) map[string]string {
	var found map[string]string

	for line := range strings.Lines(log) {
		if !strings.Contains(line, "msg=request ") || !strings.Contains(line, "request_id="+id) {
			continue
		}

		if found != nil {
			return map[string]string{"time": "twice"}
		}

		found = map[string]string{}
		for _, m := range logField.FindAllStringSubmatch(line, -1) {
			found[m[1]] = strings.Trim(m[2], `"`)
		}
	}

	return found
}
