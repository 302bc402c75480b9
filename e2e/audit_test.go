package e2e_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
)

// An operator runs the audit: silent while the books agree, and exit 1 with the row's id once a row was tampered with.
func TestAuditCommand(t *testing.T) {
	t.Parallel()

	s := harness.Start(t, harness.Options{})
	b := s.As(models.RoleEndUser).BookPaid(2)

	text, err := s.Command("", "audit")
	require.NoError(t, err, text)
	require.Regexp(t, `^\d+ rules, 0 differences, `, text)

	_, err = s.DB.ExecContext(t.Context(), "SELECT seal_audit_log(1000)")
	require.NoError(t, err)

	text, err = s.Command("", "audit")
	require.NoError(t, err, text)

	seal := regexp.MustCompile(`(?m)^newest seal of the audit log: (\d+):([0-9a-f]{64})$`).FindStringSubmatch(text)
	require.NotNil(t, seal, text)

	text, err = s.Command("", "audit", "--log-seal", seal[1]+":"+seal[2])
	require.NoError(t, err, text)
	text, err = s.Command("", "audit", "--log-seal", seal[1]+":"+strings.Repeat("0", 64))
	require.Error(t, err)
	require.Contains(t, text, "it was changed since that was noted")
	text, err = s.Command("", "audit", "--log-seal", "newest")
	require.Error(t, err)
	require.Contains(t, text, "NUMBER:HASH")

	var record uuid.UUID

	require.NoError(t, s.DB.QueryRowContext(t.Context(),
		"UPDATE financial_records SET vat_amount = vat_amount - 0.01 WHERE booking_id = $1 RETURNING payment_transaction_id", b.ID).Scan(&record))

	text, err = s.Command("", "audit")
	require.Error(t, err)
	require.Contains(t, text, "record-vat: payment "+record.String()+": expected 30.00, found 29.99\n")
	require.Contains(t, text, "1 differences")

	_, err = s.DB.ExecContext(t.Context(), "UPDATE financial_records SET vat_amount = vat_amount + 0.01 WHERE booking_id = $1", b.ID)
	require.NoError(t, err)

	// A rule that cannot be checked is no agreement, and does not keep the audit from the other rules.
	_, err = s.DB.ExecContext(t.Context(), "ALTER TABLE report_days RENAME gross_amount TO gross")
	require.NoError(t, err)

	text, err = s.Command("", "audit")
	require.Error(t, err)
	require.Contains(t, text, "the audit could not look at report-days: ")
	require.Contains(t, text, " rules, 0 differences, ")

	_, err = s.DB.ExecContext(t.Context(), "ALTER TABLE report_days RENAME gross TO gross_amount")
	require.NoError(t, err)

	text, err = s.Command("", "audit", "--rules")
	require.NoError(t, err)
	require.Contains(t, text, "trip-seats ")

	_, err = s.Command("", "seed")
	require.Error(t, err, "without a number it adds nothing")

	_, err = s.Command("", "seed", "--records", "500")
	require.Error(t, err, "nor does it as a role that may not switch triggers off")

	text, err = s.OwnersCommand("seed", "--records", "500")
	require.NoError(t, err, text)
	require.Contains(t, text, "added 50")

	text, err = s.OwnersCommand("audit", "--since-seal")
	require.Error(t, err)
	require.Contains(t, text, "run rihla audit --seal first")

	text, err = s.Command("", "audit", "--seal")
	require.Error(t, err, "balances are kept by the owner of the tables alone")
	require.Contains(t, text, "by the owner of the tables")

	text, err = s.OwnersCommand("audit", "--seal")
	require.NoError(t, err, text)
	require.Regexp(t, `\nsealed until \S+: the balances of \d+ accounts\n$`, text)

	text, err = s.Command("", "audit", "--since-seal")
	require.NoError(t, err, text)
	require.Regexp(t, `^since \S+: [1-9]\d* payments; \d+ rules are left to a full audit\n\d+ rules, 0 differences, `, text)

	// What was inserted with an earlier time is for a full audit to find, and for a person to decide about.
	text, err = s.OwnersCommand("seed", "--records", "100")
	require.NoError(t, err, text)

	text, err = s.OwnersCommand("audit", "--seal")
	require.Error(t, err)
	require.Contains(t, text, "balance-snapshot: account ")
	require.NotContains(t, text, "sealed until")

	text, err = s.OwnersCommand("audit", "--seal", "--anew")
	require.NoError(t, err, text)
	require.Contains(t, text, "\nsealed until ")

	text, err = s.Command("", "audit")
	require.NoError(t, err, text)
}
