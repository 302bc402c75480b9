package env

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"rihla/chaos/schedule"
	"rihla/e2e/rig"
	"rihla/gateways"
	"rihla/gateways/drivers"
	"rihla/gateways/simulator"
	"rihla/gateways/simulator/engine"
	"rihla/internal/config"
	"rihla/models"
)

// Company is the one behind the environment's gateways: what it can do, how its webhooks are told apart, and how they are made up.
type Company struct {
	Can gateways.Capabilities
	// SignsTime: a message proves when it was sent, so that an old one is refused.
	SignsTime bool
	// Hints: what proves a message does not prove its content, so that one about nothing of ours is no news.
	Hints bool
	// Exact: the company says to the millisecond when it took money; others say the second.
	Exact bool

	name      string
	simulator simulator.Simulator
	verifiers map[models.Channel]gateways.WebhookVerifier
}

// CompanyOf is the company of a driver.
func CompanyOf(driver string) (*Company, error) {
	d, err := drivers.Of(driver)
	if err != nil {
		return nil, err
	}

	c := &Company{
		name: driver, SignsTime: driver == drivers.Sandbox || driver == drivers.Stripe, Exact: driver != drivers.Stripe,
		Hints:     driver == drivers.Moyasar,
		verifiers: map[models.Channel]gateways.WebhookVerifier{},
	}

	if c.simulator, err = simulator.Of(driver); err != nil {
		return nil, err
	}

	var with drivers.Config
	if c.simulator.Entities != nil {
		with.EntityIDs = c.simulator.Entities("")
	}

	c.Can = d.Capabilities(with)

	for _, channel := range models.Channels() {
		if c.verifiers[channel], err = verifierOf(channel, d, c.simulator); err != nil {
			return nil, err
		}
	}

	return c, nil
}

// verifierOf reads what comes on a channel. A backup account is at the sandbox, whatever the first one is.
func verifierOf(channel models.Channel, d drivers.Driver, by simulator.Simulator) (gateways.WebhookVerifier, error) {
	if channel.Account().IsBackup() {
		var err error

		if d, err = drivers.Of(drivers.Sandbox); err != nil {
			return nil, err
		}

		if by, err = simulator.Of(drivers.Sandbox); err != nil {
			return nil, err
		}
	}

	return d.Verifier(drivers.Config{}, strings.Split(by.Secret(config.DevWebhookSecret(channel).Reveal()), ","))
}

// Instead is what a customer pays an amount with who would like to use a method: that, if the company has it for so much, else another
// one.
func (c *Company) Instead(m models.PaymentMethod, amount models.Money) models.PaymentMethod {
	var offered []models.PaymentMethod

	for i, can := range c.Can.Methods {
		if !can.Takes(amount) {
			continue
		}

		if can.Method == m {
			return m
		}

		offered = append(offered, c.Can.Methods[i].Method)
	}

	return offered[len(m)%len(offered)]
}

// Leaves reports whether an open checkout without an attempt does no harm: the company cannot find it, and there is no way to pay it.
func (c *Company) Leaves() bool { return c.Can.Checkouts == gateways.SettledHarmlessly }

// NamesRefunds reports whether refunds have our ids at the company.
func (c *Company) NamesRefunds() bool { return c.Can.Refunds != gateways.SettledBySum }

// id is that under which the service knows a webhook that it has believed; empty for one that it should not have.
func (c *Company) id(path string, header http.Header, body []byte) string {
	channel, ok := channelOf(path)
	if !ok {
		return ""
	}

	event, err := c.verifiers[channel].Verify(header, body, time.Now())
	if err != nil {
		return ""
	}

	return event.ID
}

// channelOf is the channel of a webhook's address.
func channelOf(path string) (models.Channel, bool) {
	for _, channel := range models.Channels() {
		if strings.HasSuffix(path, "/"+channel.Path()) {
			return channel, true
		}
	}

	return "", false
}

// The beginnings of the ids of made-up webhooks, where the company has ids: forged ones must have left nothing behind.
const (
	forgedID  = "evt_forged_"
	unknownID = "evt_unknown_"
)

// Forged is a webhook of a kind that must not be believed: that a payment was made. id is the one under which it would be known; about
// a payment that does not exist it is known under it.
func (e *Environment) Forged(kind schedule.ProbeKind, about Claim) (m engine.Message, id string, err error) {
	secret, at, prefix := e.Company.secret(models.ChannelGatewayA), time.Now(), forgedID

	switch kind {
	case schedule.UnknownPayment:
		prefix = unknownID
	case schedule.ForgedSignature:
		secret = e.Company.simulator.Secret("whsec_" + base64.StdEncoding.EncodeToString([]byte(uuid.NewString()[:32])))
	case schedule.OtherChannel:
		secret = e.Company.secret(models.ChannelWalletB)
	case schedule.StaleSignature:
		at = at.Add(-10 * time.Minute)
	default: // signed as the company does
	}

	m, _, err = e.Gateway.Message(secret, about.event(e.Company), prefix+strings.ReplaceAll(uuid.NewString(), "-", ""), at)
	if err == nil && kind == schedule.Unsigned {
		m, err = unsigned(m)
	}

	id = e.Company.id("/"+models.ChannelGatewayA.Path(), m.Header, m.Body)

	if kind == schedule.UnknownPayment {
		e.mu.Lock()
		defer e.mu.Unlock()

		e.MadeUp = append(e.MadeUp, id)
	}

	return m, id, err
}

func (c *Company) secret(channel models.Channel) string {
	return c.simulator.Secret(config.DevWebhookSecret(channel).Reveal())
}

// newCheckout is an id that the company could have given.
func (c *Company) newCheckout() string {
	switch id := uuid.NewString(); c.name {
	case drivers.Moyasar:
		return id
	case drivers.Stripe:
		return "cs_test_" + strings.ReplaceAll(id, "-", "")
	default:
		return "co_" + id
	}
}

// unsigned takes the proof out of a message: its headers, or what is in its body.
func unsigned(m engine.Message) (engine.Message, error) {
	m.Header = http.Header{"Content-Type": m.Header["Content-Type"]}

	if !json.Valid(m.Body) { // encrypted, and worth nothing without the headers
		return m, nil
	}

	var body map[string]any
	if err := json.Unmarshal(m.Body, &body); err != nil {
		return m, err
	}

	delete(body, "secret_token")

	text, err := json.Marshal(body)
	m.Body = text

	return m, err
}

// Claim is what a forger says was paid.
type Claim struct {
	Transaction uuid.UUID
	Checkout    string // empty: one that there is not
	Amount      models.Money
}

func (c Claim) event(at *Company) engine.Event {
	now := time.Now().UTC()
	row := engine.Checkout{
		ID: cmp.Or(c.Checkout, at.newCheckout()), Merchant: rig.MerchantName, MerchantReference: c.Transaction.String(),
		Status: engine.StatusPaid, Amount: c.Amount, Currency: models.Currency, PaymentMethod: models.MethodCreditCard,
		CreatedAt: now, ExpiresAt: now.Add(time.Hour), PaidAt: &now,
		ResultCode: "APPROVED", Data: map[string]string{},
	}

	if at.simulator.Entities != nil {
		row.Data["entity"] = at.simulator.Entities(row.Merchant)[row.PaymentMethod]
	}

	return engine.Event{Type: models.EventPaymentSucceeded, At: now, Checkout: row}
}
