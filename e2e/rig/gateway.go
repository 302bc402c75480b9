package rig

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"time"

	"rihla/gateways/drivers"
	"rihla/gateways/simulator"
	"rihla/gateways/simulator/engine"
	"rihla/internal/config"
	"rihla/models"
)

// Gateway is the simulator of a company, the sandbox as a rule, with one merchant, the service. It runs in this process, so that it
// outlives API and worker.
// Its methods call it from within, past whatever stands between it and the service.
type Gateway struct{ *engine.Server }

// MerchantName is ours at the simulator.
const MerchantName = "rihla"

// NewGateway makes the simulator of a driver, which sends its webhooks to an address of the API and logs at DEBUG.
func NewGateway(driver, webhooks string, log io.Writer) (*Gateway, error) {
	return newGateway(driver, webhooks, log, APIKey, routes(driver).Channel)
}

// NewBackup makes the gateway of gateway_a's backup account.
func NewBackup(webhooks string, log io.Writer) (*Gateway, error) {
	return newGateway(drivers.Sandbox, webhooks, log, backupKey, func(models.PaymentMethod) models.Channel {
		return models.ChannelGatewayABackup
	})
}

// routes are those of a service all of whose gateways have the driver.
func routes(driver string) models.Routes {
	one := driver != drivers.Sandbox

	return models.Routes{OneChannel: map[models.Gateway]bool{models.GatewayA: one, models.GatewayWalletB: one}}
}

func newGateway(driver, webhooks string, log io.Writer, key string, channelOf func(models.PaymentMethod) models.Channel) (*Gateway, error) {
	d, err := simulator.Of(driver)
	if err != nil {
		return nil, err
	}

	merchant := engine.Merchant{Name: MerchantName, APIKey: d.Key(key), Channels: map[models.PaymentMethod]engine.Channel{}}

	for _, method := range models.PaymentMethods() {
		channel := channelOf(method)
		merchant.Channels[method] = engine.Channel{
			WebhookURL: webhooks + "/api/v1/payments/" + channel.Path(), Secret: d.Secret(config.DevWebhookSecret(channel).Reveal()),
		}
	}

	s, err := d.New(engine.Config{
		Merchants: []engine.Merchant{merchant}, NoSync: true,
		Logger: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		// Quicker than in life, so that a restarted API does not wait for the gateway.
		RetryBackoff: func(n int) time.Duration { return min(100*time.Millisecond<<min(n, 10), time.Second) },
	})

	return &Gateway{s}, err
}

// GatewaySettings tell the service of which driver its gateways are, and where.
func GatewaySettings(driver, url string) map[string]string {
	d, err := simulator.Of(driver)
	if err != nil {
		return nil // the gateway could not be made either
	}

	env := map[string]string{}

	for _, account := range []models.MerchantAccount{models.AccountGatewayA, models.AccountWalletB} {
		name := strings.ToUpper(string(account))
		env[name+"_DRIVER"], env[name+"_URL"], env[name+"_API_KEY"] = driver, url, d.Key(APIKey)

		if d.Entities != nil {
			env[name+"_ENTITY_IDS"] = entityIDs(d.Entities(MerchantName))
		}
	}

	for _, channel := range models.Channels() {
		env["WEBHOOK_SECRETS_"+strings.ToUpper(string(channel))] = d.Secret(config.DevWebhookSecret(channel).Reveal())
	}

	return env
}

// entityIDs are those of the company, in the form of the configuration.
func entityIDs(of map[models.PaymentMethod]string) string {
	pairs := make([]string, 0, len(of))
	for method, id := range of {
		pairs = append(pairs, string(method)+"="+id)
	}

	slices.Sort(pairs)

	return strings.Join(pairs, ",")
}

// backupKey is the key of the backup account: another one than the first's.
const backupKey = APIKey + "-backup"

// BackupSettings tell the service where the backup account of gateway_a is.
func BackupSettings(url string) map[string]string {
	return map[string]string{
		"GATEWAY_A_BACKUP_DRIVER": "sandbox", "GATEWAY_A_BACKUP_URL": url, "GATEWAY_A_BACKUP_API_KEY": backupKey,
		"WEBHOOK_SECRETS_GATEWAY_A_BACKUP": config.DevWebhookSecret(models.ChannelGatewayABackup).Reveal(),
	}
}

// Press is what a customer does on the gateway's page: outcome is succeed, decline or cancel. It reports whether the
// checkout was still open for it.
func (g *Gateway) Press(checkout, outcome string) (bool, error) {
	a := g.do(http.MethodPost, "/pay/"+checkout, map[string]string{"outcome": outcome})
	if a.Status == http.StatusOK || a.Status == http.StatusConflict {
		return a.Status == http.StatusOK, nil
	}

	return false, fmt.Errorf("the gateway's page answered %d %s", a.Status, a.Body)
}

// PayLate takes the money of a checkout that has ended.
func (g *Gateway) PayLate(checkout string) error {
	return g.call(http.MethodPost, "/sandbox/checkouts/"+checkout+"/late-payment", nil, http.StatusOK, nil)
}

// PayAgain takes the money of a paid checkout once more.
func (g *Gateway) PayAgain(checkout string) error {
	return g.call(http.MethodPost, "/sandbox/checkouts/"+checkout+"/pay-again", nil, http.StatusOK, nil)
}

