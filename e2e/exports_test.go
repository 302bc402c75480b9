package e2e_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/xuri/excelize/v2"

	"rihla/e2e/harness"
	"rihla/models"
)

// exportWorkbook reads the file as a spreadsheet does.
func exportWorkbook(t *testing.T, s *harness.Stack) {
	t.Helper()

	customer, finance := s.As(models.RoleEndUser), s.As(models.RoleFinanceAdmin)

	for _, title := range []string{"رحلة العُلا", "=1+1"} {
		s.World.Trip = s.NewTrip(title, 10)
		customer.BookPaid(1)
	}

	a := finance.Get(adminRecords + "/export?format=xlsx&lang=en&sort=created_at&provider_id=" + s.World.Provider.ID.String())
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
	require.Equal(t, "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", a.Header.Get("Content-Type"))
	require.Equal(t, `attachment; filename="financial-records-`+models.DateIn(time.Now()).String()+`.xlsx"`, a.Header.Get("Content-Disposition"))

	file, err := excelize.OpenReader(bytes.NewReader(a.Body))
	require.NoError(t, err)

	defer file.Close()

	rows, err := file.GetRows("Financial records")
	require.NoError(t, err)
	require.Len(t, rows, 8)
	require.Equal(t, []string{"Transaction number", "Date", "Kind", "Provider", "Details", "Gross amount"}, rows[0][:6])
	require.Equal(t, []string{"Subtotal", "", "Sale", "", "", "230.00"}, rows[3][:6])
	require.Equal(t, "Total", rows[7][0])
	require.Equal(t, "230.00", rows[7][5])
	require.Equal(t, []string{models.DateIn(time.Now()).String(), "Sale", s.World.Provider.Name, "رحلة العُلا", "115.00"}, rows[1][1:6])
	require.Equal(t, "=1+1", rows[2][4])

	for _, cell := range []string{"B2", "F2"} {
		kind, err := file.GetCellType("Financial records", cell)
		require.NoError(t, err)
		require.Contains(t, []excelize.CellType{excelize.CellTypeUnset, excelize.CellTypeNumber}, kind, "a date and an amount are numbers")
	}

	require.Eventually(t, func() bool {
		entries := decoded[[]auditEntry](t, http.StatusOK, s.As(models.RoleAdmin).Get(
			auditLogs+"?action=FINANCIAL_RECORDS_EXPORTED&actor_id="+s.World.Users[models.RoleFinanceAdmin].ID.String()))

		return len(entries) == 1 && entries[0].Details["format"] == "xlsx"
	}, patience, refundPoll)

	exportHistory(t, s, int64(len(a.Body)))

	refused(t, finance.Get(adminRecords+"/export?format=pdf"), http.StatusUnprocessableEntity, models.CodeValidation)
	refused(t, finance.Get(adminRecords+"/export?format=csv&lang=fr"), http.StatusUnprocessableEntity, models.CodeValidation)
	exportLanguages(t, s)
}

// exportEntry is an export in the history of exports.
type exportEntry struct {
	Kind        models.ExportKind
	Status      models.ExportStatus
	Label       string `json:"status_label_en"`
	Format      string
	Filters     map[string]any
	By          *string `json:"requested_by_name"`
	Rows, Bytes *int64
}

// exportHistory finds the only export so far of finance staff, whose file has so many bytes.
func exportHistory(t *testing.T, s *harness.Stack, bytes int64) {
	t.Helper()

	who := s.World.Users[models.RoleFinanceAdmin]
	path := "/api/v1/admin/exports?requested_by=" + who.ID.String()
	found := decoded[[]exportEntry](t, http.StatusOK, s.As(models.RoleAdmin).Get(path))

	require.Len(t, found, 1)
	require.Equal(t, models.ExportCompleted, found[0].Status)
	require.Equal(t, "Completed", found[0].Label)
	require.Equal(t, who.Name, *found[0].By)
	require.Equal(t, "xlsx", found[0].Format)
	require.NotContains(t, found[0].Filters, "format")
	require.Contains(t, found[0].Filters, "provider_id")
	require.EqualValues(t, 2, *found[0].Rows)
	require.Equal(t, bytes, *found[0].Bytes)
}

