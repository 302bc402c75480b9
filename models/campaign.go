package models

import "time"

// CampaignStatusOnPayment is SCHEDULED while the start lies after today in Riyadh, else ACTIVE (contract §4).
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

// NextCampaignChange is the moment at which the dates change the campaign's state: the first day's start, then the
// end of the last day, in Riyadh. The zero time: never.
func NextCampaignChange(c *AdCampaign) time.Time {
	switch c.Status {
	case CampaignScheduled:
		return c.StartsOn.Start()
	case CampaignActive, CampaignPaused:
		return c.EndsOn.AddDays(1).Start()
	default:
		return time.Time{}
	}
}
