package access_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
)

// What an account that must have a second factor and has none can call, and what needs a code that was typed lately, written down a
// second time (rules: identity.second-factor, identity.step-up).
var (
	withoutSecondFactor = []string{
		"GetMe", "ChangePassword", "ListSessions", "EndSession", "EndSessions", "SendVerification", "BeginSecondFactor", "ConfirmSecondFactor",
		"RemoveSecondFactor",
	}
	needStepUp = []string{
		"CreateProvider", "ReplaceProvider", "PatchProvider", "ActivateProvider", "DeactivateProvider", "CreateStaff", "DeleteStaff", "InviteCompanyStaff",
		"RemoveCompanyStaff", "GetManifest",
		"ExportFinancialRecords", "ExportAuditLogs", "MarkRecordTransferred", "MarkRecordsTransferred", "RevertRecordTransfer", "InviteUser", "ReplaceUser",
		"PatchUser", "RemoveUser", "LockUser", "UnlockUser", "InviteUserAgain", "ResetUserSecondFactor", "RemoveSecondFactor",
	}
)

// TestAccessBySecondFactor calls every operation as every role in each state of its second factor. No request has a body, and every id is
// one that nothing has: what is asked here comes before what the request says.
func TestAccessBySecondFactor(t *testing.T) {
	t.Parallel()

	strict := make([]string, 0, len(models.Roles()))
	for _, role := range models.Roles() {
		strict = append(strict, string(role))
	}

	s := harness.Start(t, harness.Options{Env: map[string]string{"TOTP_ROLES": strings.Join(strict, ",")}})
	w := &world{Stack: s, users: map[string]models.User{}}
	operations := operationsOf(t)

	for _, role := range models.Roles() {
		w.users[string(role)] = s.World.Users[role]
	}

	for _, role := range models.Roles() {
		t.Run(string(role), func(t *testing.T) {
			t.Parallel()

			none, stale, fresh := w.newAccount(t, string(role)), w.enrolled(t, string(role)), w.enrolled(t, string(role))
			w.exec(t, "UPDATE sessions SET code_at = now() - interval '11 minutes' WHERE id = $1", stale.session)

			for id, op := range operations {
				if len(op.roles) == 0 || id == "EndSessions" || id == "RemoveSecondFactor" { // which would end the test's own
					continue
				}

				may := slices.Contains(op.roles, string(role))

				switch {
				case !may:
					require.Equal(t, models.CodeForbidden, w.bare(t, none, op), id)
					require.Equal(t, models.CodeForbidden, w.bare(t, stale, op), id)
					require.Equal(t, models.CodeForbidden, w.bare(t, fresh, op), id)

					continue
				case slices.Contains(withoutSecondFactor, id):
					require.NotEqual(t, models.CodeSecondFactorNeeded, w.bare(t, none, op), id)
				default:
					require.Equal(t, models.CodeSecondFactorNeeded, w.bare(t, none, op), id)
				}

				if slices.Contains(needStepUp, id) {
					require.Equal(t, models.CodeStepUpRequired, w.bare(t, stale, op), id)
				} else {
					require.NotContains(t, []models.Code{models.CodeStepUpRequired, models.CodeSecondFactorNeeded}, w.bare(t, stale, op), id)
				}

				require.NotContains(t, []models.Code{models.CodeStepUpRequired, models.CodeSecondFactorNeeded}, w.bare(t, fresh, op), id)
			}

			// What ends the session itself.
			remove := operations["RemoveSecondFactor"]
			require.Equal(t, models.CodeStepUpRequired, w.bare(t, stale, remove))
			require.Equal(t, models.CodeInvalidState, w.bare(t, none, remove))
			require.Empty(t, w.bare(t, fresh, remove))
			require.Equal(t, models.CodeSecondFactorNeeded, w.bare(t, fresh, operations["ListMyBookings"]), "it must enrol anew")
			require.Empty(t, w.bare(t, none, operations["EndSessions"]))
		})
	}

	for id, op := range operations {
		require.False(t, len(op.roles) == 0 && (slices.Contains(withoutSecondFactor, id) || slices.Contains(needStepUp, id)), id)
	}
}

// bare is the code of the answer to a request that says nothing; empty for a success.
func (w *world) bare(t *testing.T, a account, op operation) models.Code {
	t.Helper()

	path := placeholder.ReplaceAllStringFunc(op.path, func(string) string { return uuid.NewString() })

	if op.stream {
		events := a.Listen(path)
		defer events.Close()

		if events.Status == http.StatusOK {
			return ""
		}
	}

	var body any
	if op.method != http.MethodGet && op.method != http.MethodDelete {
		body = []byte("{")
	}

	answer, err := a.Do(op.method, path, body, nil)
	require.NoError(t, err)

	return answer.Code()
}
