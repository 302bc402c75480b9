package hyperpay

import "regexp"

// Result codes say what has happened, whatever the HTTP status: declines are told with 200 and with 400
// (hyperpay.docs.oppwa.com/node/111).

// outcome is what a result code means.
type outcome string

// The outcomes. Those of the last group are about a call, never about a payment.
const (
	success     outcome = "success"      // the money was taken, or given back
	review      outcome = "review"       // likewise; a person should look at it for fraud
	pending     outcome = "pending"      // undecided, for half an hour at most
	waiting     outcome = "waiting"      // undecided, for days
	chargedBack outcome = "charged back" // the money was taken, and the customer's bank has demanded it back
	uncertain   outcome = "uncertain"    // a connection broke behind the company: done, or not
	rejected    outcome = "rejected"     // no money has moved

	throttled    outcome = "throttled"     // too many calls: nothing was done
	unauthorized outcome = "unauthorized"  // the token or the entity is refused
	noPayment    outcome = "no payment"    // the report has no such transaction
	noSession    outcome = "no session"    // the checkout is over there, paid or not
	busy         outcome = "busy"          // the same is being done, or was sent before
	broken       outcome = "broken system" // an error of the company's own: rejected of a payment in a report, unknown of a call
)

// codes is the table of outcomes. The first line that matches counts: a chargeback begins like a success, and a communication error
// like a review. What matches none is rejected.
var codes = []struct {
	expression *regexp.Regexp
	outcome    outcome
}{
	{regexp.MustCompile(`^000\.100\.2`), chargedBack},
	{regexp.MustCompile(`^(000\.000\.|000\.100\.1|000\.[36]|000\.400\.[1][12]0)`), success},
	{regexp.MustCompile(`^(900\.[1234]00|000\.400\.030)`), uncertain},
	{regexp.MustCompile(`^(000\.400\.0[^3]|000\.400\.100)`), review},
	{regexp.MustCompile(`^000\.200`), pending},
	{regexp.MustCompile(`^(800\.400\.5|100\.400\.500)`), waiting},
	{regexp.MustCompile(`^800\.120\.100`), throttled},
	{regexp.MustCompile(`^800\.900\.30[0-3]`), unauthorized},
	{regexp.MustCompile(`^700\.400\.580`), noPayment},
	{regexp.MustCompile(`^200\.300\.404`), noSession},
	{regexp.MustCompile(`^(800\.110\.100|800\.600\.100)`), busy},
	{regexp.MustCompile(`^(800\.[56]|999\.|600\.1|800\.800\.[84])`), broken},
}

// declines is the table of what customers can do something about (hyperpay.docs.oppwa.com/node/111): by the first line that matches.
var declines = []struct {
	expression *regexp.Regexp
	why        string
}{
	{regexp.MustCompile(`^800\.100\.(154|155|162|163|203)$`), "funds"},
	{regexp.MustCompile(`^(100\.100\.|800\.100\.(151|153|157|172)$)`), "details"},
	{regexp.MustCompile(`^100\.(380|390)\.`), "proof"},
}

// declineOf is the kind of words for a declined try.
func declineOf(code string) string {
	for _, d := range declines {
		if d.expression.MatchString(code) {
			return d.why
		}
	}

	return "any"
}

var (
	// resultCode is how codes are written: ddd.ddd.ddd.
	resultCode = regexp.MustCompile(`^[0-9]{3}\.[0-9]{3}\.[0-9]{3}$`)
	// testCode is the success of a system that takes no money.
	testCode = regexp.MustCompile(`^000\.100\.1`)
	// createdCode is the answer to the creation of a checkout.
	createdCode = regexp.MustCompile(`^000\.200\.1`)
	// reportedCode is the answer of a report that has found something.
	reportedCode = regexp.MustCompile(`^000\.000\.100$`)
)

// outcomeOf reads a result code.
func outcomeOf(code string) outcome {
	for _, c := range codes {
		if c.expression.MatchString(code) {
			return c.outcome
		}
	}

	return rejected
}

// tookMoney reports an outcome after which the money of a payment is ours, or that of a refund is the customer's.
func (o outcome) tookMoney() bool { return o == success || o == review || o == chargedBack }
