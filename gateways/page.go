package gateways

import (
	"io"
	"time"

	"rihla/models"
)

// DataPage is the key of Checkout.PageData under which the page's id is: a random UUID, the last part of Checkout.URL.
const DataPage = "page"

// PageView is what a page of ours shows on which a customer pays, at companies that give only parts of such a page.
type PageView struct {
	Lang       string            // "ar" or "en"; anything else is Arabic
	CheckoutID string            // Checkout.ID
	Checkout   map[string]string // Checkout.PageData
	Status     CheckoutStatus
	Amount     models.Money
	Currency   string
	Method     models.PaymentMethod
	Purchase   models.Purchase
	ExpiresAt  time.Time // shown in Riyadh's time; zero: not shown
	// ReturnURL is where the customer goes afterwards. What the company adds to its query is not to be believed: the service asks about
	// the checkout that it has stored.
	ReturnURL string
	// ReturnsHere says that ReturnURL is this page: no other one was given, and there is nowhere to go back to.
	ReturnsHere bool
	// Checking: the customer has just been here, and what came of it is not known yet. The page looks again by itself.
	Checking bool
	// CheckingSince is when the customer came back: the page looks again with it, and so knows which decline is of that try.
	CheckingSince time.Time
	// Declined is the result code of the last try, which was declined, while another one can be made; empty: none was.
	Declined string
	Nonce    string // of the Content-Security-Policy, new for every answer
}

// Page writes the page and returns its Content-Security-Policy. The answer also needs Cache-Control: no-store and Referrer-Policy:
// no-referrer. Error: data that must not get into a page; then nothing has been written.
type Page func(w io.Writer, v PageView) (policy string, err error)