// Dispute has a customer's bank dispute a paid checkout.
func (g *Gateway) Dispute(checkout string) error {
	return g.call(http.MethodPost, "/sandbox/checkouts/"+checkout+"/dispute", nil, http.StatusOK, nil)
}

// EndDispute has the bank decide a dispute for the merchant (won) or against it (lost).
func (g *Gateway) EndDispute(checkout, outcome string) error {
	return g.call(http.MethodPost, "/sandbox/checkouts/"+checkout+"/dispute?outcome="+outcome, nil, http.StatusOK, nil)
}

// RefundInDashboard gives money of a paid checkout back as a person does in the company's own dashboard.
// ErrNothingLeft: so much is not left of the payment.
func (g *Gateway) RefundInDashboard(checkout string, amount models.Money) error {
	err := g.call(http.MethodPost, "/sandbox/checkouts/"+checkout+"/refund", map[string]models.Money{"amount": amount}, http.StatusOK, nil)
	if err != nil && strings.Contains(err.Error(), `"`+string(engine.RefusedExceeds)+`"`) {
		return errors.Join(ErrNothingLeft, err)
	}

	return err
}

// ErrNothingLeft is RefundInDashboard's.
var ErrNothingLeft = errors.New("so much is not left of the payment")

// Decide decides a refund that the gateway holds, by the gateway's id; outcome is succeed or fail. Where the company may take a refund
// back, fail does so with one that has succeeded.
func (g *Gateway) Decide(refund, outcome string) error {
	return g.call(http.MethodPost, "/sandbox/refunds/"+refund+"/decide", map[string]string{"outcome": outcome}, http.StatusOK, nil)
}

// Misbehave injects a fault, a body of POST /sandbox/faults.
func (g *Gateway) Misbehave(fault any) error {
	return g.call(http.MethodPost, "/sandbox/faults", fault, http.StatusCreated, nil)
}

// Faults are those that still wait for a call to hit, as a list of the bodies that Misbehave was given.
func (g *Gateway) Faults(into any) error {
	return g.call(http.MethodGet, "/sandbox/faults", nil, http.StatusOK, &struct {
		Data any `json:"data"`
	}{into})
}

// Behave takes the faults of an operation back, all of them for "".
func (g *Gateway) Behave(operation string) error {
	path := "/sandbox/faults"
	if operation != "" {
		path += "?operation=" + operation
	}

	return g.call(http.MethodDelete, path, nil, http.StatusNoContent, nil)
}

// Checkout is one of the gateway's own rows.
type Checkout struct {
	ID                string       `json:"id"`
	MerchantReference string       `json:"merchant_reference"`
	Status            string       `json:"status"`
	Amount            models.Money `json:"amount"`
	RefundedAmount    models.Money `json:"refunded_amount"`
	// ClaimedAmount is what the gateway has said that it took, by a fault: more than Amount.
	ClaimedAmount *models.Money `json:"claimed_amount"`
	ExpiresAt     time.Time     `json:"expires_at"`
	PaidAt        *time.Time    `json:"paid_at"`
	SecondDebits  []SecondDebit `json:"second_debits"`
}

// SecondDebit is a payment that took the money of a checkout once more.
type SecondDebit struct {
	ID             string       `json:"id"`
	Amount         models.Money `json:"amount"`
	RefundedAmount models.Money `json:"refunded_amount"`
}

// Refund is one of the gateway's own rows.
type Refund struct {
	ID                string       `json:"id"`
	CheckoutID        string       `json:"checkout_id"`
	MerchantReference string       `json:"merchant_reference"`
	Amount            models.Money `json:"amount"`
	Status            string       `json:"status"`
	Dashboard         bool         `json:"dashboard"` // made by a person there, without an order
}

// Ledger is what the gateway says it has done.
type Ledger struct {
	Checkouts []Checkout `json:"checkouts"`
	Refunds   []Refund   `json:"refunds"`
}

// Ledger asks the gateway for its books.
func (g *Gateway) Ledger() (l Ledger, err error) {
	return l, g.call(http.MethodGet, "/sandbox/ledger", nil, http.StatusOK, &l)
}

// Stats count what the gateway has done since its start.
type Stats struct {
	WebhooksPending   int `json:"webhooks_pending"`
	WebhooksDelivered int `json:"webhooks_delivered"`
	WebhookFailures   int `json:"webhook_failures"` // deliveries that were not answered with 2xx
	WebhooksDropped   int `json:"webhooks_dropped"`
}

// Stats asks the gateway for its counts.
func (g *Gateway) Stats() (s Stats, err error) {
	return s, g.call(http.MethodGet, "/sandbox/stats", nil, http.StatusOK, &s)
}

func (g *Gateway) call(method, path string, body any, want int, into any) error {
	a := g.do(method, path, body)
	if a.Status != want {
		return fmt.Errorf("gateway: %s %s: %d %s", method, path, a.Status, a.Body)
	}

	if into == nil {
		return nil
	}

	return a.Into(into)
}

func (g *Gateway) do(method, path string, body any) Answer {
	var text []byte

	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return Answer{Body: []byte(err.Error())}
		}
	}

	r := httptest.NewRequestWithContext(context.Background(), method, path, bytes.NewReader(text))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")

	w := httptest.NewRecorder()
	g.Handler().ServeHTTP(w, r)

	return Answer{Status: w.Code, Header: w.Header(), Body: w.Body.Bytes()}
}
