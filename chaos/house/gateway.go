package house

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"time"

	"rihla/chaos/schedule"
	"rihla/gateways/sandbox/server"
	"rihla/internal/config"
	"rihla/models"
)

const apiKey = "chaos-gateway-api-key"

// Gateway is the sandbox gateway. The service reaches it through a door that can be shut; customers and the harness are
// on its other side.
type Gateway struct {
	server *server.Server
	front  *http.Server
	door   *door
	log    *os.File

	refusals refusals
}

func newGateway(ctx context.Context, bell, logFile string, m *moments) (*Gateway, error) {
	if err := os.MkdirAll(filepath.Dir(logFile), 0o700); err != nil {
		return nil, err
	}

	file, err := os.Create(logFile) //nolint:gosec // a fixed name in the house's directory
	if err != nil {
		return nil, err
	}

	merchant := server.Merchant{Name: "rihla", APIKey: apiKey, Channels: map[models.PaymentMethod]server.Channel{}}

	for _, method := range []models.PaymentMethod{
		models.MethodCreditCard, models.MethodDebitNetwork, models.MethodWalletA, models.MethodWalletB, models.MethodBillPayment,
	} {
		merchant.Channels[method] = server.Channel{
			WebhookURL: bell + "/api/v1/payments/" + method.Channel().Path(),
			Secret:     config.DevWebhookSecret(method.Channel()).Reveal(),
		}
	}

	s, err := server.New(server.Config{
		Merchants: []server.Merchant{merchant}, NoSync: true,
		Logger: slog.New(slog.NewTextHandler(file, &slog.HandlerOptions{Level: slog.LevelDebug})),
		// Quicker than in life: a schedule is over in seconds.
		RetryBackoff: func(n int) time.Duration { return min(100*time.Millisecond<<min(n, 10), time.Second) },
	})
	if err != nil {
		return nil, err
	}

	g := &Gateway{server: s, log: file}
	g.front = &http.Server{
		Handler: m.around(g.refusals.around(s.Handler())), ReadHeaderTimeout: 10 * time.Second,
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug),
	}

	if g.door, err = openDoor(ctx); err != nil {
		return nil, err
	}

	go func() { _ = g.front.Serve(g.door) }()

	return g, nil
}

// URL is where the service reaches it.
func (g *Gateway) URL() string { return "http://" + g.door.Addr().String() }

// Cut breaks every connection from the service and lets no new one in, until open is called. That tells how many it has hit.
func (g *Gateway) Cut() (open func() int) { return g.door.shut() }

// Slow holds up everything that the gateway answers, until end is called. That tells how many answers it has hit.
func (g *Gateway) Slow(by time.Duration) (end func() int) { return g.door.slow(by) }

// Misbehave injects a fault.
func (g *Gateway) Misbehave(f *schedule.GatewayFault) error {
	return g.call(http.MethodPost, "/sandbox/faults", f, http.StatusCreated, nil)
}

// Behave takes back the faults of operations, all of them without any, and tells how many of each were still waiting for a call to
// hit.
func (g *Gateway) Behave(operations ...string) (left map[string]int, err error) {
	if len(operations) == 0 {
		operations = []string{"create_checkout", "cancel", "status", "webhook", "refund"}
	}

	var waiting struct {
		Data []schedule.GatewayFault `json:"data"`
	}

	if err := g.call(http.MethodGet, "/sandbox/faults", nil, http.StatusOK, &waiting); err != nil {
		return nil, err
	}

	left = map[string]int{}
	for _, f := range waiting.Data {
		if slices.Contains(operations, f.Operation) {
			left[f.Operation+" "+f.Mode] += f.Times
		}
	}

	for _, operation := range operations {
		if err := g.call(http.MethodDelete, "/sandbox/faults?operation="+operation, nil, http.StatusNoContent, nil); err != nil {
			return left, err
		}
	}

	return left, nil
}

// Press is what a customer does on the gateway's page: outcome is succeed, decline or cancel. It reports whether the
// checkout was still open for it.
func (g *Gateway) Press(checkout, outcome string) (bool, error) {
	status, body := g.do(http.MethodPost, "/pay/"+checkout, map[string]string{"outcome": outcome})
	if status == http.StatusOK || status == http.StatusConflict {
		return status == http.StatusOK, nil
	}

	return false, fmt.Errorf("the gateway's page answered %d %s", status, body)
}

// PayLate takes the money of a checkout that has ended.
func (g *Gateway) PayLate(checkout string) error {
	return g.call(http.MethodPost, "/sandbox/checkouts/"+checkout+"/late-payment", nil, http.StatusOK, nil)
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
}

// Refund is one of the gateway's own rows.
type Refund struct {
	ID                string       `json:"id"`
	CheckoutID        string       `json:"checkout_id"`
	MerchantReference string       `json:"merchant_reference"`
	Amount            models.Money `json:"amount"`
	Status            string       `json:"status"`
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

// Refused are the checkouts and refunds, by their merchant_reference, that the gateway has refused to make.
func (g *Gateway) Refused() []string { return g.refusals.all() }

// Undelivered counts the webhooks that the gateway still wants to deliver.
func (g *Gateway) Undelivered() (int, error) {
	var s struct {
		Pending int `json:"webhooks_pending"`
	}

	err := g.call(http.MethodGet, "/sandbox/stats", nil, http.StatusOK, &s)

	return s.Pending, err
}

func (g *Gateway) call(method, path string, body any, want int, into any) error {
	status, text := g.do(method, path, body)
	if status != want {
		return fmt.Errorf("gateway: %s %s: %d %s", method, path, status, text)
	}

	if into == nil {
		return nil
	}

	return json.Unmarshal(text, into)
}

// do calls the gateway from within: no door is in the way.
func (g *Gateway) do(method, path string, body any) (status int, answer []byte) {
	var text []byte

	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return 0, []byte(err.Error())
		}
	}

	r := httptest.NewRequestWithContext(context.Background(), method, path, bytes.NewReader(text))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")

	w := httptest.NewRecorder()
	g.server.Handler().ServeHTTP(w, r)

	return w.Code, w.Body.Bytes()
}

func (g *Gateway) close(ctx context.Context) error {
	g.door.shut()
	_ = g.front.Close()
	err := g.server.Close(ctx)
	_ = g.log.Close()

	return err
}
