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
	"syscall"
	"time"

	"github.com/google/uuid"
	"github.com/valyala/fasthttp"

	"rihla/e2e/rig"
	"rihla/internal/auth"
	"rihla/internal/config"
	"rihla/internal/devstack"
	"rihla/internal/store"
	"rihla/internal/store/db"
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
		if err := seed.Of(s.store).InsertDemo(ctx, seed.DemoData{Users: users[from:min(from+batch, len(users))]}); err != nil {
			return nil, err
		}
	}

	return all, s.openAll(ctx, all)
}

// What customers who wait have: each a booking of one seat, and an attempt whose checkout is open.
const (
	insertWaited = `INSERT INTO bookings (id, trip_id, provider_id, user_id, seats, hold_until, amount, vat_rate, vat_amount, passengers,
			contact_name, contact_email, contact_phone, hold_method)
		SELECT w.id, t.id, t.provider_id, w.user_id, 1, now() + interval '1 hour', t.price_per_seat, 0.15, 15, '[{"name": "Passenger"}]',
			'Customer', 'customer@rihla.test', '+966500000001', 'credit_card'
		FROM unnest($1::uuid[], $2::uuid[], $3::uuid[]) AS w (id, user_id, trip_id) JOIN trips AS t ON t.id = w.trip_id`
	insertOpen = `INSERT INTO payment_transactions (id, kind, reference, user_id, provider_id, booking_id, amount, vat_rate, vat_amount,
			commission_rate, payment_method, gateway, channel, status, checkout_url, expires_at)
		SELECT w.id, 'PAYMENT', 'chk_' || w.id, b.user_id, b.provider_id, b.id, b.amount, b.vat_rate, b.vat_amount,
			0.1, 'credit_card', 'gateway_a', 'gateway_a', 'PENDING', 'https://gateway.test/checkout?id=' || w.id || '&step=1', b.hold_until
		FROM unnest($1::uuid[], $2::uuid[]) AS w (id, booking_id) JOIN bookings AS b ON b.id = w.booking_id`
	takeSeats = `UPDATE trips AS t SET seats_taken = taken.seats
		FROM (SELECT trip_id, sum(seats) AS seats FROM bookings GROUP BY 1) AS taken WHERE taken.trip_id = t.id`
)

// checkoutPrefix stands before the attempt's id in the gateway's one of these checkouts.
const checkoutPrefix = "chk_"

// openAll writes the bookings and attempts of all at once: tens of thousands through the store would take minutes.
func (s *stage) openAll(ctx context.Context, all []waitingCustomer) error {
	columns := make([][]string, 4) //nolint:mnd // bookings, users, trips, attempts

	for i := range all {
		c := &all[i]
		c.booking, c.channel = models.NewID(), models.ChannelGatewayA
		c.attempt = models.BookingAttemptID(c.booking, 1)

		for column, id := range []uuid.UUID{c.booking, c.user, s.trips[i%len(s.trips)], c.attempt} {
			columns[column] = append(columns[column], id.String())
		}
	}

	for _, write := range []struct {
		sql  string
		args []any
	}{
		{insertWaited, []any{columns[0], columns[1], columns[2]}},
		{insertOpen, []any{columns[3], columns[0]}},
		{takeSeats, nil},
		{"VACUUM ANALYZE", nil},
	} {
		if _, err := s.db.ExecContext(ctx, write.sql, write.args...); err != nil {
			return fmt.Errorf("open checkouts: %w", err)
		}
	}

	return nil
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
	return dialKeptFrom(ctx, nil, address, path, token)
}

// portWhenConnecting has the port chosen when the connection is made, among those that are free for its other end. When the address is
// bound, a port that is free for every other end is looked for, which takes a millisecond once thousands are in use.
func portWhenConnecting(_, _ string, raw syscall.RawConn) error {
	const bindAddressNoPort = 24 // IP_BIND_ADDRESS_NO_PORT of Linux

	var set error

	err := raw.Control(func(fd uintptr) {
		set = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_IP, bindAddressNoPort, 1)
	})

	return errors.Join(err, set)
}

// dialKeptFrom is dialKept from an address of this machine; nil: any.
func dialKeptFrom(ctx context.Context, from net.Addr, address, path, token string) (*keptConn, error) {
	conn, err := (&net.Dialer{LocalAddr: from, Control: portWhenConnecting}).DialContext(ctx, "tcp", address)
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
