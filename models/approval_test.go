package models_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rihla/models"
)

func TestApprovalNeeded(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		above, alone, amount string
		needs                bool
	}{
		"at the limit":                {"5000.00", "0.00", "5000.00", false},
		"over it":                     {"5000.00", "0.00", "5000.01", true},
		"in parts at the limit":       {"5000.00", "4000.00", "1000.00", false},
		"in parts over it":            {"5000.00", "4000.00", "1000.01", true},
		"a little after all of it":    {"5000.00", "5000.00", "0.01", true},
		"without a limit":             {"0.00", "100000.00", "100000.00", false},
		"more than a lowered one was": {"10.00", "5000.00", "0.01", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			rules := models.ApprovalRules{Above: models.MustMoney(c.above), Wait: time.Hour}
			require.Equal(t, c.needs, rules.Needs(models.MustMoney(c.alone), models.MustMoney(c.amount)))

			now := time.Now()
			r := models.Refund{Amount: models.MustMoney(c.amount), RequestedBy: new(uuid.New())}
			rules.Apply(&r, models.OrderedAlone{OfPayment: models.MustMoney(c.alone)}, now)
			require.Equal(t, c.needs, r.NeedsApproval())
			require.Equal(t, !c.needs, r.IsApproved())
			require.Equal(t, c.above == "0.00", r.ApprovalAbove == nil)
			require.Equal(t, c.needs, r.ApprovalTimeIsOver(now.Add(time.Hour)))
			require.False(t, r.ApprovalTimeIsOver(now.Add(time.Hour-1)))

			own := models.Refund{Amount: models.MustMoney(c.amount)} // of the service itself
			rules.Apply(&own, models.OrderedAlone{OfPayment: models.MustMoney(c.alone)}, now)
			require.Equal(t, models.Refund{Amount: own.Amount}, own)
		})
	}
}

// What one person orders over all payments needs an approval above the limit of the day, whatever single payments allow.
func TestApprovalNeededByPerson(t *testing.T) {
	t.Parallel()

	rules := models.ApprovalRules{Above: models.MustMoney("5000.00"), AlonePerDay: models.MustMoney("20000.00"), Wait: time.Hour}

	for name, c := range map[string]struct {
		rules          models.ApprovalRules
		day, amount    string
		currency       string
		cancelled      bool
		needs, counted bool
	}{
		"at the limit":               {rules, "15000.00", "5000.00", "SAR", false, false, true},
		"over it":                    {rules, "15000.01", "5000.00", "SAR", false, true, true},
		"a little after all of it":   {rules, "20000.00", "0.01", "SAR", false, true, true},
		"over that of the payment":   {rules, "0.00", "5000.01", "SAR", false, true, true},
		"of a trip that is no more":  {rules, "20000.00", "5000.00", "SAR", true, false, false},
		"no rate into another money": {rules, "20000.00", "990.00", "USD", false, false, false},
		"no limit of the day":        {models.ApprovalRules{Above: rules.Above, Wait: time.Hour}, "90000.00", "5000.00", "SAR", false, false, false},
		"no limit of the payment":    {models.ApprovalRules{AlonePerDay: rules.AlonePerDay, Wait: time.Hour}, "20000.00", "1.00", "SAR", false, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := models.Refund{Amount: models.MustMoney(c.amount), Currency: c.currency, RequestedBy: new(uuid.New())}
			c.rules.Apply(&r, models.OrderedAlone{OfPerson: models.MustMoney(c.day), TripCancelled: c.cancelled}, time.Now())
			require.Equal(t, c.needs, r.NeedsApproval())
			require.Equal(t, c.counted, r.AloneAbove != nil)
		})
	}
}

func TestNeedsCode(t *testing.T) {
	t.Parallel()

	at, of := models.MustMoney("1000.00"), models.MustMoney
	require.False(t, models.NeedsCode(at, of("1000.00"), "SAR", of("0.00")))
	require.True(t, models.NeedsCode(at, of("1000.01"), "SAR", of("0.00")))
	require.True(t, models.NeedsCode(at, of("0.01"), "SAR", of("1000.00")), "in parts")
	require.True(t, models.NeedsCode(at, of("1.00"), "USD", of("0.00")), "there is no rate")
}

