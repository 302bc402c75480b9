package main

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"
	"github.com/valyala/fasthttp"

	"rihla/internal/auth"
	"rihla/internal/config"
	"rihla/internal/devstack"
	"rihla/internal/rig"
	"rihla/internal/store"
	"rihla/internal/store/bookings"
	"rihla/internal/store/db"
	"rihla/internal/store/payments"
	"rihla/internal/store/seed"
	"rihla/models"
)

// waitingCustomer has a booking whose payment is open.
type waitingCustomer struct {
	user, booking, attempt uuid.UUID
	channel                models.Channel
	token                  string
}

// The issuer and audience of tokens, those of the service's settings.
const (
	tokenIssuer   = "rihla"
	tokenAudience = "rihla-api"
)

// newReadStage is a stage without Temporal and workers: an API process on a private PostgreSQL that waits for its disk, and as many
// customers who have a booking and an open checkout each.
func newReadStage(ctx context.Context, customers int, env map[string]string) (s *stage, all []waitingCustomer, err error) {
	s = &stage{bench: &bench{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
			s = nil
		}
	}()

	if s.dir, err = os.MkdirTemp("", "rihla-bench"); err != nil {
		return s, nil, err
	}

	nowhere, err := rig.FreeAddress(ctx)
	if err != nil {
		return s, nil, err
	}

	s.stack, err = devstack.Start(ctx, devstack.Options{
		DataDir: s.dir, BinDir: devstack.DefaultDataDir + "/bin", PostgresPort: devstack.AnyPort, TemporalAddress: nowhere,
	})
	if err != nil {
		return s, nil, err
	}

	if s.store, err = store.Open(ctx, s.stack.DatabaseURL, models.DefaultPolicies(), db.Options{MaxConns: idleConns}); err != nil {
		return s, nil, err
	}

	if _, err = s.store.DB.Migrate(ctx); err != nil {
		return s, nil, err
	}

	if err = s.countStatements(ctx); err != nil {
		return s, nil, err
	}

	if all, err = s.openCheckouts(ctx, customers); err != nil {
		return s, nil, err
	}

	settings := rig.Unlimited()
	settings["TMPDIR"] = s.dir
	maps.Copy(settings, env)

	if err = s.startAPI(ctx, settings); err != nil {
		return s, nil, err
	}

	return s, all, s.issueTokens(all)
}

// openCheckouts has each of the customers book a seat and open a checkout.
func (s *stage) openCheckouts(ctx context.Context, customers int) ([]waitingCustomer, error) {
	if err := s.seed(ctx, customers); err != nil {
		return nil, err
	}

	all := make([]waitingCustomer, customers)
	users := make([]models.User, customers)

	for i := range all {
		users[i] = models.User{
			ID: models.NewID(), Name: "Customer", Email: fmt.Sprintf("customer-%d@rihla.test", i), PasswordHash: "none",
			Role: models.RoleEndUser, Locale: models.LocaleArabic,
		}
		all[i].user = users[i].ID
	}

	const batch = 1000
	for from := 0; from < len(users); from += batch {
		if err := s.store.Seed.InsertDemo(ctx, seed.DemoData{Users: users[from:min(from+batch, len(users))]}); err != nil {
			return nil, err
		}
	}

	next := 0
	_, err := closedLoop(ctx, 1, customers, func(ctx context.Context) error {
		c := &all[next]
		trip := s.trips[next%len(s.trips)]
		next++

		return s.openCheckout(ctx, c, trip)
	})

	return all, err
}

func (s *stage) openCheckout(ctx context.Context, c *waitingCustomer, trip uuid.UUID) error {
	b, err := s.store.Bookings.CreateBooking(ctx, bookings.NewBooking{
		UserID: c.user, TripID: trip, Passengers: []models.Passenger{{Name: "Passenger"}},
		ContactName: "Customer", ContactEmail: "customer@rihla.test", ContactPhone: "+966500000001",
		Locale: models.LocaleArabic, Method: models.MethodCreditCard,
	}, time.Now())
	if err != nil {
		return err
	}

	tx, _, err := s.store.Payments.OpenPayment(ctx, models.Attempt{
		BookingID: b.ID, ProviderID: b.ProviderID, Number: 1, UserID: c.user, Method: models.MethodCreditCard,
	}, time.Now)
	if err != nil {
		return err
	}

	c.booking, c.attempt, c.channel = b.ID, tx.ID, tx.Channel

	return s.store.Payments.SaveCheckout(ctx, tx.ID, tx.Channel, payments.OpenedCheckout{
		Reference: "chk_" + tx.ID.String(), URL: "https://gateway.test/checkout?id=" + tx.ID.String() + "&step=1",
	})
}

// startAPI starts an API process and no worker.
func (s *stage) startAPI(ctx context.Context, settings map[string]string) error {
	binary, err := rig.Build(ctx, "rihla-bench")
	if err != nil {
		return err
	}

	address, err := rig.FreeAddress(ctx)
	if err != nil {
		return err
	}

	s.url = "http://" + address

	s.service, err = rig.New(ctx, rig.Options{
		Binary: binary, Dir: s.dir, DatabaseURL: s.stack.DatabaseURL, TemporalAddress: s.stack.TemporalAddress,
		APIs: []string{address}, GatewayLog: io.Discard, Env: settings,
	})
	if err != nil {
		return err
	}

	starting, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()

	return s.service.Start(starting)
}

// keyFile is the signing key of the stage's service.
func (s *stage) keyFile() string { return filepath.Join(s.dir, "keys", "signing.pem") }

// issueTokens signs the customers in, without what a password costs.
func (s *stage) issueTokens(all []waitingCustomer) error {
	keys, err := auth.LoadKeyring(s.keyFile())
	if err != nil {
		return err
	}

	issuer := auth.NewIssuer(keys, config.Tokens{Issuer: tokenIssuer, Audience: tokenAudience, AccessTTL: time.Hour})

	for i := range all {
		all[i].token, _, err = issuer.Issue(auth.Principal{UserID: all[i].user, Role: models.RoleEndUser})
		if err != nil {
			return err
		}
	}

	return nil
}

// keptConn is a client's connection that is kept between requests.
type keptConn struct {
	net.Conn

	request []byte
	in      *bufio.Reader
	answer  fasthttp.Response
}

func dialKept(ctx context.Context, address, path, token string) (*keptConn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}

	const answerSize = 2048 // what is measured is the server's memory

	return &keptConn{
		Conn: conn, in: bufio.NewReaderSize(conn, answerSize),
		request: fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nAccept-Language: ar\r\n"+
			"User-Agent: rihla-app/3.2 (Android 16)\r\nAccept: application/json\r\n\r\n", path, address, token),
	}, nil
}

// get sends the request and reads its answer.
func (c *keptConn) get() error {
	if err := c.send(); err != nil {
		return err
	}

	return c.receive()
}

func (c *keptConn) send() error {
	_, err := c.Write(c.request)

	return err
}

func (c *keptConn) receive() error {
	if err := c.answer.Read(c.in); err != nil {
		return err
	}

	if c.answer.StatusCode() != fasthttp.StatusOK {
		return fmt.Errorf("answered %d %s", c.answer.StatusCode(), c.answer.Body())
	}

	return nil
}

// keepUnheard has every attempt look as if its gateway had been asked just now, for as long as the bench goes on: there is no worker
// that could ask.
func keepUnheard(ctx context.Context, conn *sql.DB) error {
	_, err := conn.ExecContext(ctx, "UPDATE payment_transactions SET asked_at = now() + interval '1 hour'")

	return err
}
