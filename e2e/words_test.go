package e2e_test

import (
	"encoding/json"
	"fmt"
	"maps"
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

// TestWords types every text of every body and every parameter of the document, and searches every list, as people in Saudi Arabia do:
// with the digits, separators, marks and spellings of their keyboards, and those that a copied text brings along.
func TestWords(t *testing.T) { //nolint:tparallel // its parts share one service, one after the other
	t.Parallel()

	s := harness.Start(t, harness.Options{})
	w := newTargets(t, s)

	t.Run("bodies", func(t *testing.T) { typedBodies(t, w) })
	t.Run("parameters", func(t *testing.T) { typedParameters(t, w) })
	t.Run("searches", func(t *testing.T) { typedSearches(t, w) })
	t.Run("kept", func(t *testing.T) { keptWords(t, w) })

	cleanLogs(t, s)
}

var (
	arabicDigits = strings.NewReplacer("0", "٠", "1", "١", "2", "٢", "3", "٣", "4", "٤", "5", "٥", "6", "٦", "7", "٧", "8", "٨", "9", "٩")
	farsiDigits  = strings.NewReplacer("0", "۰", "1", "۱", "2", "۲", "3", "۳", "4", "۴", "5", "۵", "6", "۶", "7", "۷", "8", "۸", "9", "۹")
	wordDashes   = strings.NewReplacer("-", "\u2011")
)

// dressed are the ways in which people write a text of each kind. The service has to read all of them as the plain one.
var dressed = map[contract.Input]func(plain string) []string{
	contract.InputText:   marked,
	contract.InputLines:  marked,
	contract.InputSearch: marked,
	contract.InputEmail:  marked,
	contract.InputExact:  marked,
	contract.InputPhone: func(plain string) []string {
		n := len(plain)
		apart := plain[:n-7] + " " + plain[n-7:n-4] + "-" + plain[n-4:]

		return []string{
			arabicDigits.Replace(apart), farsiDigits.Replace(wordDashes.Replace(apart)), "\u202a" + apart + "\u202c",
			"\u2066" + arabicDigits.Replace(plain[:5]) + "\u200f" + plain[5:] + "\u2069\ufeff",
		}
	},
	contract.InputDocument: func(plain string) []string {
		half := len(plain) / 2

		return []string{arabicDigits.Replace(plain), farsiDigits.Replace(plain[:half]) + " " + plain[half:], "\u200e" + plain[:half] + "\u200b" + plain[half:]}
	},
	contract.InputReference: func(plain string) []string {
		return []string{arabicDigits.Replace(plain), farsiDigits.Replace(wordDashes.Replace(plain)), "\u202b" + plain + "\u202c", "\ufeff" + plain + "\u00a0"}
	},
	contract.InputCode: func(plain string) []string {
		half := len(plain) / 2

		return []string{arabicDigits.Replace(plain), farsiDigits.Replace(plain[:half]) + " " + farsiDigits.Replace(plain[half:]), "\u200e" + plain[:half] + "-" + plain[half:]}
	},
	contract.InputAmount: func(plain string) []string {
		arabic := strings.ReplaceAll(arabicDigits.Replace(plain), ".", "٫")

		return []string{arabic, strings.ReplaceAll(farsiDigits.Replace(plain), ".", "٫"), "\u200f" + plain + "\u00a0"}
	},
	contract.InputDigits: func(plain string) []string {
		return []string{arabicDigits.Replace(plain), farsiDigits.Replace(wordDashes.Replace(plain)), "\u200f" + plain + "\u200e"}
	},
}

// asTyped are those kinds that are not written by hand, or of which every character counts (TestEveryInputIsOfAKind).
var asTyped = []contract.Input{contract.InputSecret, contract.InputChosen, contract.InputMachine, contract.InputNumber}

// marked puts marks that cannot be seen around and into a text: what a chat, a PDF or a bank's page gives along when it is copied.
func marked(plain string) []string {
	half := len(plain) / 2
	for half < len(plain) && plain[half]&0xc0 == 0x80 { // not into a letter
		half++
	}

	return []string{
		"\u200f" + plain + "\u200e", "\u202a" + plain + "\u202c", "\u202b" + plain[:half] + "\u200b" + plain[half:] + "\u202c",
		"\u2067" + plain + "\u2069 ", "\ufeff" + plain[:half] + "\u2060" + plain[half:], "\u00a0" + plain + "\u202e",
	}
}

// samples are texts of each kind, for fields that the good bodies leave out.
var samples = map[contract.Input]string{
	contract.InputText: "كلمة", contract.InputLines: "سطر", contract.InputPhone: "+966500000007", contract.InputDocument: "A1234567",
	contract.InputReference: "REF-12", contract.InputExact: uuid.NewString(),
}

// unread are operations of which a good body is refused for another reason than its words. They have to refuse both ways of writing alike.
var unread = []string{
	"VerifyEmail", "ResetPassword", // the tokens of mails (e2e/identity)
	"ApproveRefund", "RejectRefund", "RejectRefundPayout", "RefundLatePayment", // what is decided, or was never asked
}

// typedBodies sends the body of every operation with all its texts written in every way, and once more as it is meant.
func typedBodies(t *testing.T, w *targets) {
	t.Helper()

	met := map[contract.Input]int{}
	bodies := w.liveBodies(t)

	for _, p := range w.posts {
		if live, ok := bodies[p.id]; ok {
			p = live(p)
		}

		op := w.operation(p.id)
		schema := op.RequestBody.Value.Content.Get("application/json").Schema.Value

		text, err := json.Marshal(p.body)
		require.NoError(t, err)

		for way := range 6 {
			var plain map[string]any

			require.NoError(t, json.Unmarshal(text, &plain))

			if way > 0 && p.method == http.MethodPost {
				break // once is enough where it makes something; what is changed again shows all ways
			}

			before := maps.Clone(met)
			typed := typedObject(t, p.id, schema, plain, way, met)

			if maps.Equal(before, met) {
				break // it has no text that is typed
			}

			header := map[string]string{"Accept-Language": "ar"}
			if takesKey(op) {
				header[contract.IdempotencyHeader] = uuid.NewString()
			}

			a, err := p.caller.Do(p.method, p.path, typed, header)
			require.NoError(t, err)

			if slices.Contains(unread, p.id) {
				again, err := p.caller.Do(p.method, p.path, plain, nil)
				require.NoError(t, err)
				require.Equal(t, again.Status, a.Status, "%s: %v: %s", p.id, typed, a.Body)
				require.Equal(t, again.Code(), a.Code(), "%s: %v: %s", p.id, typed, a.Body)

				continue
			}

			require.Less(t, a.Status, http.StatusMultipleChoices, "%s: %+q: %s", p.id, typed, a.Body)

			if len(a.Body) > 0 {
				var kept any

				require.NoError(t, a.Data(&kept))

				if list, many := kept.([]any); many {
					kept = list[0]
				}

				sameTexts(t, p.id, schema, plain, kept)
			}

			if takesKey(op) {
				again, err := p.caller.Do(p.method, p.path, plain, header)
				require.NoError(t, err)
				require.Equal(t, "true", again.Header.Get("Idempotent-Replayed"), "%s: %v and %v are one body: %s", p.id, typed, plain, again.Body)
			}
		}
	}

	for _, kind := range []contract.Input{
		contract.InputText, contract.InputLines, contract.InputEmail, contract.InputPhone, contract.InputDocument, contract.InputReference,
		contract.InputCode, contract.InputDigits, contract.InputExact,
	} {
		require.NotZero(t, met[kind], "no body has a %s", kind)
	}
}

func takesKey(op *openapi3.Operation) bool {
	return slices.ContainsFunc(op.Parameters, func(p *openapi3.ParameterRef) bool { return p.Value.Name == contract.IdempotencyHeader })
}

// propertiesOf are the properties of an object, those of its parts included.
func propertiesOf(s *openapi3.Schema) openapi3.Schemas {
	all := maps.Clone(s.Properties)
	if all == nil {
		all = openapi3.Schemas{}
	}

	for _, part := range s.AllOf {
		maps.Copy(all, propertiesOf(part.Value))
	}

	return all
}

// typedObject is a body with all texts in one way of writing them. Texts that a body leaves out are added to both.
func typedObject(t *testing.T, id string, s *openapi3.Schema, plain map[string]any, way int, met map[contract.Input]int) map[string]any {
	t.Helper()

	typed := map[string]any{}

	for name, property := range propertiesOf(s) {
		value, given := plain[name]
		if !given && property.Value.Type.Is("string") {
			sample := samples[contract.InputOf(name, property.Value)]
			if property.Value.Format == "uri" {
				sample = "https://rihla.test/done"
			}

			if value, given = sample, sample != ""; given {
				plain[name] = sample
			}
		}

		if given {
			typed[name] = typedValue(t, id, name, property.Value, value, way, met)
		}
	}

	return typed
}

func typedValue(t *testing.T, id, name string, s *openapi3.Schema, plain any, way int, met map[contract.Input]int) any {
	t.Helper()

	switch plain := plain.(type) {
	case map[string]any:
		return typedObject(t, id, s, plain, way, met)
	case []any:
		list := make([]any, len(plain))
		for i, value := range plain {
			list[i] = typedValue(t, id, name, s.Items.Value, value, way, met)
		}

		return list
	case string:
		kind := contract.InputOf(name, s)
		if slices.Contains(asTyped, kind) {
			return plain
		}

		require.Contains(t, dressed, kind, "%s.%s", id, name)
		met[kind]++

		ways := dressed[kind](plain)

		return ways[(met[kind]+way)%len(ways)]
	default:
		return plain
	}
}

// sameTexts compares the texts of an answer with those that were meant, where it has them.
func sameTexts(t *testing.T, id string, s *openapi3.Schema, plain, kept any) {
	t.Helper()

	switch plain := plain.(type) {
	case map[string]any:
		answer, ok := kept.(map[string]any)
		if !ok {
			return
		}

		for name, property := range propertiesOf(s) {
			if _, given := answer[name]; given && plain[name] != nil && name != "refresh_token" { // each is followed by another
				sameTexts(t, id+"."+name, property.Value, plain[name], answer[name])
			}
		}
	case []any:
		answer, _ := kept.([]any)
		for i := range min(len(plain), len(answer)) {
			sameTexts(t, id, s.Items.Value, plain[i], answer[i])
		}
	case string:
		if kept, ok := kept.(string); ok && s.Format != "date-time" {
			require.Equal(t, plain, kept, id)
		}
	}
}

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
		"CreateStaff":       with("email", func() any { return "words." + uuid.NewString() + "@rihla.test" }),
		"ReplaceAdCampaign": campaign, "PatchAdCampaign": campaign,
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
		if op == nil || op.OperationID == "GetPhoto" || strings.HasPrefix(path, "/pay/") || strings.Contains(path, "/oidc/") {
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