// exportLanguages reads the first line of files: workbooks follow Accept-Language, which is Arabic unless it is said, and CSV stays
// what programs know unless it is asked for a language.
func exportLanguages(t *testing.T, s *harness.Stack) {
	t.Helper()

	path := adminRecords + "/export?provider_id=" + s.World.Provider.ID.String() + "&format="

	for query, want := range map[string]map[string]string{ // by Accept-Language: header, kind and status of the first line
		"csv":          {"": "transaction_number SALE IN_CURRENT_BALANCE", "en": "transaction_number SALE IN_CURRENT_BALANCE"},
		"csv&lang=ar":  {"": "رقم العملية بيع ضمن الرصيد الحالي", "en": "رقم العملية بيع ضمن الرصيد الحالي"},
		"csv&lang=en":  {"": "Transaction number Sale In current balance", "ar": "Transaction number Sale In current balance"},
		"xlsx":         {"": "رقم العملية بيع ضمن الرصيد الحالي", "en": "Transaction number Sale In current balance"},
		"xlsx&lang=ar": {"en": "رقم العملية بيع ضمن الرصيد الحالي"},
	} {
		for accepted, first := range want {
			a, err := s.As(models.RoleFinanceAdmin).Do(http.MethodGet, path+query, nil, map[string]string{"Accept-Language": accepted})
			require.NoError(t, err)
			require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)

			rows := rowsOf(t, a.Body)
			require.Equal(t, first, rows[0][0]+" "+rows[1][2]+" "+rows[1][11], "%s, %q", query, accepted)
		}
	}
}

// rowsOf reads a workbook or a CSV.
func rowsOf(t *testing.T, body []byte) [][]string {
	t.Helper()

	if text, isCSV := bytes.CutPrefix(body, []byte("\ufeff")); isCSV {
		rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
		require.NoError(t, err)

		return rows
	}

	file, err := excelize.OpenReader(bytes.NewReader(body))
	require.NoError(t, err)

	defer file.Close()

	rows, err := file.GetRows(file.GetSheetName(0))
	require.NoError(t, err)

	return rows
}

// exportGivenUp goes away in the middle of an export: its query ends, and so does its place among those that may run.
func exportGivenUp(t *testing.T, s *harness.Stack) {
	t.Helper()

	manyEntries(t, s)

	finance := s.As(models.RoleFinanceAdmin)
	path := adminRecords + "/export?format=csv&provider_id=" + s.World.Provider.ID.String()

	for range 4 { // one more than may run at once
		ctx, goAway := context.WithCancel(t.Context())

		r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+path, nil)
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer "+finance.Token())

		var answer *http.Response

		require.Eventually(t, func() bool { // others export, too
			answer, err = http.DefaultClient.Do(r)
			require.NoError(t, err)

			return answer.StatusCode == http.StatusOK
		}, patience, refundPoll)

		_, err = io.ReadFull(answer.Body, make([]byte, 1000))
		require.NoError(t, err)
		goAway()
	}

	who := s.World.Users[models.RoleFinanceAdmin].ID.String()

	require.Eventually(t, func() bool {
		return s.Count("SELECT count(*) FROM audit_log WHERE action = 'FINANCIAL_RECORDS_EXPORT_STOPPED' AND actor_id = $1", who) == 4
	}, patience, refundPoll)
	require.Zero(t, s.Count(`SELECT count(*) FROM audit_log WHERE action = 'FINANCIAL_RECORDS_EXPORT_STOPPED' AND actor_id = $1
		AND (details->>'rows')::int NOT BETWEEN 1 AND 10000`, who), "what has left is noted")
	require.Eventually(t, func() bool {
		return s.Count("SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'COPY%' || $1 || '%' AND state = 'active'", s.World.Provider.ID) == 0
	}, patience, refundPoll, "a query is still running")

	a := finance.Get(path)
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
	require.Equal(t, 10_002, strings.Count(string(a.Body), "\n"))

	left, err := filepath.Glob(filepath.Join(os.TempDir(), "rihla-export-*"))
	require.NoError(t, err)

	for _, dir := range left { // of another test, which is still at it
		require.Eventually(t, func() bool {
			_, err := os.Stat(dir)

			return os.IsNotExist(err)
		}, patience, refundPoll)
	}
}

