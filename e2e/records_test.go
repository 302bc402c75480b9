package e2e_test

import (
	"encoding/csv"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
)

const (
	adminRecords    = "/api/v1/admin/financial-records"
	providerRecords = "/api/v1/provider/financial-records"
	auditLogs       = "/api/v1/admin/audit-logs"
)

// record is what the tests need of a FinancialRecord.
type record struct {
	ID              uuid.UUID            `json:"id"`
	Number          string               `json:"transaction_number"`
	Kind            models.RecordKind    `json:"kind"`
	ProviderID      uuid.UUID            `json:"provider_id"`
	ProviderName    string               `json:"provider_name"`
	Gross           models.Money         `json:"gross_amount"`
	Commission      models.Money         `json:"platform_commission_amount"`
	Net             models.Money         `json:"net_amount"`
	Refunded        models.Money         `json:"refunded_amount"`
	Details         string               `json:"details"`
	RecordDate      string               `json:"record_date"`
	Balance         models.BalanceStatus `json:"balance_status"`
	PayoutReference *string              `json:"payout_reference"`
	PayoutDate      *string              `json:"payout_date"`
	TransferredAt   *time.Time           `json:"transferred_at"`
	SplitFrom       *uuid.UUID           `json:"split_from"`
	CapturedAt      *time.Time           `json:"captured_at"`
	RevertedAt      *time.Time           `json:"payout_reverted_at"`
}

func markPath(record uuid.UUID) string {
	return adminRecords + "/" + record.String() + "/mark-transferred"
}

// recordsOf lists the World's entries, as an admin who narrows the list to its provider.
func recordsOf(t *testing.T, s *harness.Stack, query string) []record {
	t.Helper()

	return decoded[[]record](t, http.StatusOK, s.As(models.RoleFinanceAdmin).Get(adminRecords+"?provider_id="+s.World.Provider.ID.String()+query))
}

func grossOf(records []record) (out []string) {
	for _, r := range records {
		out = append(out, r.Gross.String())
	}

	return out
}

func recordLists(t *testing.T, s *harness.Stack) {
	t.Helper()

	customer, finance, today := s.As(models.RoleEndUser), s.As(models.RoleFinanceAdmin), models.DateIn(time.Now())

	two, one, three := customer.BookPaid(2), customer.BookPaid(1), customer.BookPaid(3)
	decoded[refund](t, http.StatusCreated, finance.Post(refundPath(three.ID), fully()))
	require.Equal(t, http.StatusOK, finance.Post(markPath(entriesOf(t, s, one.ID)[0].ID), nil).Status)

	require.Equal(t, []string{"115.00", "230.00", "345.00"}, grossOf(recordsOf(t, s, "&sort=gross_amount")))
	require.Equal(t, []string{"345.00", "230.00", "115.00"}, grossOf(recordsOf(t, s, "&sort=-net_amount")))
	require.Equal(t, []string{"230.00", "115.00", "345.00"}, grossOf(recordsOf(t, s, "&sort=record_date,created_at")))
	require.Equal(t, []string{"230.00"}, grossOf(recordsOf(t, s, "&booking_id="+two.ID.String())))
	require.Equal(t, []string{"230.00"}, grossOf(recordsOf(t, s, "&balance_status=IN_CURRENT_BALANCE")))
	require.Equal(t, []string{"115.00"}, grossOf(recordsOf(t, s, "&balance_status=TRANSFERRED")))
	require.Equal(t, []string{"345.00"}, grossOf(recordsOf(t, s, "&balance_status=REFUNDED")))
	require.Empty(t, recordsOf(t, s, "&ad_campaign_id="+uuid.NewString()))

	for _, period := range []string{"today", "this_week", "this_month", "custom&date_from=" + today.String() + "&date_to=" + today.String()} {
		require.Len(t, recordsOf(t, s, "&period="+period), 3, period)
	}

	require.Empty(t, recordsOf(t, s, "&period=custom&date_from=2020-01-01&date_to=2020-12-31"))

	line := entriesOf(t, s, two.ID)[0]
	require.Regexp(t, `^RH-\d{4}-\d{6,}$`, line.Number)
	require.Equal(t, today.String(), line.RecordDate)
	require.Equal(t, s.World.Provider.Name, line.ProviderName)
	require.Equal(t, "Test Trip", line.Details)
	require.Equal(t, "23.00", line.Commission.String())
	require.Equal(t, "207.00", line.Net.String())

	// The provider sees only its own entries, and cannot name another company.
	for _, role := range []models.Role{models.RoleProviderAdmin, models.RoleProviderStaff} {
		own := decoded[[]record](t, http.StatusOK, s.As(role).Get(providerRecords+"?sort=gross_amount"))
		require.Equal(t, []string{"115.00", "230.00", "345.00"}, grossOf(own))
		require.Contains(t, errorDetails(t, s.As(role).Get(providerRecords+"?provider_id="+uuid.NewString())), "provider_id")
	}

	require.Empty(t, decoded[[]record](t, http.StatusOK, s.For(t).As(models.RoleProviderAdmin).Get(providerRecords)))
	require.Empty(t, decoded[[]record](t, http.StatusOK, s.For(t).As(models.RoleProviderAdmin).Get(providerRecords+"?booking_id="+two.ID.String())))
}

