package e2e_test

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/internal/audit"
	"rihla/models"
)

// auditExport exports the audit log in both formats, and checks the files without the database (rules: audit.export).
func auditExport(t *testing.T, s *harness.Stack) {
	t.Helper()

	super := s.As(models.RoleSuperAdmin)

	// The worker seals every few seconds; one that is under way keeps this from doing it, and has done it by the next try.
	require.Eventually(t, func() bool {
		var seals int
		err := s.DB.QueryRowContext(t.Context(), "SELECT seal_audit_log(5000), count(*) FROM audit_seals").Scan(new(int64), &seals)

		return err == nil && seals > 0
	}, patience, refundPoll)

	path, who := auditLogs+"/export?format=", s.World.Users[models.RoleSuperAdmin].ID.String()

	for format, kind := range map[string]string{"csv": "text/csv; charset=utf-8", "jsonl": "application/jsonl; charset=utf-8"} {
		var a harness.Answer

		require.Eventually(t, func() bool { // other exports may have the places
			a = super.Get(path + format)

			return a.Status != http.StatusServiceUnavailable
		}, patience, refundPoll)
		require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
		require.Equal(t, kind, a.Header.Get("Content-Type"))
		require.Equal(t, "no-store", a.Header.Get("Cache-Control"))

		noted, err := audit.ParseLogSeal(a.Header.Get("X-Audit-Seal"))
		require.NoError(t, err)

		f, err := audit.CheckLogFile(bytes.NewReader(a.Body), audit.LogFileOptions{Seal: noted}, func(d audit.Difference) error {
			t.Errorf("%s: %s", format, d)

			return nil
		})
		require.NoError(t, err)
		require.Positive(t, f.Entries)
		require.Positive(t, f.Seals)
		require.True(t, f.HasSeal)

		file := filepath.Join(t.TempDir(), "log."+format)
		require.NoError(t, os.WriteFile(file, a.Body, 0o600))

		text, err := s.Command("", "audit", "--log-file", file, "--log-seal", noted.String())
		require.NoError(t, err, text)
		require.Contains(t, text, " 0 differences\nseals from 1 on; the last one is ")

		i := bytes.Index(a.Body, []byte("LOGGED_IN"))
		require.Positive(t, i)

		a.Body[i] = 'l'
		require.NoError(t, os.WriteFile(file, a.Body, 0o600))

		text, err = s.Command("", "audit", "--log-file", file)
		require.Error(t, err)
		require.Contains(t, text, "log-entries: entry ")
	}

	require.Eventually(t, func() bool {
		entries := decoded[[]auditEntry](t, http.StatusOK, super.Get(auditLogs+"?action=AUDIT_LOG_EXPORTED&actor_id="+who))

		return len(entries) == 2 && entries[0].Details["rows"] != nil
	}, patience, refundPoll)

	// To a SUPER_ADMIN alone.
	of := "/api/v1/admin/exports?kind=AUDIT_LOG&requested_by=" + who
	history := decoded[[]exportEntry](t, http.StatusOK, super.Get(of))

	require.Len(t, history, 2)
	require.Equal(t, models.ExportAuditLog, history[0].Kind)
	require.Equal(t, models.ExportCompleted, history[0].Status)
	require.Empty(t, decoded[[]exportEntry](t, http.StatusOK, s.As(models.RoleAdmin).Get(of)))

	refused(t, s.As(models.RoleAdmin).Get(path+"csv"), http.StatusForbidden, models.CodeForbidden)
	refused(t, super.Get(path+"xlsx"), http.StatusUnprocessableEntity, models.CodeValidation)
}
