package e2e_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
)

const (
	adminSummary    = "/api/v1/admin/financial-reports/summary"
	providerSummary = "/api/v1/provider/financial-reports/summary"
)

// moneySummary is what a FinancialReport holds.
type moneySummary struct {
	Period   string           `json:"period"`
	From     string           `json:"date_from"`
	To       string           `json:"date_to"`
	Currency string           `json:"currency"`
	Cards    reportCards      `json:"cards"`
	Series   []map[string]any `json:"series"`
}

type reportCards struct {
	Gross       models.Money `json:"gross_amount"`
	Commission  models.Money `json:"platform_commission_amount"`
	Net         models.Money `json:"net_amount"`
	VAT         models.Money `json:"vat_amount"`
	InBalance   models.Money `json:"in_current_balance_amount"`
	Transferred models.Money `json:"transferred_amount"`
	Refunded    models.Money `json:"refunded_amount"`
	Advertising models.Money `json:"advertising_revenue_amount"`
	Bookings    int          `json:"bookings_count"`
	Campaigns   int          `json:"campaigns_count"`
	Refunds     int          `json:"refunds_count"`
}

func (c reportCards) texts() []string {
	return []string{
		c.Gross.String(), c.Commission.String(), c.Net.String(), c.VAT.String(), c.InBalance.String(), c.Transferred.String(),
		c.Refunded.String(), c.Advertising.String(),
	}
}

// A company sells two bookings, is paid for one of them, which then goes back in part.
func TestFinancialSummary(t *testing.T) {
	t.Parallel()
	s := harness.Start(t, harness.Options{})
	staff, finance := s.As(models.RoleProviderStaff), s.As(models.RoleFinanceAdmin)

	nothing := decoded[moneySummary](t, http.StatusOK, staff.Get(providerSummary))
	require.Equal(t, "this_month", nothing.Period)
	require.Equal(t, "SAR", nothing.Currency)
	require.Equal(t, models.DateIn(time.Now()).FirstOfMonth().String(), nothing.From)
	require.Equal(t, nothing.From, nothing.Series[0]["date"])
	require.Equal(t, nothing.To, nothing.Series[len(nothing.Series)-1]["date"])
	require.Equal(t, []string{"0.00", "0.00", "0.00", "0.00", "0.00", "0.00", "0.00", "0.00"}, nothing.Cards.texts())

	customer := s.As(models.RoleEndUser)
	customer.BookPaid(1)
	two := customer.BookPaid(2)

	line := entriesOf(t, s, two.ID)[0]
	require.Equal(t, http.StatusOK, finance.Post(markPath(line.ID), nil).Status)
	require.Equal(t, http.StatusCreated, finance.Post("/api/v1/admin/bookings/"+two.ID.String()+"/refund",
		map[string]any{"refund_type": "PARTIAL", "amount": 115}).Status)

	own := decoded[moneySummary](t, http.StatusOK, staff.Get(providerSummary+"?period=today"))
	require.Len(t, own.Series, 1)
	// 115 is in balance, 115 was paid out and kept, 115 went back and is clawed back.
	require.Equal(t, []string{"230.00", "23.00", "207.00", "30.00", "0.00", "207.00", "115.00", "0.00"}, own.Cards.texts())
	require.Equal(t, []int{2, 0, 1}, []int{own.Cards.Bookings, own.Cards.Campaigns, own.Cards.Refunds})

	today := models.DateIn(time.Now())
	custom := "?period=custom&date_from=" + today.AddDays(-365).String() + "&date_to=" + today.String()
	year := decoded[moneySummary](t, http.StatusOK, staff.Get(providerSummary+custom))
	require.Len(t, year.Series, 366)
	require.Equal(t, own.Cards.texts(), year.Cards.texts())

	alone := decoded[moneySummary](t, http.StatusOK, staff.Get(providerSummary+strings.Replace(custom, "period=custom&", "", 1)))
	require.Equal(t, year, alone, "two dates are a custom period")

	fullyRefunded := customer.BookPaid(1)
	require.Equal(t, http.StatusCreated, finance.Post("/api/v1/admin/bookings/"+fullyRefunded.ID.String()+"/refund",
		map[string]any{"refund_type": "FULL"}).Status)
	payWrongly(t, s, customer, "wrong_amount")
	workbookAgrees(t, s)

	platform := decoded[moneySummary](t, http.StatusOK, finance.Get(adminSummary+"?period=today"))
	require.GreaterOrEqual(t, platform.Cards.Gross.Cmp(own.Cards.Gross), 0, "the platform has more than one company")

	for _, wrong := range []string{
		"?period=this_year", "?period=custom", "?date_from=2026-03-02", "?period=custom&date_from=2026-03-02&date_to=2026-03-01", "?period=custom&date_from=2025-01-01&date_to=2026-03-01",
	} {
		refused(t, staff.Get(providerSummary+wrong), http.StatusUnprocessableEntity, models.CodeValidation)
	}

	refused(t, staff.Get(adminSummary), http.StatusForbidden, models.CodeForbidden)
	refused(t, finance.Get(providerSummary), http.StatusForbidden, models.CodeForbidden)
}

// workbookAgrees compares the totals of a workbook with the cards of the report over the same records.
func workbookAgrees(t *testing.T, s *harness.Stack) {
	t.Helper()

	cards := decoded[moneySummary](t, http.StatusOK, s.As(models.RoleProviderStaff).Get(providerSummary+"?period=today")).Cards
	require.Equal(t, []string{"230.00", "23.00", "207.00", "30.00", "0.00", "207.00", "230.00", "0.00"}, cards.texts())

	a := s.As(models.RoleFinanceAdmin).Get(adminRecords + "/export?format=xlsx&lang=en&period=today&provider_id=" + s.World.Provider.ID.String())
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)

	amounts := map[string][]string{} // gross, commission, net, VAT and refunded

	for _, row := range rowsOf(t, a.Body) {
		of := make([]string, 5)
		for i := range of {
			if 5+i < len(row) {
				of[i] = row[5+i]
			}
		}

		amounts[row[0]] = of
	}

	require.Equal(t, []string{
		cards.Gross.String(), cards.Commission.String(), cards.Net.String(), cards.VAT.String(), cards.Refunded.String(),
	}, amounts["Total"])
	require.Equal(t, cards.InBalance.String(), amounts["In current balance"][2])
	require.Equal(t, cards.Transferred.String(), amounts["Paid out"][2])
	require.Equal(t, cards.Advertising.String(), amounts["Advertising revenue"][0])
}