// manyEntries adds 10,000 ledger entries to that of a booking: more than the buffers of both sides of an export hold,
// compressed, too. They share 200 long texts, which are indexed once each and are farther apart than compression looks back.
func manyEntries(t *testing.T, s *harness.Stack) {
	t.Helper()

	b := s.As(models.RoleEndUser).BookPaid(1)

	_, err := s.DB.ExecContext(t.Context(), `
		INSERT INTO financial_records (id, transaction_number, kind, payment_transaction_id, provider_id, booking_id, gross_amount,
			platform_commission_amount, net_amount, vat_amount, refunded_amount, details, record_date, balance_status, commission_rate)
		SELECT gen_random_uuid(), 'X-' || n, kind, payment_transaction_id, provider_id, booking_id, 1, 0, 1, 0, 1,
			(SELECT string_agg(md5((n % 200)::text || i), '') FROM generate_series(1, 70) AS i), record_date, 'REFUNDED',
			commission_rate
		FROM financial_records, generate_series(1, 10000) AS n WHERE booking_id = $1`, b.ID)
	require.NoError(t, err)

	t.Cleanup(func() { // they are no part of the books
		_, err := s.DB.Exec("DELETE FROM financial_records WHERE booking_id = $1 AND transaction_number LIKE 'X-%'", b.ID)
		require.NoError(t, err)
	})
}

// Exports whose clients do not read keep no service from stopping, and nothing of them is left; after a kill not for long.
func TestExportsEndWithTheService(t *testing.T) {
	t.Parallel()

	room := t.TempDir()
	s := harness.Start(t, harness.Options{Env: map[string]string{"TMPDIR": room}})
	manyEntries(t, s)

	workbooks := func() int {
		left, err := filepath.Glob(filepath.Join(room, "*"))
		require.NoError(t, err)

		return len(left)
	}
	noted := func(what string) int {
		return s.Count("SELECT count(*) FROM audit_log WHERE action = 'FINANCIAL_RECORDS_EXPORT_" + what + "'")
	}

	beginExport(t, s, http.MethodHead, "csv")
	require.Zero(t, noted("STARTED"), "who asks for no file gets none")

	beginExport(t, s, http.MethodGet, "xlsx")
	require.Equal(t, 1, workbooks())
	s.API.Kill()
	require.Equal(t, 1, workbooks())
	s.API.Start()
	require.Zero(t, workbooks(), "what a killed process has left behind")

	beginExport(t, s, http.MethodGet, "csv")
	beginExport(t, s, http.MethodGet, "xlsx")
	require.Equal(t, 1, workbooks())
	require.Equal(t, 3, noted("STARTED"))
	s.API.Stop()
	require.NotContains(t, s.API.Log(), "deadline exceeded", "it has waited for clients that do not read")
	require.Zero(t, workbooks())
	require.Equal(t, 2, noted("STOPPED"), "of the one that was killed nobody could note its end")
	require.Zero(t, s.Count(`SELECT count(*) FROM audit_log WHERE action = 'FINANCIAL_RECORDS_EXPORT_STOPPED'
		AND (details->>'rows')::int NOT BETWEEN 1 AND 10001`), "what may have left is noted")
}

// beginExport asks for a file, reads the beginning of the answer, and nothing else until the test ends.
func beginExport(t *testing.T, s *harness.Stack, method, format string) {
	t.Helper()

	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.URL, "http://"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })

	r, err := http.NewRequestWithContext(t.Context(), method, s.URL+adminRecords+"/export?format="+format, nil)
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+s.As(models.RoleFinanceAdmin).Token())
	require.NoError(t, r.Write(conn))
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(patience)))

	answer, err := http.ReadResponse(bufio.NewReader(conn), r)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, answer.StatusCode)
	require.Contains(t, answer.Header.Get("Content-Disposition"), "financial-records-")

	if method != http.MethodHead {
		_, err = io.ReadFull(answer.Body, make([]byte, 1000))
		require.NoError(t, err)
	}
}
