package e2e_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/uuid"
	"github.com/pquerna/otp/totp"
	"github.com/stretchr/testify/require"

	"rihla/api/contract"
	"rihla/api/gen"
	"rihla/e2e/harness"
	"rihla/internal/store/storetest"
	"rihla/models"
)

// liveBodies are bodies that do what they ask for, where those of w.posts are merely well-formed.
func (w *targets) liveBodies(t *testing.T) map[string]func(target) target {
	t.Helper()

	with := func(field string, value func() any) func(target) target {
		return func(p target) target {
			p.body = p.with(field, value())

			return p
		}
	}

	account := func() (email string) {
		someone := w.World.Users[models.RoleEndUser]
		someone.ID, someone.Email = models.NewID(), "words."+uuid.NewString()+"@rihla.test"
		_, err := w.Store.Accounts.CreateUser(t.Context(), someone)
		require.NoError(t, err)

		return someone.Email
	}
	login := func(email string) harness.Answer {
		return w.Anybody().Post("/api/v1/auth/login", map[string]any{"email": email, "password": storetest.Password})
	}
	signIn := func(email string) gen.Tokens { return decoded[gen.Tokens](t, http.StatusOK, login(email)) }
	enrol := func(c *harness.Caller) (code string) {
		made := decoded[gen.NewSecondFactor](t, http.StatusOK, c.Post(mePath+"/totp", map[string]any{"password": storetest.Password}))
		code, err := totp.GenerateCode(made.Secret, time.Now())
		require.NoError(t, err)

		return code
	}

	someone := account()
	refresh := with("refresh_token", func() any { return signIn(someone).RefreshToken })

	var (
		me    *harness.Caller // with a second factor from where it is first needed
		spare []string        // its recovery codes
	)

	sold := func() string {
		return w.one(t, "SELECT id FROM financial_records WHERE booking_id = '"+w.As(models.RoleEndUser).BookPaid(1).ID.String()+"'")
	}
	first, second := sold(), sold()

	unpaid := w.NewCampaign("1000.00", 3).String()
	campaign := func(p target) target {
		p.path = "/api/v1/provider/ad-campaigns/" + unpaid

		return p
	}

	return map[string]func(target) target{
		"Login": func(p target) target {
			p.body = map[string]any{"email": someone, "password": storetest.Password}

			return p
		},
		"RefreshTokens": refresh, "Logout": refresh,
		"LoginTOTP": func(p target) target {
			me = w.With(signIn(someone).AccessToken)
			spare = decoded[gen.RecoveryCodes](t, http.StatusOK, me.Post(mePath+"/totp/confirm", map[string]any{"code": enrol(me)})).RecoveryCodes
			p.body = map[string]any{
				"mfa_token": decoded[gen.SecondFactorNeeded](t, http.StatusOK, login(someone)).MfaToken, "code": strings.ReplaceAll(spare[0], "-", ""),
			}

			return p
		},
		"StepUp": func(p target) target {
			p.caller, p.body = me, map[string]any{"code": strings.ReplaceAll(spare[1], "-", "")}

			return p
		},
		"ConfirmSecondFactor": func(p target) target {
			p.caller = w.With(signIn(account()).AccessToken)
			p.body = map[string]any{"code": enrol(p.caller)}

			return p
		},
		"InviteCompanyStaff": with("email", func() any { return "words." + uuid.NewString() + "@rihla.test" }),
		"CreateStaff":        with("email", func() any { return "words." + uuid.NewString() + "@rihla.test" }),
		"ReplaceAdCampaign":  campaign, "PatchAdCampaign": campaign,
		"ReplaceBus":     with("plate_number", func() any { return "BAD 2" }),
		"PatchBus":       with("plate_number", func() any { return "BAD 2" }),
		"AssignIncident": with("assignee_id", func() any { return w.World.Users[models.RoleSuperAdmin].ID }),
		"MarkRecordTransferred": func(p target) target {
			p.path = "/api/v1/admin/financial-records/" + first + "/mark-transferred"

			return p
		},
		"MarkRecordsTransferred": with("ids", func() any { return []string{second} }),
		"RevertRecordTransfer": func(p target) target {
			p.caller, p.path = w.As(models.RoleFinanceAdmin), "/api/v1/admin/financial-records/"+first+"/revert-transfer"

			return p
		},
		"RefundBooking": with("payment_transaction_id", func() any { return w.paid.Payment.TransactionID }),
	}
}

