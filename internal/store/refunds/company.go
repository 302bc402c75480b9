package refunds

import (
	"context"

	"rihla/internal/store/outbox"
	"rihla/models"
)

// tellCompany mails the company about a refund that succeeded.
func (st *refundSettlement) tellCompany(ctx context.Context, b *models.Booking, trip *models.Trip, added *models.PaymentTransaction) error {
	n, err := outbox.TellCompany(ctx, st.tx, st.t.ProviderID, func() ([]outbox.CompanyNews, error) {
		return st.companyNews(b, trip, added), nil
	}, models.CompanyCancelled, models.CompanyRefunded, models.CompanyClawback)
	st.queued += n

	return err
}

// companyNews are the messages to the company about a refund: that, the booking that fell with it, and what it owes for it.
func (st *refundSettlement) companyNews(b *models.Booking, trip *models.Trip, added *models.PaymentTransaction) []outbox.CompanyNews {
	about := func(m models.CompanyMessage, amount models.Money) outbox.CompanyNews {
		data := outbox.CompanyData(b, trip, b.Seats)
		data["amount"], data["currency"] = amount.String(), st.r.Currency

		return outbox.CompanyNews{Message: m, Transaction: added.ID, Data: data}
	}

	all := []outbox.CompanyNews{about(models.CompanyRefunded, st.r.Amount)}

	if st.done.booking != st.done.bookingWas {
		cancelled := about(models.CompanyCancelled, st.r.Amount)
		delete(cancelled.Data, "amount")

		all = append(all, cancelled)
	}

	if clawback := st.done.split.Clawback; clawback != nil {
		all = append(all, about(models.CompanyClawback, clawback.NetAmount.Neg()))
	}

	return all
}
