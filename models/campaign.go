package models

import (
	"time"

	"github.com/shopspring/decimal"
)

// CampaignStatusOnPayment is SCHEDULED while the start lies after today in Riyadh, else ACTIVE (rules: campaigns.dates).
func CampaignStatusOnPayment(startsOn Date, now time.Time) CampaignStatus {
	if startsOn.After(DateIn(now)) {
		return CampaignScheduled
	}

	return CampaignActive
}

// CampaignStatusAt is the state that a campaign's dates ask for at now. Unpaid and ended campaigns stay as they are;
// a paused one only ends.
func CampaignStatusAt(c *AdCampaign, now time.Time) CampaignStatus {
	today := DateIn(now)

	switch {
	case c.Status != CampaignScheduled && c.Status != CampaignActive && c.Status != CampaignPaused:
		return c.Status
	case today.After(c.EndsOn):
		return CampaignEnded
	case c.Status == CampaignScheduled && !c.StartsOn.After(today):
		return CampaignActive
	default:
		return c.Status
	}
}

// NextCampaignChange is the moment at which the dates may change the campaign's state: the first day's start, then the
// end of the last day, in Riyadh. A paused campaign is looked at on its first day, too, for it may be resumed before
// that. The zero time: never.
func NextCampaignChange(c *AdCampaign, now time.Time) time.Time {
	switch starts := c.StartsOn.Start(); {
	case c.Status == CampaignScheduled, c.Status == CampaignPaused && now.Before(starts):
		return starts
	case c.Status == CampaignActive, c.Status == CampaignPaused:
		return c.EndsOn.AddDays(1).Start()
	default:
		return time.Time{}
	}
}

// Pause is the state that a pause at now leads to: PAUSED, of a campaign that runs or is going to, and of one that is
// paused already. Error: INVALID_STATE, also when its last day is over.
func (c *AdCampaign) Pause(now time.Time) (CampaignStatus, error) {
	switch at := CampaignStatusAt(c, now); {
	case c.Status == CampaignPaused:
		return CampaignPaused, nil
	case at == CampaignActive, at == CampaignScheduled:
		return CampaignPaused, nil
	default:
		return "", NewError(CodeInvalidState, "campaign.not_pausable", "status", at)
	}
}

// Resume is the state that the end of a pause at now leads to, which is the one the dates ask for, ENDED included. A
// campaign that is not paused and still runs, or is going to, stays as it is. Error: INVALID_STATE.
func (c *AdCampaign) Resume(now time.Time) (CampaignStatus, error) {
	switch {
	case c.Status == CampaignActive, c.Status == CampaignScheduled:
		return c.Status, nil
	case c.Status != CampaignPaused:
		return "", NewError(CodeInvalidState, "campaign.not_resumable", "status", c.Status)
	case DateIn(now).After(c.EndsOn):
		return CampaignEnded, nil
	default:
		return CampaignStatusOnPayment(c.StartsOn, now), nil
	}
}

// Editable says whether the campaign can still be changed or deleted: only while it is unpaid (rules: campaigns.editable).
// Error: INVALID_STATE.
func (c *AdCampaign) Editable() error {
	if c.Status != CampaignPendingPayment && c.Status != CampaignPaymentFailed {
		return NewError(CodeInvalidState, "campaign.not_changeable", "status", c.Status)
	}

	return nil
}

// Days is how many days the campaign runs, both ends counted.
func (c *AdCampaign) Days() int {
	return int(c.EndsOn.Time().Sub(c.StartsOn.Time())/(24*time.Hour)) + 1
}

// Refundable says whether a refund of the type can be ordered of a campaign that was paid (rules: campaigns.refund): in full only before it
// begins. Error: INVALID_STATE.
func (c *AdCampaign) Refundable(kind RefundType, now time.Time) error {
	if kind == RefundFull && !c.StartsOn.After(DateIn(now)) && c.Status != CampaignCancelled {
		return NewError(CodeInvalidState, "campaign.begun")
	}

	return nil
}

// Unrun is what of a payment for the campaign is for days that it has not run at now, half-up; today counts as run once it has begun
// (rules: trips.cancel-campaigns).
func (c *AdCampaign) Unrun(paid Money, now time.Time) Money {
	from := DateIn(now).AddDays(1)
	if from.Before(c.StartsOn) {
		from = c.StartsOn
	}

	if c.EndsOn.Before(from) {
		return Money{}
	}

	rest := AdCampaign{StartsOn: from, EndsOn: c.EndsOn}

	return Money{d: paid.Times(rest.Days()).d.DivRound(decimal.NewFromInt(int64(c.Days())), moneyScale)}
}

// CheckPrice says whether the campaign costs at least perDay for each of its days; 0.00 is any price. Error: VALIDATION_ERROR on
// price.
func (c *AdCampaign) CheckPrice(perDay Money) error {
	if least := perDay.Times(c.Days()); c.Price.Cmp(least) < 0 {
		return Invalid("price", "campaign.price", "least", least, "days", c.Days(), "per_day", perDay)
	}

	return nil
}

// CheckDates says whether the campaign can run on its dates: it must not begin before today in Riyadh, unless it was
// to begin on that day before, and not end before it begins. Errors: VALIDATION_ERROR on starts_on or ends_on.
func (c *AdCampaign) CheckDates(startedOn Date, now time.Time) error {
	switch {
	case c.StartsOn != startedOn && c.StartsOn.Before(DateIn(now)):
		return Invalid("starts_on", "field.past")
	case c.EndsOn.Before(c.StartsOn):
		return Invalid("ends_on", "campaign.ends_before_start")
	default:
		return nil
	}
}

// Payable says whether the campaign can be paid at now. Error: CAMPAIGN_NOT_PAYABLE.
func (c *AdCampaign) Payable(now time.Time) error {
	if c.Status != CampaignPendingPayment && c.Status != CampaignPaymentFailed {
		return NewError(CodeCampaignNotPayable, "campaign.not_payable", "status", c.Status)
	}

	if DateIn(now).After(c.EndsOn) {
		return NewError(CodeCampaignNotPayable, "campaign.over")
	}

	return nil
}

// Cost is what the payment of the campaign costs: what its attempt has copied, or, as long as there is none, the price with VAT at
// today's rate (rules: prices.vat-rate).
func (c *AdCampaign) Cost(today Rate) (amount, vat Money, rate Rate) {
	if c.Payment != nil {
		return c.Payment.Amount, c.Payment.VATAmount, c.Payment.VATRate
	}

	amount, vat = AddVAT(c.Price, today)

	return amount, vat, today
}
