//go:build !production

package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"rihla/gateways/drivers"
	"rihla/gateways/simulator"
	"rihla/internal/config"
	"rihla/internal/telemetry"
	"rihla/models"
)

func newDemo() *cobra.Command {
	var (
		exit    bool
		gateway string
	)

	demo := &cobra.Command{
		Use:   "demo",
		Short: "Start everything and tell the story of one booking, from the seat to the refund and the export",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := loadConfig(config.Config.RequireDevelopment)
			if err != nil {
				return err
			}

			if gateway != "" {
				if _, err := simulator.Of(gateway); err != nil {
					return fmt.Errorf("--gateway: %w; one of: %s", err, strings.Join(drivers.Names(), ", "))
				}

				cfg.Gateways.A.Driver = gateway
			}

			// The log shows the progress of building and starting: the first time it takes minutes.
			progress := telemetry.NewLogger(cmd.ErrOrStderr(), cfg.App)

			// The story is what is read here; the log keeps to what is wrong, unless more is asked for.
			if os.Getenv("LOG_LEVEL") == "" {
				cfg.App.LogLevel = slog.LevelWarn
			}

			slog.SetDefault(telemetry.NewLogger(cmd.ErrOrStderr(), cfg.App))

			return runDemo(cmd.Context(), cfg, progress, cmd.OutOrStdout(), exit)
		},
	}
	demo.Flags().StringVar(&gateway, "gateway", "", "tell it with the simulator of this company: "+strings.Join(drivers.Names(), ", "))
	demo.Flags().BoolVar(&exit, "exit", false, "end after the story instead of serving until Ctrl-C")

	return demo
}

func runDemo(ctx context.Context, cfg config.Config, progress *slog.Logger, out io.Writer, exit bool) error {
	fmt.Fprintln(out, "Starting PostgreSQL, Temporal, the sandbox gateway, a worker and the API …")

	began := time.Now()

	h, err := startDevEnv(ctx, cfg, progress, demoLines)
	if err != nil {
		return err
	}

	fmt.Fprintf(out, "Everything runs after %.1f s.\n\n", time.Since(began).Seconds())

	if err := newStory(h, out).tell(ctx); err != nil {
		h.errs = append(h.errs, fmt.Errorf("demo stopped early: %w", err))
		exit = true
	}

	if !exit {
		h.printLinks(out)
		h.wait(ctx)
	}

	return h.close()
}

// story is the demo: it talks to the running service over HTTP, as an app, a customer and finance staff would.
type story struct {
	out      io.Writer
	env      *devEnv
	customer caller
	finance  caller
	began    time.Time
	step     int
	start    int // tells the customers of this start from those of others on the same data

	booking struct {
		ID      string       `json:"id"`
		Amount  models.Money `json:"amount"`
		Status  string       `json:"status"`
		Payment payment      `json:"payment"`
	}
}

type payment struct {
	TransactionID uuid.UUID `json:"transaction_id"`
	CheckoutURL   string    `json:"checkout_url"`
	Status        string    `json:"status"`
}

func newStory(h *devEnv, out io.Writer) *story {
	return &story{
		out: out, env: h, start: rand.IntN(1e6), //nolint:gosec // no secret
		customer: newCaller(h.cfg.App.PublicURL), finance: newCaller(h.cfg.App.PublicURL),
	}
}

func (s *story) tell(ctx context.Context) error {
	chapters := []func(context.Context) error{
		s.signIn, s.clear, s.book, s.pay, s.seeConfirmed, s.seeLedger, s.seeNotifications, s.refundPart, s.refundRest, s.export,
	}

	if s.env.cfg.Gateways.A.Driver == drivers.Sandbox { // whose simulator has these faults
		chapters = append(chapters, s.leaveStates)
	}

	for _, chapter := range chapters {
		s.began = time.Now()
		if err := chapter(ctx); err != nil {
			return err
		}
	}

	fmt.Fprintln(s.out)

	return nil
}