// typedParameters asks everything that is read with every parameter in every way of writing it.
func typedParameters(t *testing.T, w *targets) {
	t.Helper()

	met := map[contract.Input]int{}

	for path, item := range w.doc.Paths.Map() {
		op := item.Get
		if op == nil || op.OperationID == "GetPhoto" || op.OperationID == "OpenTicket" || strings.HasPrefix(path, "/pay/") || strings.Contains(path, "/oidc/") {
			continue // what is written by the service itself
		}

		path = w.place(path)
		c := w.reader(op)

		for _, list := range []openapi3.Parameters{item.Parameters, op.Parameters} {
			for _, p := range list {
				kind := contract.ParameterOf(p.Value.Name, p.Value.Schema.Value)
				if p.Value.In != openapi3.ParameterInQuery || slices.Contains(asTyped, kind) || kind == contract.InputSearch || kind == contract.InputText {
					continue // searches are told by what they find
				}

				require.Contains(t, dressed, kind, "%s %s", op.OperationID, p.Value.Name)
				require.NotContains(t, path, "{", "%s: say in place which one is meant", op.OperationID)
				met[kind]++

				query := neededBy(op)
				value := w.sampleOf(p.Value.Name, p.Value.Schema.Value)

				if strings.HasPrefix(p.Value.Name, "date_") { // one of them is no period
					query.Set("date_from", value)
					query.Set("date_to", value)
				}

				query.Set(p.Value.Name, value)

				plain := c.Get(path + "?" + query.Encode())
				require.Equal(t, http.StatusOK, plain.Status, "%s %s: %s", op.OperationID, query, plain.Body)

				for _, typed := range dressed[kind](value) {
					query.Set(p.Value.Name, typed)

					a := c.Get(path + "?" + query.Encode())
					require.Equal(t, http.StatusOK, a.Status, "%s %s = %+q: %s", op.OperationID, p.Value.Name, typed, a.Body)
				}
			}
		}
	}

	for _, kind := range []contract.Input{contract.InputAmount, contract.InputDigits, contract.InputExact, contract.InputReference} {
		require.NotZero(t, met[kind], "no parameter is a %s", kind)
	}
}

// place is a path of the document about something that there is.
func (w *targets) place(path string) string {
	return strings.NewReplacer("/bookings/{id}", "/bookings/"+w.paid.ID.String(), "/providers/{id}", "/providers/"+w.World.Provider.ID.String(),
		"/trips/{id}", "/trips/"+w.World.Trip.ID.String()).Replace(path)
}

// reader is who may ask an operation.
func (w *targets) reader(op *openapi3.Operation) *harness.Caller {
	roles := fmt.Sprint(op.Extensions["x-roles"])

	for _, role := range []models.Role{models.RoleSuperAdmin, models.RoleProviderAdmin} {
		if strings.Contains(roles, string(role)) {
			return w.As(role)
		}
	}

	if strings.Contains(roles, "authenticated") {
		return w.As(models.RoleEndUser)
	}

	return w.Anybody()
}

// neededBy are the parameters without which an operation answers nothing.
func neededBy(op *openapi3.Operation) url.Values {
	query := url.Values{}

	for _, p := range op.Parameters {
		if s := p.Value.Schema.Value; p.Value.Required && p.Value.In == openapi3.ParameterInQuery && len(s.Enum) > 0 {
			query.Set(p.Value.Name, fmt.Sprint(s.Enum[0]))
		}
	}

	if query.Has("refund_type") {
		query.Set("refund_type", string(models.RefundPartial))
		query.Set("amount", "1.50")
	}

	return query
}

// sampleOf is a value that a parameter takes.
func (w *targets) sampleOf(name string, s *openapi3.Schema) string {
	switch {
	case name == "provider_id":
		return w.World.Provider.ID.String()
	case name == "payment_transaction_id":
		return w.paid.Payment.TransactionID.String()
	case name == "amount":
		return "1.50"
	case name == "reference":
		return "TRF-2026-01"
	case s.Format == "date":
		return models.DateIn(time.Now()).String()
	case s.Format == "date-time":
		return "2026-11-01T00:00:00Z"
	case s.Format == "uuid":
		return uuid.NewString()
	case s.Min != nil:
		return fmt.Sprint(max(*s.Min, 1))
	default:
		return "1"
	}
}

// keptWords looks at every text of every table: nothing of it is invisible, and phones and numbers have ASCII digits.
func keptWords(t *testing.T, w *targets) {
	t.Helper()

	rows, err := w.DB.QueryContext(t.Context(), `SELECT table_name, column_name FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name)
		WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND data_type IN ('text', 'character varying', 'ARRAY', 'jsonb')`)
	require.NoError(t, err)

	defer rows.Close()

	columns := [][2]string{}

	for rows.Next() {
		var c [2]string
		require.NoError(t, rows.Scan(&c[0], &c[1]))
		columns = append(columns, c)
	}

	require.NoError(t, rows.Err())
	require.Greater(t, len(columns), 50)

	for _, c := range columns {
		require.Zero(t, w.Count(fmt.Sprintf(`SELECT count(*) FROM %q WHERE %q::text ~ '[\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]'`, c[0], c[1])),
			"%s.%s has what cannot be seen", c[0], c[1])

		if slices.Contains([]string{"phone", "contact_phone", "driver_phone", "document_number", "license_number", "driver_license_number", "payout_reference", "email", "contact_email"}, c[1]) {
			require.Zero(t, w.Count(fmt.Sprintf(`SELECT count(*) FROM %q WHERE %q::text ~ '[٠-٩۰-۹]'`, c[0], c[1])), "%s.%s has other digits", c[0], c[1])
		}
	}
}
