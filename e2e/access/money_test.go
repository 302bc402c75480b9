package access_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/models"
)

// aboutMoney makes the requests of what gateways tell, and of what the platform keeps.
func (w *world) aboutMoney(t *testing.T, c cell) request {
	t.Helper()

	switch c.operation {
	case "ReceiveGatewayAWebhook":
		return w.event(t, c, models.ChannelGatewayA)
	case "ReceiveWalletAWebhook":
		return w.event(t, c, models.ChannelWalletA)
	case "ReceiveWalletBWebhook":
		return w.event(t, c, models.ChannelWalletB)
	case "ReceiveBillPaymentWebhook":
		return w.event(t, c, models.ChannelBillPayment)

	case "ReturnFromPayment":
		return request{ids: kept(c, w.shared["return"])}
	case "ShowCheckoutPage": // it is paid on the gateway's page
		return request{ids: []string{w.shared["transaction"].String()}}
	case "GetPaymentTransaction":
		return request{ids: kept(c, w.shared["transaction"])}
	case "RefundLatePayment": // of one that came in time: what came too late goes back by itself
		return request{ids: kept(c, w.shared["transaction"]), body: object{"reason": "Asked for again"}}
	case "GetRefund", "PreviewOrderedRefund": // which has ended
		return request{ids: kept(c, w.shared["refund"])}
	case "GetIncident", "ListIncidentNotes":
		return request{ids: kept(c, w.shared["incident"])}
	case "AssignIncident":
		return request{ids: kept(c, w.shared["incident"]), body: object{"assignee_id": nil}}
	case "AddIncidentNote":
		return request{ids: kept(c, w.shared["incident"]), body: object{"note": "Asked the gateway"}}
	case "ResolveIncident":
		id := w.shared["incident"]
		if c.want == http.StatusOK {
			id = w.newIncident(t)
		}

		return request{ids: kept(c, id), body: object{"note": "Looked at"}}
	case "MarkRecordTransferred":
		id := w.shared["record"]
		if c.want == http.StatusOK {
			id = w.newRecord(t)
		}

		return request{ids: kept(c, id), body: object{}}
	case "RevertRecordTransfer":
		id := w.shared["record"]
		if c.want == http.StatusOK {
			id = w.newMarkedRecord(t, c.caller)
		}

		return request{ids: kept(c, id), body: object{"reason": "Marked by mistake"}}
	case "MarkRecordsTransferred":
		id := w.shared["record"]
		if c.want == http.StatusOK {
			id = w.newRecord(t)
		}

		return request{body: object{"ids": []uuid.UUID{id}}}
	case "CorrectBooking":
		return request{ids: w.refund(c).ids, body: object{"contact": object{"name": "Right Name"}}}
	case "ResendBookingMessage": // each is sent once in 5 minutes
		return request{ids: w.refund(c).ids, body: object{"kind": "CONFIRMATION"}}
	case "ListBookingNotes":
		return request{ids: w.refund(c).ids}
	case "AddBookingNote":
		return request{ids: w.refund(c).ids, body: object{"note": "Called about a wheelchair"}}
	case "SendCheckoutLink": // which is sent once in 5 minutes
		return request{ids: w.payable(c)}
	case "ReplaceCompany", "PatchCompany", "InviteCompanyStaff", "RemoveCompanyStaff":
		return w.aboutOwnCompany(t, c)
	case "ExportFinancialRecords", "ExportAuditLogs":
		return request{query: "?format=csv"}
	default:
		return w.aboutRefunds(t, c)
	}
}

// aboutOwnCompany makes the requests by which a company changes itself: what it says stays as it is.
func (w *world) aboutOwnCompany(t *testing.T, c cell) request {
	t.Helper()

	switch c.operation {
	case "InviteCompanyStaff":
		return request{creates: true, body: object{
			"name": "Somebody", "email": mark() + "@rihla.test", "phone": "+966500000009", "role": models.RoleProviderStaff,
		}}
	case "RemoveCompanyStaff":
		ids := w.staff(c)[1:]
		if c.want < http.StatusBadRequest {
			ids[0] = w.newUser(t, c.kind).String()
		}

		return request{ids: ids}
	default:
		own := w.companies[home(c.caller)].World.Provider

		return request{body: object{"name": own.Name, "phone": own.Phone}}
	}
}