func recordSearch(t *testing.T, s *harness.Stack) {
	t.Helper()

	customer := s.As(models.RoleEndUser)

	for _, title := range []string{`50% off_peak \ Spring`, "500 off peak Spring", "رحلة العُلا"} {
		s.World.Trip = s.NewTrip(title, 10)
		customer.BookPaid(1)
	}

	number := recordsOf(t, s, "&search=500")[0].Number

	for search, want := range map[string]int{
		"spring": 2, "SPRING": 2, "50%": 1, "off_peak": 1, "f_p": 1, "%": 1, "_": 1, `\`: 1, `\ `: 1, "العُلا": 1, "رحلة": 1, "winter": 0,
		"": 3, number: 1, strings.ToLower(number): 1, "'; DROP TABLE users; --": 0, `"`: 0,
	} {
		require.Len(t, recordsOf(t, s, "&search="+url.QueryEscape(search)), want, "search %q", search)
	}
}

// recordPages reads a list page by page: nothing twice, nothing left out, although all dates are equal.
func recordPages(t *testing.T, s *harness.Stack) {
	t.Helper()

	const lines = 23

	b := s.As(models.RoleEndUser).BookPaid(1)
	_, err := s.DB.ExecContext(t.Context(), `
		INSERT INTO financial_records (id, transaction_number, kind, payment_transaction_id, provider_id, booking_id, gross_amount,
			platform_commission_amount, net_amount, vat_amount, refunded_amount, details, record_date, balance_status, commission_rate)
		SELECT gen_random_uuid(), 'T-' || gen_random_uuid(), kind, payment_transaction_id, provider_id, booking_id, 1, 0, 1, 0, 1,
			details, record_date, 'REFUNDED', commission_rate
		FROM financial_records, generate_series(2, $2) WHERE booking_id = $1`, b.ID, lines)
	require.NoError(t, err)

	t.Cleanup(func() { // they are no part of the books
		_, err := s.DB.Exec("DELETE FROM financial_records WHERE booking_id = $1 AND transaction_number LIKE 'T-%'", b.ID)
		require.NoError(t, err)
	})

	finance, base := s.As(models.RoleFinanceAdmin), adminRecords+"?provider_id="+s.World.Provider.ID.String()

	for _, sort := range []string{"", "&sort=record_date", "&sort=-gross_amount", "&sort=balance_status"} {
		if sort == "&sort=balance_status" {
			refused(t, finance.Get(base+sort), http.StatusUnprocessableEntity, models.CodeValidation)

			continue
		}

		seen := map[uuid.UUID]bool{}

		for page, want := range map[string]int{"1": 10, "2": 10, "3": 3, "4": 0, "1000000": 0} {
			a := finance.Get(base + sort + "&per_page=10&page=" + page)
			got := decoded[[]record](t, http.StatusOK, a)
			require.Len(t, got, want)

			m := metaOf(t, a)
			require.Equal(t, meta{lines, 10, m.CurrentPage, 3}, m)

			for _, r := range got {
				require.False(t, seen[r.ID], "on two pages")

				seen[r.ID] = true
			}
		}

		require.Len(t, seen, lines)
	}

	require.Equal(t, meta{lines, 20, 1, 2}, metaOf(t, finance.Get(base)), "20 by default")
	require.Equal(t, meta{lines, 100, 1, 1}, metaOf(t, finance.Get(base+"&per_page=100")))
	require.Equal(t, meta{0, 20, 1, 1}, metaOf(t, finance.Get(adminRecords+"?provider_id="+uuid.NewString())))
}