// say prints one finished step with its time, and below it what there is to look at.
func (s *story) say(what string, look ...string) {
	s.step++
	fmt.Fprintf(s.out, "%2d. %-86s %6d ms\n", s.step, what, time.Since(s.began).Milliseconds())

	for _, l := range look {
		fmt.Fprintf(s.out, "      %s\n", l)
	}
}

// workflow is the page of a workflow in the Temporal UI.
func (s *story) workflow(id string) string {
	return s.env.stack.TemporalUIURL + "/namespaces/default/workflows/" + url.PathEscape(id)
}

func (s *story) signIn(ctx context.Context) error {
	if err := s.customer.signIn(ctx, "end_user@rihla.test", devPassword); err != nil {
		return err
	}

	if err := s.finance.signIn(ctx, "finance_admin@rihla.test", devPassword); err != nil {
		return err
	}

	s.say("A customer and a member of finance staff sign in")

	return nil
}

// clear cancels what the customer left unpaid at an earlier start: an account may have a few of these at once.
func (s *story) clear(ctx context.Context) error {
	var unpaid struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if err := s.customer.get(ctx, "/api/v1/my/bookings?status=PENDING_PAYMENT", &unpaid); err != nil {
		return err
	}

	for _, b := range unpaid.Data {
		var refused *refusal // one that was paid meanwhile, or is over

		err := s.customer.post(ctx, "/api/v1/bookings/"+b.ID+"/cancel", nil, &struct{}{})
		if err != nil && !errors.As(err, &refused) {
			return err
		}
	}

	return nil
}

// contact is that of a customer, 1 to 99. An address gets only so many messages in a day (MESSAGES_PER_RECIPIENT), and the demo may be
// started more often than that on the same data.
func (s *story) contact(n int) map[string]string {
	return map[string]string{
		"name": fmt.Sprintf("Demo Customer %d", n), "email": fmt.Sprintf("customer%d.%06d@rihla.test", n, s.start),
		"phone": fmt.Sprintf("+9665%06d%02d", s.start, n),
	}
}

func (s *story) book(ctx context.Context) error {
	var trips struct {
		Data []struct {
			ID    string `json:"id"`
			Title string `json:"title"`
		} `json:"data"`
	}
	if err := s.customer.get(ctx, "/api/v1/trips?type=UMRAH", &trips); err != nil {
		return err
	}

	if len(trips.Data) == 0 {
		return errors.New("no trip can be booked")
	}

	err := s.customer.post(ctx, "/api/v1/bookings", map[string]any{
		"trip_id":        trips.Data[0].ID,
		"passengers":     []map[string]string{{"name": "First Passenger"}, {"name": "Second Passenger"}},
		"contact":        s.contact(1),
		"payment_method": "credit_card",
	}, &envelope{&s.booking})
	if err != nil {
		return err
	}

	s.say(fmt.Sprintf("Book 2 seats on %q: %s, %s SAR, checkout open", trips.Data[0].Title, s.booking.Status, s.booking.Amount),
		"checkout  "+s.booking.Payment.CheckoutURL,
		"workflow  "+s.workflow(models.PaymentWorkflowID(s.booking.Payment.TransactionID)))

	return nil
}

func (s *story) pay(ctx context.Context) error {
	if err := s.customer.pay(ctx, s.booking.Payment.CheckoutURL); err != nil {
		return err
	}

	s.say("The customer pays on the gateway's page; its signed webhook is on its way")

	return nil
}

func (s *story) seeConfirmed(ctx context.Context) error {
	var status struct {
		BookingStatus string `json:"booking_status"`
		PaymentStatus string `json:"payment_status"`
		Label         string `json:"ui_label_en"`
	}

	err := s.customer.get(ctx, "/api/v1/bookings/"+s.booking.ID+"/payment-status?wait=20", &envelope{&status})
	if err != nil {
		return err
	}

	if status.PaymentStatus != "PAID" || status.BookingStatus != "CONFIRMED" {
		return fmt.Errorf("the booking is %s and the payment %s", status.BookingStatus, status.PaymentStatus)
	}

	s.say(fmt.Sprintf("The polling app sees payment %s (%s), booking %s", status.PaymentStatus, status.Label, status.BookingStatus))

	return nil
}

