package models

import "time"

// ResendKind is a message about a booking that staff have sent again.
type ResendKind string

// The messages that can be sent again.
const (
	ResendConfirmation ResendKind = "CONFIRMATION"
	ResendRefund       ResendKind = "REFUND"
	ResendTicket       ResendKind = "TICKET" // a confirmation that says it is about the ticket, to which its mail leads
)

// The limits of sending one message about a booking again (rules: notifications.resend). The database holds the first, too.
const (
	Resendings     = 5
	ResendingPause = 5 * time.Minute
)
