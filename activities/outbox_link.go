package activities

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"rihla/internal/auth"
	"rihla/internal/notify"
	"rihla/models"
)

// accountPages are the pages to which mails about accounts lead.
var accountPages = map[models.NotificationKind]string{
	models.NotifyVerifyEmail: "/verify-email", models.NotifyResetPassword: "/reset-password", models.NotifyInvitation: "/invitation",
}

// errNothingToPay refuses a message with the link of a checkout that was paid or has ended since it was queued.
var errNothingToPay = errors.New("there is nothing to pay any more")

// link is that of a message that leads somewhere. That of a checkout is read when the message is handed over; it is in no row of the
// outbox and in no log.
func (o *Outbox) link(ctx context.Context, n *models.Notification) (string, error) {
	switch n.Kind {
	case models.NotifyCheckoutLink:
	case models.NotifyPaymentSucceeded:
		return o.ticketLink(n), nil
	default:
		return o.accountLink(ctx, n)
	}

	address, err := o.Store.Payments.CheckoutLink(ctx, n.TransactionID, o.Now())
	if models.CodeOf(err) == models.CodeNotFound {
		return "", notify.Permanent(errNothingToPay)
	}

	return address, err
}

// ticketLink is the address of the ticket in a confirmation, in the language of the mail.
func (o *Outbox) ticketLink(n *models.Notification) string {
	booking, err := uuid.Parse(n.Data[notify.DataBookingID])
	if err != nil || o.TicketLink == nil || n.Channel != models.NotifyEmail {
		return ""
	}

	return o.TicketLink(booking) + "&lang=" + string(n.Locale)
}

// accountLink is that of a mail which proves that its reader has the address. Its secret is made here, each time the mail is handed
// over, and is in the mail alone: the database has its hash, and no log or history has it. It stands behind the #, which browsers send to
// no server. A mail whose link was used meanwhile is not sent any more.
func (o *Outbox) accountLink(ctx context.Context, n *models.Notification) (string, error) {
	page, ok := accountPages[n.Kind]
	if !ok {
		return "", nil
	}

	id, err := uuid.Parse(n.Data[notify.DataTokenID])
	if err != nil {
		return "", notify.Permanent(errors.New("the mail names no link"))
	}

	secret, hash := auth.NewRefreshToken()

	if err := o.Store.Accounts.IssueToken(ctx, id, hash); err != nil {
		if models.CodeOf(err) == models.CodeNotFound {
			return "", notify.Permanent(err)
		}

		return "", err
	}

	return o.AccountPages + page + "#" + secret, nil
}