// aboutRefunds makes the requests of refunds that are ordered and decided.
func (w *world) aboutRefunds(t *testing.T, c cell) request {
	t.Helper()

	switch c.operation {
	case "RefundBooking":
		return w.refund(c)
	case "RefundAdCampaign": // it is not paid
		return request{ids: kept(c, w.shared["AdCampaign A"]), body: object{"refund_type": models.RefundFull}}
	case "CancelPaidBooking":
		return request{ids: w.refund(c).ids, body: object{"refund": "FULL"}}
	case "ApproveCancellation":
		return request{ids: w.request(t, c), body: object{}}
	case "GetCancellationRequest":
		return request{ids: w.request(t, c)}
	case "RejectCancellation":
		return request{ids: w.request(t, c), body: object{"note": "The trip is tomorrow"}}
	case "GetRefundQuote":
		return request{ids: w.refund(c).ids}
	case "PreviewRefund":
		return request{ids: w.refund(c).ids, query: "?refund_type=FULL"}
	case "ConfirmRefundPayout":
		return request{ids: w.payout(t, c), body: object{"payout_reference": "TRF-1"}}
	case "RejectRefundPayout":
		return request{ids: w.payout(t, c), body: object{"reason": "No account number"}}
	case "ApproveRefund":
		return request{ids: w.approval(t, c), body: object{"note": "Compared with the letter"}}
	case "RejectRefund":
		return request{ids: w.approval(t, c), body: object{"note": "Refunded by another booking"}}
	default:
		return request{}
	}
}

// event is something that the gateway may tell and that means nothing: it is kept and ignored.
func (w *world) event(t *testing.T, c cell, channel models.Channel) request {
	t.Helper()

	body, err := json.Marshal(object{"type": "payment.noted", "timestamp": time.Now().UTC().Format(time.RFC3339), "data": object{}})
	require.NoError(t, err)

	if c.kind == "unsigned" {
		return request{body: body}
	}

	return request{body: body, header: w.Signed(channel, mark(), body)}
}

// payout is a refund that waits for finance staff, with another requester than the caller.
func (w *world) payout(t *testing.T, c cell) []string {
	t.Helper()

	id := w.shared["payout"]
	if c.want == http.StatusOK {
		id = w.newPayout(t, c.caller)
	}

	return kept(c, id)
}

func (w *world) newPayout(t *testing.T, decider string) uuid.UUID {
	t.Helper()

	return w.newWaiting(t, decider, w.callers[stranger].BookBilled(1).ID)
}

// approval is a refund that waits for a second person, with another requester than the caller.
func (w *world) approval(t *testing.T, c cell) []string {
	t.Helper()

	id := w.shared["payout"]
	if c.want == http.StatusOK {
		id = w.newWaiting(t, c.caller, w.dear.BookPaid(1).ID)
	}

	return kept(c, id)
}

// newWaiting is a refund of the booking that waits for people, with another requester than the approver.
func (w *world) newWaiting(t *testing.T, decider string, booking uuid.UUID) uuid.UUID {
	t.Helper()

	asks := "SUPER_ADMIN"
	if decider == asks {
		asks = "ADMIN"
	}

	a := w.callers[asks].Post("/api/v1/admin/bookings/"+booking.String()+"/refund", object{"refund_type": "FULL"})
	require.Equal(t, http.StatusAccepted, a.Status, "%s", a.Body)

	var refund struct {
		ID uuid.UUID `json:"id"`
	}

	require.NoError(t, a.Data(&refund))

	return refund.ID
}

func (w *world) newRecord(t *testing.T) uuid.UUID {
	t.Helper()

	return w.id(t, "SELECT id FROM financial_records WHERE booking_id = $1", w.callers[stranger].BookPaid(1).ID)
}

// newMarkedRecord is an entry that another user than the caller has marked as paid out.
func (w *world) newMarkedRecord(t *testing.T, caller string) uuid.UUID {
	t.Helper()

	marks := "SUPER_ADMIN"
	if caller == marks {
		marks = "ADMIN"
	}

	id := w.newRecord(t)
	a := w.callers[marks].Post("/api/v1/admin/financial-records/"+id.String()+"/mark-transferred", object{})
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)

	return id
}

func (w *world) refund(c cell) request {
	id := w.shared["sale A"]

	switch {
	case c.kind == "unpaid":
		id = w.bookings[stranger]
	case c.kind == "paid" && c.want < http.StatusBadRequest:
		id = w.callers[stranger].BookPaid(1).ID
	}

	return request{ids: kept(c, id), body: object{"refund_type": "FULL"}}
}

// payable is a booking that waits for its payment, or was paid; the link of a checkout is sent once in 5 minutes.
func (w *world) payable(c cell) []string {
	if c.want == http.StatusAccepted {
		return []string{w.callers[stranger].Book(1).ID.String()}
	}

	return w.refund(c).ids
}
