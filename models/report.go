package models

// ReportFigures are what ledger entries add up to (rules: reports.cards). Amounts are in SAR.
type ReportFigures struct {
	Gross              Money // of sales and advertising that are not REFUNDED, as are Commission, Net and VAT
	Commission         Money
	Net                Money
	VAT                Money
	InCurrentBalance   Money // net of all that is IN_CURRENT_BALANCE: claw-backs lower it
	Transferred        Money // net of all that was ever paid out, claw-backs that were netted included
	Refunded           Money
	AdvertisingRevenue Money // gross of advertising that is not REFUNDED
	Bookings           int64 // sales that are not REFUNDED
	Campaigns          int64 // advertising that is not REFUNDED
	Refunds            int64 // entries that are REFUNDED
}

// Add returns f + o.
func (f ReportFigures) Add(o ReportFigures) ReportFigures {
	return ReportFigures{
		Gross:              f.Gross.Add(o.Gross),
		Commission:         f.Commission.Add(o.Commission),
		Net:                f.Net.Add(o.Net),
		VAT:                f.VAT.Add(o.VAT),
		InCurrentBalance:   f.InCurrentBalance.Add(o.InCurrentBalance),
		Transferred:        f.Transferred.Add(o.Transferred),
		Refunded:           f.Refunded.Add(o.Refunded),
		AdvertisingRevenue: f.AdvertisingRevenue.Add(o.AdvertisingRevenue),
		Bookings:           f.Bookings + o.Bookings,
		Campaigns:          f.Campaigns + o.Campaigns,
		Refunds:            f.Refunds + o.Refunds,
	}
}

// RecordSum is what ledger entries of one kind, in one state, add up to. Amounts are in SAR.
type RecordSum struct {
	Kind   RecordKind
	Status BalanceStatus
	Marked bool  // as paid out: the entries have TransferredAt, which stays when they are refunded later
	Lines  int64 // how many they are

	Gross, Commission, Net, VAT, Refunded Money
}

// Figures is what the entries add to a report. A report's figures are those of all its entries, added up.
func (s RecordSum) Figures() ReportFigures {
	f := ReportFigures{Refunded: s.Refunded}

	if s.Status == BalanceInCurrent {
		f.InCurrentBalance = s.Net
	}

	if s.Marked {
		f.Transferred = s.Net
	}

	if s.Status == BalanceRefunded {
		f.Refunds = s.Lines

		return f
	}

	switch s.Kind {
	case RecordSale:
		f.Bookings = s.Lines
	case RecordAdvertising:
		f.Campaigns, f.AdvertisingRevenue = s.Lines, s.Gross
	default: // an entry that takes back is no sale
		return f
	}

	f.Gross, f.Commission, f.Net, f.VAT = s.Gross, s.Commission, s.Net, s.VAT

	return f
}

// RecordTotal is what ledger entries add up to, each as it is. Amounts are in SAR.
type RecordTotal struct {
	Lines int64 // how many they are

	Gross, Commission, Net, VAT, Refunded Money
}

// RecordTotals are what ledger entries add up to by their state; a state without entries may be missing.
type RecordTotals map[BalanceStatus]RecordTotal

// All is what the entries of all states add up to.
func (t RecordTotals) All() RecordTotal {
	var all RecordTotal

	for _, of := range t {
		all.Lines += of.Lines
		all.Gross, all.Commission = all.Gross.Add(of.Gross), all.Commission.Add(of.Commission)
		all.Net, all.VAT, all.Refunded = all.Net.Add(of.Net), all.VAT.Add(of.VAT), all.Refunded.Add(of.Refunded)
	}

	return all
}

// ReportDay is one day in Riyadh of a report.
type ReportDay struct {
	Date Date
	ReportFigures
}

// Report is a summary of a span of days (rules: reports.cards): the cards are the sums of the series.
type Report struct {
	Days   Days
	Cards  ReportFigures
	Series []ReportDay // every day of the span once, in order
}

// NewReport makes a summary of a bounded span. known holds the days on which something happened, in any order; a day outside
// the span does not count.
func NewReport(span Days, known []ReportDay) Report {
	r := Report{Days: span, Series: make([]ReportDay, span.Len())}

	for i := range r.Series {
		r.Series[i].Date = span.From.AddDays(i)
	}

	for _, day := range known {
		if !span.Has(day.Date) {
			continue
		}

		i := span.From.DaysUntil(day.Date)
		r.Series[i].ReportFigures = r.Series[i].Add(day.ReportFigures)
		r.Cards = r.Cards.Add(day.ReportFigures)
	}

	return r
}
