package e2e_test

import (
	"testing"

	"rihla/e2e/harness"
)

// spine is what the service does, one test per subject. They share a running service, and each has a World of its own.
var spine = map[string]func(*testing.T, *harness.Stack){
	"registration": registration, "login": login, "refresh": refreshRotation, "logout": logout, "me": me,
	"keys": publicKeys, "forged tokens": forgedTokens,
	"new password": newPassword, "removed staff": removedStaff, "user commands": operatorsCommands, "stolen token": stolenToken,
	"idempotency keys": idempotencyKeys, "keys after refusals": keysAfterRefusals,

	"catalogue": catalogue, "booking": booking, "vat of bookings": vatOfBookings, "last seats": lastSeats,
	"booking twice": bookingTwice, "not bookable": notBookable, "whose booking": whoseBooking, "my bookings": myBookings,
	"all bookings": allBookings, "checkout links": checkoutLinks,

	"methods": methodsAndChannels, "return to the app": returnToTheApp, "intent again": intentAgain, "intent replaced": intentReplaced,
	"racing replacements": racingReplacements, "paying while replacing": payingWhileReplacing, "payout and refund": payoutAndRefund,
	"racing registrations": racingRegistrations, "racing plates": racingPlates, "given up": givenUp,

	"intent of others": intentOfOthers, "intent after a decline": intentAfterDecline, "racing intents": racingIntents,
	"racing campaign intents": racingCampaignIntents,

	"campaign": campaignPaid, "campaign intents": campaignIntents, "inactive provider": inactiveProvider, "rates are kept": ratesAreKept,

	"status": statusLabels, "waiting": waiting, "waiting at the end": waitingAtTheEnd,

	"full refund": fullRefund, "partial refunds": partialRefunds, "refund refused": refundRefused, "claw-back": clawback,
	"refund lists": refundLists, "refund by policy": refundByPolicy, "refund quotes": refundQuotes,
	"rescheduled trip": rescheduledTrip,
	"manual payout":    payoutByHand, "payout rejected": payoutRejected, "racing payouts": racingPayouts, "late bill": lateBill,
	"late bill of a paid booking": lateBillOfAPaidBooking,
	"approval":                    approvalOfRefunds, "not approved": refundNotApproved, "approval of a bill": approvalOfABill,
	"approval of parts": approvalOfParts, "racing approvals": racingApprovals,
	"approval races cancel": approvalRacesCancel,

	"record lists": recordLists, "record search": recordSearch, "record pages": recordPages, "mark transferred": markTransferred,
	"transfer reverted": transferReverted,
	"export":            export, "export as a workbook": exportWorkbook, "export given up": exportGivenUp, "audit export": auditExport,
	"bulk transfers": bulkTransfers, "balances": balances,
	"dashboards": dashboards, "dashboard events": dashboardEvents, "dashboard replicas": dashboardReplicas,

	"transactions": transactions, "timeline": timeline, "incidents": incidents, "audit log": auditLog,

	"system": system,
}

func TestSpine(t *testing.T) { //nolint:tparallel // what all of it left behind is looked at afterwards
	t.Parallel()

	// All that can be logged is looked through in the end.
	service := harness.Start(t, harness.Options{Env: map[string]string{"LOG_LEVEL": "DEBUG"}})

	t.Run("does", func(t *testing.T) {
		for name, test := range spine {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				test(t, service.For(t))
			})
		}
	})

	// After everything: what all of it has left behind.
	t.Run("keeps secrets", func(t *testing.T) { keepsSecrets(t, service.For(t)) })
	t.Run("books balance", func(t *testing.T) { booksBalance(t, service) })
	cleanLogs(t, service)
}