func markTransferred(t *testing.T, s *harness.Stack) {
	t.Helper()

	customer, finance := s.As(models.RoleEndUser), s.As(models.RoleFinanceAdmin)
	line := entriesOf(t, s, customer.BookPaid(1).ID)[0]
	body := map[string]string{"payout_reference": "TRF-2026-0042", "payout_date": models.DateIn(time.Now()).String()}

	for range 2 { // the same call again answers the same
		got := decoded[record](t, http.StatusOK, finance.Post(markPath(line.ID), body))
		require.Equal(t, models.BalanceTransferred, got.Balance)
		require.Equal(t, "TRF-2026-0042", *got.PayoutReference)
		require.Equal(t, models.DateIn(time.Now()).String(), *got.PayoutDate)
		require.NotNil(t, got.TransferredAt)
	}

	for _, other := range []any{nil, map[string]string{}, map[string]string{"payout_reference": "TRF-1"}, map[string]string{"payout_date": models.DateIn(time.Now()).String()}} {
		refused(t, finance.Post(markPath(line.ID), other), http.StatusConflict, models.CodeRecordNotTransferable)
	}

	require.Equal(t, 1, s.Count("SELECT count(*) FROM audit_log WHERE entity_id = $1 AND action = 'FINANCIAL_RECORD_TRANSFERRED'", line.ID))
	require.Equal(t, 1, s.Count("SELECT count(*) FROM ledger_transfers WHERE record_id = $1 AND kind = 'PAYOUT'", line.ID))

	b := customer.BookPaid(1)
	back := entriesOf(t, s, b.ID)[0]
	decoded[refund](t, http.StatusCreated, finance.Post(refundPath(b.ID), fully()))
	refused(t, finance.Post(markPath(back.ID), nil), http.StatusConflict, models.CodeRecordNotTransferable)
	refused(t, finance.Post(markPath(uuid.New()), nil), http.StatusNotFound, models.CodeNotFound)

	// Eight at once: one transfer, one audit entry.
	line = entriesOf(t, s, customer.BookPaid(1).ID)[0]
	for _, a := range atOnce(8, func(int) harness.Answer { return post(finance, markPath(line.ID), nil, uuid.NewString()) }) {
		require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
	}

	require.Equal(t, 1, s.Count("SELECT count(*) FROM ledger_transfers WHERE record_id = $1 AND kind = 'PAYOUT'", line.ID))
	require.Equal(t, 1, s.Count("SELECT count(*) FROM audit_log WHERE entity_id = $1", line.ID))
}

// export reads the file as a spreadsheet does, and then what the audit log says about it.
func export(t *testing.T, s *harness.Stack) {
	t.Helper()

	customer, finance := s.As(models.RoleEndUser), s.As(models.RoleFinanceAdmin)
	titles := []string{`=HYPERLINK("http://evil.test")`, "+1+1", "-1", "@SUM(A1)", "\t=1", " =1", `Quotes " and, commas`, "رحلة\nجديدة", "a;b"}

	for _, title := range titles {
		s.World.Trip = s.NewTrip(title, 10)
		customer.BookPaid(1)
	}

	filters := "?format=csv&sort=created_at&provider_id=" + s.World.Provider.ID.String()
	a := finance.Get(adminRecords + "/export" + filters)
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
	require.Equal(t, "text/csv; charset=utf-8", a.Header.Get("Content-Type"))
	require.Equal(t, `attachment; filename="financial-records-`+models.DateIn(time.Now()).String()+`.csv"`, a.Header.Get("Content-Disposition"))

	text, marked := strings.CutPrefix(string(a.Body), "\ufeff")
	require.True(t, marked, "the byte order mark tells spreadsheets that it is UTF-8")

	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	require.NoError(t, err)
	require.Len(t, rows, 1+len(titles))

	details, number := slices.Index(rows[0], "details"), slices.Index(rows[0], "transaction_number")
	require.GreaterOrEqual(t, details, 0)

	for i, row := range rows[1:] {
		for _, cell := range row {
			require.NotRegexp(t, `^\s*[=+@-]`, cell, "a spreadsheet would run it")
		}

		require.Equal(t, strings.NewReplacer("\t", " ", "\n", " ").Replace(titles[i]), strings.TrimPrefix(row[details], "'"))
		require.Regexp(t, `^RH-`, row[number])
	}

	filtered := finance.Get(adminRecords + "/export" + filters + "&search=" + url.QueryEscape("evil"))
	rows, err = csv.NewReader(strings.NewReader(strings.TrimPrefix(string(filtered.Body), "\ufeff"))).ReadAll()
	require.NoError(t, err)
	require.Len(t, rows, 2)
	refused(t, finance.Get(adminRecords+"/export"), http.StatusUnprocessableEntity, models.CodeValidation)

	// The export is noted when the last byte has left, which may be after the answer has arrived.
	var entries []auditEntry

	require.Eventually(t, func() bool {
		entries = decoded[[]auditEntry](t, http.StatusOK, s.As(models.RoleAdmin).Get(
			auditLogs+"?action=FINANCIAL_RECORDS_EXPORTED&sort=created_at&actor_id="+s.World.Users[models.RoleFinanceAdmin].ID.String()))

		return len(entries) == 2
	}, patience, refundPoll)
	require.InDelta(t, len(titles), entries[0].Details["rows"], 0)
	require.InDelta(t, 1, entries[1].Details["rows"], 0)
	require.Equal(t, "csv", entries[0].Details["format"])
	require.NotEmpty(t, entries[0].RequestID)
	require.Equal(t, models.RoleFinanceAdmin, entries[0].Role)
}