// However an amount is split, at most the limit of it needs no approval.
func TestPartsNeverGetPastTheLimit(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(r *rapid.T) {
		rules := models.ApprovalRules{Above: models.Halalas(rapid.Int64Range(1, 1_000_000).Draw(r, "above"))}

		var alone models.Money

		for range rapid.IntRange(1, 20).Draw(r, "parts") {
			part := models.Halalas(rapid.Int64Range(1, 1_000_000).Draw(r, "part"))
			if !rules.Needs(alone, part) {
				alone = alone.Add(part)
			}
		}

		require.LessOrEqual(r, alone.Cmp(rules.Above), 0)
	})
}

func TestWhoMayDecideAnApproval(t *testing.T) {
	t.Parallel()

	requester, other, third := uuid.New(), uuid.New(), uuid.New()
	now := time.Now()
	until := now.Add(time.Hour)
	needs := models.Refund{RequestedBy: &requester, ApprovalUntil: &until, ApprovalPending: true, Status: models.RefundPending}
	with := func(by *uuid.UUID, d models.ApprovalDecision, note string) models.Refund {
		r := needs
		r.Approval = &models.RefundApproval{Decision: d, DecidedBy: by, Note: note}

		return r
	}

	for name, c := range map[string]struct {
		refund models.Refund
		by     uuid.UUID
		d      models.ApprovalDecision
		note   string
		own    bool
		at     time.Time
		known  bool
		code   models.Code
	}{
		"another user approves":      {needs, other, models.ApprovalApproved, "", false, now, false, ""},
		"the requester approves":     {needs, requester, models.ApprovalApproved, "", false, now, false, models.CodeForbidden},
		"the payee approves":         {needs, other, models.ApprovalApproved, "", true, now, false, models.CodeForbidden},
		"the requester withdraws":    {needs, requester, models.ApprovalRejected, "no", false, now, false, ""},
		"the payee rejects":          {needs, other, models.ApprovalRejected, "no", true, now, false, ""},
		"none is needed":             {models.Refund{RequestedBy: &requester}, other, models.ApprovalApproved, "", false, now, false, models.CodeInvalidState},
		"its time is over":           {needs, other, models.ApprovalApproved, "", false, until, false, models.CodeInvalidState},
		"rejected too late":          {needs, other, models.ApprovalRejected, "no", false, until, false, models.CodeInvalidState},
		"the same again":             {with(&other, models.ApprovalApproved, "ok"), other, models.ApprovalApproved, "ok", false, until, true, ""},
		"the same without the note":  {with(&other, models.ApprovalApproved, "ok"), other, models.ApprovalApproved, "", false, now, true, ""},
		"the same, another note":     {with(&other, models.ApprovalApproved, "ok"), other, models.ApprovalApproved, "no", false, now, false, models.CodeInvalidState},
		"by another user":            {with(&other, models.ApprovalApproved, ""), third, models.ApprovalApproved, "", false, now, false, models.CodeInvalidState},
		"the opposite":               {with(&other, models.ApprovalApproved, ""), other, models.ApprovalRejected, "no", false, now, false, models.CodeInvalidState},
		"after its expiry":           {with(nil, models.ApprovalExpired, ""), other, models.ApprovalApproved, "", false, now, false, models.CodeInvalidState},
		"the requester, once it is":  {with(&other, models.ApprovalApproved, ""), requester, models.ApprovalApproved, "", false, now, false, models.CodeForbidden},
		"rejected for other reasons": {with(&other, models.ApprovalRejected, "no"), other, models.ApprovalRejected, "nay", false, now, false, models.CodeInvalidState},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			known, err := c.refund.MayDecide(&models.RefundApproval{Decision: c.d, DecidedBy: &c.by, Note: c.note}, c.own, c.at)
			require.Equal(t, c.known, known)

			if c.code == "" {
				require.NoError(t, err)
			} else {
				require.Equal(t, c.code, models.CodeOf(err))
			}
		})
	}
}