type record struct {
	Number     string       `json:"transaction_number"`
	Gross      models.Money `json:"gross_amount"`
	Commission models.Money `json:"platform_commission_amount"`
	Net        models.Money `json:"net_amount"`
	Status     string       `json:"balance_status"`
}

func (s *story) records(ctx context.Context) ([]record, error) {
	var list struct {
		Data []record `json:"data"`
	}

	err := s.finance.get(ctx, "/api/v1/admin/financial-records?sort=created_at&booking_id="+s.booking.ID, &list)

	return list.Data, err
}

func (s *story) seeLedger(ctx context.Context) error {
	lines, err := s.records(ctx)
	if err != nil {
		return err
	}

	if len(lines) != 1 {
		return fmt.Errorf("there are %d ledger entries instead of one", len(lines))
	}

	l := lines[0]
	s.say(fmt.Sprintf("The ledger has its line %s: gross %s = commission %s + net %s", l.Number, l.Gross, l.Commission, l.Net))

	return nil
}

// seeNotifications waits until the customer's mail and SMS have left the outbox.
func (s *story) seeNotifications(ctx context.Context) error {
	dir := filepath.Join(s.env.cfg.App.DataDir, "outbox")

	for _, channel := range []models.NotificationChannel{models.NotifyEmail, models.NotifySMS} {
		id := models.NotificationID(s.booking.Payment.TransactionID, models.NotifyPaymentSucceeded, channel)

		name, err := awaitFile(ctx, dir, id.String())
		if err != nil {
			return err
		}

		s.say("The customer gets the message by "+strings.ToLower(string(channel)), "file      "+name,
			"workflow  "+s.workflow(models.OutboxWorkflowID(s.env.cfg.Temporal.TaskQueue)))
		s.began = time.Now()
	}

	return nil
}

type refund struct {
	ID     uuid.UUID    `json:"id"`
	Amount models.Money `json:"amount"`
	Status string       `json:"status"`
}

func (s *story) refundPart(ctx context.Context) error {
	part := s.booking.Amount.AtRate(models.MustRate("0.25"))

	return s.refund(ctx, map[string]any{"refund_type": "PARTIAL", "amount": part, "reason": "one night less"}, "A quarter goes back")
}

func (s *story) refundRest(ctx context.Context) error {
	return s.refund(ctx, map[string]any{"refund_type": "FULL"}, "All the rest goes back")
}

func (s *story) refund(ctx context.Context, body map[string]any, what string) error {
	var r refund
	if err := s.finance.post(ctx, "/api/v1/admin/bookings/"+s.booking.ID+"/refund", body, &envelope{&r}); err != nil {
		return err
	}

	if r.Status != string(models.RefundSucceeded) {
		return fmt.Errorf("the refund is %s", r.Status)
	}

	var booking struct {
		Status string `json:"status"`
	}
	if err := s.customer.get(ctx, "/api/v1/bookings/"+s.booking.ID, &envelope{&booking}); err != nil {
		return err
	}

	lines, err := s.records(ctx)
	if err != nil {
		return err
	}

	look := []string{"workflow  " + s.workflow(models.RefundWorkflowID(r.ID))}
	for _, l := range lines {
		look = append(look, fmt.Sprintf("ledger    %s %10s = %9s + %10s  %s", l.Number, l.Gross, l.Commission, l.Net, l.Status))
	}

	s.say(fmt.Sprintf("%s: refund %s of %s SAR; the booking is %s", what, r.Status, r.Amount, booking.Status), look...)

	return nil
}

func (s *story) export(ctx context.Context) error {
	name := filepath.Join(s.env.cfg.App.DataDir, "exports", "financial-records.csv")

	size, err := s.finance.download(ctx, "/api/v1/admin/financial-records/export?format=csv", name)
	if err != nil {
		return err
	}

	s.say(fmt.Sprintf("Finance staff export the records: %d bytes of CSV", size), "file      "+name)

	return nil
}
